"""Whether a window costs the same however long its user's history is."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from evaluation.locomo import AnnotatedWindow
from evaluation.tokens.counting import Counter
from evaluation.tokens.pipelines import one_pass, one_pass_without_eua
from evaluation.tokens.scenes import Director, Entity, Scene
from evaluation.tokens.sums import Sum
from memory.records import Memory
from memory.schema import MemorySchema
from models.embedding.port import Embedder
from operators.patch import MAX_TEXT

GROWTH: Final = (1, 10, 100)

Texts = dict[int, dict[str, str]]
"""The text of each entity's fields, by the identity of the entity."""


async def tokens_by_history(
    windows: Sequence[AnnotatedWindow], schema: MemorySchema, embedder: Embedder, count: Counter
) -> list[dict[str, Any]]:
    """The same windows of one conversation, behind histories that are 1, 10 and 100 times its own.

    What a history leaves is given to the prompt whole: every entity that so many windows grew, with all that they said of it. The prompt
    has to bound it.

    Returns:
        For each growth: the windows in the history, the entities that it left, the mean prompt and completion tokens of a window, and
        the ratios of cost and of tokens to one-pass extraction without EUA, whose merges rewrite the aged entities.
    """
    scenes = [scene async for scene in Director(schema=schema, embedder=embedder).scenes(windows)]
    return [_row(scenes, schema, growth, count) for growth in GROWTH]


def _row(scenes: Sequence[Scene], schema: MemorySchema, growth: int, count: Counter) -> dict[str, Any]:
    texts = _texts_left_by(scenes, growth)
    entities = tuple(_left_by(scenes, growth, texts))
    eua, without = Sum(), Sum()
    for scene in scenes:
        eua.add_calls(one_pass(replace(scene, nearest=entities), schema), count)
        without.add_calls(one_pass_without_eua(_aged(scene, texts), schema), count)
    return {
        "growth": growth,
        "windows_before": len(scenes) * growth,
        "entities": len(entities),
        "prompt_tokens": round(eua.prompt / eua.calls, 1),
        "completion_tokens": round(eua.completion / eua.calls, 1),
        "tokens": round(eua.tokens / eua.calls, 1),
        "eua_to_one_pass": round(eua.tokens / without.tokens, 4),
        "eua_to_one_pass_by_cost": round(eua.cost / without.cost, 4),
    }


def _texts_left_by(scenes: Sequence[Scene], growth: int) -> Texts:
    facts: dict[int, dict[str, list[str]]] = {}
    for change in (change for scene in scenes for change in scene.changes):
        facts.setdefault(id(change.entity), {}).setdefault(change.field, []).extend(change.facts)
    return {entity: {name: " ".join(told * growth) for name, told in fields.items()} for entity, fields in facts.items()}


def _left_by(scenes: Sequence[Scene], growth: int, texts: Texts) -> Iterator[Memory]:
    """The entities after a history so many times as long: those with a key as many times more, each text as many times longer."""
    user = scenes[0].annotated.window.user
    grown = {id(change.entity): change.entity for scene in scenes for change in scene.changes}
    for number, entity in grown.items():
        for copy in range(growth if entity.key else 1):
            key = (*entity.key[:-1], f"{entity.key[-1]} {copy}") if copy else entity.key
            yield Entity(entity.type, key, texts[number]).memory(user)


def _aged(scene: Scene, texts: Texts) -> Scene:
    """The scene with entities as the history left them, no longer than an entity's text may grow."""
    changes = []
    for change in scene.changes:
        aged = {name: text[-MAX_TEXT:] for name, text in texts[id(change.entity)].items()}
        changes.append(replace(change, before=aged, after=aged))
    return replace(scene, changes=tuple(changes))
