"""Measures whether a window's cost depends on the length of its user's history."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from evaluation.locomo import AnnotatedWindow
from evaluation.tokens.pipelines import one_pass, one_pass_without_eua
from evaluation.tokens.simulation import AnswerSimulator, SimulatedEntity, SimulatedWindow
from evaluation.tokens.tokenizer import TokenCounter
from evaluation.tokens.usage import TokenUsage
from memory.records import Memory
from memory.schema import MemorySchema
from models.embedding.port import Embedder
from operators.patches.patch_edit import MAX_TEXT

GROWTH: Final = (1, 10, 100)

Texts = dict[int, dict[str, str]]
"""The text of each entity's fields, by the identity of the entity."""


async def tokens_by_history(
    windows: Sequence[AnnotatedWindow], schema: MemorySchema, embedder: Embedder, count: TokenCounter
) -> list[dict[str, Any]]:
    """Measures the windows of one conversation after histories that are 1, 10 and 100 times as long as it.

    The prompt gets the whole history: every entity that so many windows created, with all facts about it. The prompt has to bound it.

    Args:
        windows: The conversation.
        schema: The memory types.
        embedder: Places observations in types and topics.
        count: Counts tokens.

    Returns:
        For each growth: the windows in the history, the entities it created, the mean prompt and completion tokens of a window, and the
        ratios of cost and of tokens to one-pass extraction without EUA, whose merges rewrite the grown entities.
    """
    simulated_windows = [simulated async for simulated in AnswerSimulator(schema=schema, embedder=embedder).simulate(windows)]
    return [_row(simulated_windows, schema, growth, count) for growth in GROWTH]


def _row(simulated_windows: Sequence[SimulatedWindow], schema: MemorySchema, growth: int, count: TokenCounter) -> dict[str, Any]:
    texts = _grown_texts(simulated_windows, growth)
    entities = tuple(_grown_entities(simulated_windows, growth, texts))
    with_eua, without_eua = TokenUsage(), TokenUsage()
    for simulated in simulated_windows:
        with_eua.add_calls(one_pass(replace(simulated, nearest=entities), schema), count)
        without_eua.add_calls(one_pass_without_eua(_with_grown_entities(simulated, texts), schema), count)
    return {
        "growth": growth,
        "windows_before": len(simulated_windows) * growth,
        "entities": len(entities),
        "prompt_tokens": round(with_eua.prompt / with_eua.calls, 1),
        "completion_tokens": round(with_eua.completion / with_eua.calls, 1),
        "tokens": round(with_eua.tokens / with_eua.calls, 1),
        "eua_to_one_pass": round(with_eua.tokens / without_eua.tokens, 4),
        "eua_to_one_pass_by_cost": round(with_eua.cost / without_eua.cost, 4),
    }


def _grown_texts(simulated_windows: Sequence[SimulatedWindow], growth: int) -> Texts:
    facts: dict[int, dict[str, list[str]]] = {}
    for change in (change for simulated in simulated_windows for change in simulated.changes):
        facts.setdefault(id(change.entity), {}).setdefault(change.field, []).extend(change.facts)
    return {entity: {name: " ".join(sentences * growth) for name, sentences in fields.items()} for entity, fields in facts.items()}


def _grown_entities(simulated_windows: Sequence[SimulatedWindow], growth: int, texts: Texts) -> Iterator[Memory]:
    """The entities after the history: ``growth`` times as many of those with a key, and each text ``growth`` times as long."""
    user = simulated_windows[0].annotated.window.user
    grown = {id(change.entity): change.entity for simulated in simulated_windows for change in simulated.changes}
    for number, entity in grown.items():
        for copy in range(growth if entity.key else 1):
            key = (*entity.key[:-1], f"{entity.key[-1]} {copy}") if copy else entity.key
            yield SimulatedEntity(entity.type, key, texts[number]).memory(user)


def _with_grown_entities(simulated: SimulatedWindow, texts: Texts) -> SimulatedWindow:
    """The window with entities as the history left them, within the limit of an entity's text."""
    changes = []
    for change in simulated.changes:
        grown = {name: text[-MAX_TEXT:] for name, text in texts[id(change.entity)].items()}
        changes.append(replace(change, before=grown, after=grown))
    return replace(simulated, changes=tuple(changes))
