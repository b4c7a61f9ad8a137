"""The caches of memories and of their texts have a bound in bytes: a long text counts as many sentences."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.records import Memory
from retrieval.redundancy.significant_words import significant_words
from retrieval.relevance.traits import traits_of, words_in
from stores.points import memory_of

MAY = datetime(2024, 5, 1, tzinfo=UTC)


def memory(number: int, text: str) -> Memory:
    return Memory(
        id=f"m{number}",
        tenant="acme",
        kind="event",
        type="fact",
        user="ann",
        content=f"{number} {text}",
        event_time=MAY,
        recorded_at=MAY,
    )


def read(number: int, text: str) -> object:
    return memory_of(memory(number, text).to_json().decode())


KEPT: dict[str, Callable[[int, str], object]] = {
    "records": read,
    "traits": lambda number, text: traits_of(memory_of(memory(number, text).to_json().decode())),
    "names": lambda number, text: words_in(f"{number} {text}"),
    "words": lambda number, text: significant_words(f"{number} {text}"),
}


SENTENCE = "Ann has bought a red bicycle in Oslo, and rides it to work on dry days."


@pytest.mark.parametrize("name", KEPT)
def test_sentences_are_kept_by_thousands(name: str) -> None:
    texts: list[Any] = [KEPT[name](number, SENTENCE) for number in range(4000)]
    assert KEPT[name](0, SENTENCE) is texts[0]


@pytest.mark.parametrize(("name", "most"), [("records", 15), ("traits", 15), ("names", 15), ("words", 15)])
def test_large_texts_give_way_to_one_another(name: str, most: int) -> None:
    text = "Ann rides on. " * 15_000
    first = KEPT[name](0, text)
    for number in range(most):
        KEPT[name](number + 1, text)
    assert KEPT[name](0, text) is not first
