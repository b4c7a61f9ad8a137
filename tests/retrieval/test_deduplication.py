"""Which memories are duplicates, and which of them is kept."""

from datetime import timedelta

import pytest

from memory.records import Memory
from retrieval.recall.deduplication import Deduplication, duplicate_key
from retrieval.recall.request import RecallHit
from tests.retrieval.factories import NOON, memory

TEXT = "Ann bought a red bicycle for $300."


def are_duplicates(one: str, other: str) -> bool:
    return duplicate_key(memory(one)) == duplicate_key(memory(other))


@pytest.mark.parametrize(
    "duplicate",
    [TEXT, "ann bought the red bicycle for $300", "Ann   bought a red bicycle, for $300!", "So Ann bought a red bicycle for $300"],
)
def test_the_same_words_are_a_duplicate(duplicate: str) -> None:
    assert are_duplicates(TEXT, duplicate)


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
def test_an_update_is_no_duplicate(update: str) -> None:
    assert not are_duplicates(TEXT, update)


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
def test_a_small_difference_in_meaning_is_no_duplicate(one: str, other: str) -> None:
    assert not are_duplicates(one, other)


@pytest.mark.parametrize("field", ["user", "type", "entity_key"])
def test_the_same_words_about_another_are_no_duplicate(field: str) -> None:
    assert duplicate_key(memory(TEXT, **{field: "one"})) != duplicate_key(memory(TEXT, **{field: "two"}))


def hit(found: Memory) -> RecallHit:
    return RecallHit(memory=found, score=0.5, parts={}, evidence=tuple(found.message_ids), evidence_scores=(0.5,) * len(found.message_ids))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (memory(TEXT, version=2, message_ids=["m1"]), memory(TEXT, event_time=NOON + timedelta(days=1), message_ids=["m2"])),
        (memory(TEXT, version=1, message_ids=["m1"]), memory(TEXT, version=2, message_ids=["m2"])),
    ],
)
def test_the_newest_duplicate_is_kept_with_all_evidence(older: Memory, newer: Memory) -> None:
    for hits in ([hit(older), hit(newer)], [hit(newer), hit(older)]):
        deduplication = Deduplication()
        for each in hits:
            deduplication.add(each)
        [kept] = deduplication.ranked()
        assert kept.memory == newer
        assert kept.evidence == ("m2", "m1")
