"""What counts as saying the same again."""

from datetime import timedelta

import pytest

from retrieval.recall.repetition import is_newer, repetition_key
from tests.retrieval.memories_made_up import NOON, memory

SAID = "Ann bought a red bicycle for $300."


def same(one: str, other: str) -> bool:
    return repetition_key(memory(one)) == repetition_key(memory(other))


@pytest.mark.parametrize(
    "again", [SAID, "ann bought the red bicycle for $300", "Ann   bought a red bicycle, for $300!", "So Ann bought a red bicycle for $300"]
)
def test_the_same_words_say_the_same(again: str) -> None:
    assert same(SAID, again)


@pytest.mark.parametrize(
    "update",
    [
        "Ann bought a red bicycle for $350.",
        "Ann bought a red bicycle for €300.",
        "Ann bought no red bicycle for $300.",
        "Ann never bought a red bicycle for $300.",
        "Ann sold a red bicycle for $300.",
        "Ann will have bought a red bicycle for $300.",
        "Bob bought a red bicycle for $300.",
        "Ann bought a red bicycle for $300 before May",
        "Ann bought two red bicycle for $300.",
    ],
)
def test_an_update_is_no_repetition(update: str) -> None:
    assert not same(SAID, update)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from Rome to Paris", "from Paris to Rome"),
        ("it was -5 degrees", "it was 5 degrees"),
        ("it takes 1.5 hours", "it takes 15 hours"),
        ("she can swim", "she can't swim"),
        ("with sugar", "without sugar"),
        ("the", "a"),
    ],
)
def test_small_differences_may_be_the_whole_point(one: str, other: str) -> None:
    assert not same(one, other)


@pytest.mark.parametrize("field", ["user", "type", "entity_key"])
def test_the_same_words_of_another_are_no_repetition(field: str) -> None:
    assert repetition_key(memory(SAID, **{field: "one"})) != repetition_key(memory(SAID, **{field: "two"}))


def test_newer_is_by_event_time_then_by_version() -> None:
    old, new = memory(SAID), memory(SAID, event_time=NOON + timedelta(days=1), id="x")
    assert is_newer(new, old)
    assert not is_newer(old, new)
    assert is_newer(memory(SAID, version=2), memory(SAID, version=1))
