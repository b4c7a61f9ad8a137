"""Whether a window costs the same however long its user's history is."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from evaluation.locomo import AnnotatedWindow
from evaluation.tokens.counting import Counter
from evaluation.tokens.pipelines import one_pass
from evaluation.tokens.scenes import Director, Entity, Scene
from memory.records import Memory
from memory.schema import MemorySchema
from models.embedding.port import Embedder

GROWTH: Final = (1, 10, 100)


async def tokens_by_history(
    windows: Sequence[AnnotatedWindow], schema: MemorySchema, embedder: Embedder, count: Counter
) -> list[dict[str, Any]]:
    """The same windows of one conversation, behind histories that are 1, 10 and 100 times its own.

    What a history leaves is given to the prompt whole: every entity that so many windows grew, with all that they said of it. The prompt
    has to bound it.

    Returns:
        For each growth: the windows in the history, the entities that it left, and the mean prompt and completion tokens of a window.
    """
    scenes = [scene async for scene in Director(schema=schema, embedder=embedder).scenes(windows)]
    return [_row(scenes, schema, growth, count) for growth in GROWTH]


def _row(scenes: Sequence[Scene], schema: MemorySchema, growth: int, count: Counter) -> dict[str, Any]:
    entities = tuple(_left_by(scenes, growth))
    calls = [call for scene in scenes for call in one_pass(replace(scene, nearest=entities), schema)]
    prompt = sum(count(call.prefix) + count(call.body) for call in calls)
    completion = sum(count(call.answer) for call in calls)
    return {
        "growth": growth,
        "windows_before": len(scenes) * growth,
        "entities": len(entities),
        "prompt_tokens": round(prompt / len(calls), 1),
        "completion_tokens": round(completion / len(calls), 1),
        "tokens": round((prompt + completion) / len(calls), 1),
    }


def _left_by(scenes: Sequence[Scene], growth: int) -> Iterator[Memory]:
    """The entities after a history so many times as long: those with a key as many times more, each text as many times longer."""
    user = scenes[0].annotated.window.user
    texts: dict[int, dict[str, list[str]]] = {}
    grown: dict[int, Entity] = {}
    for change in (change for scene in scenes for change in scene.changes):
        grown[id(change.entity)] = change.entity
        texts.setdefault(id(change.entity), {}).setdefault(change.field, []).extend(change.facts)
    for number, entity in grown.items():
        whole = {name: " ".join(facts * growth) for name, facts in texts[number].items()}
        for copy in range(growth if entity.key else 1):
            key = (*entity.key[:-1], f"{entity.key[-1]} {copy}") if copy else entity.key
            yield Entity(entity.type, key, whole).memory(user)
