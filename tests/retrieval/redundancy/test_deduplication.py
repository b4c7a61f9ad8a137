"""The memories that count as duplicates, and the one that is kept."""

import itertools
import unicodedata
from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.records import Memory
from retrieval.redundancy.deduplication import Deduplication, duplicate_key
from retrieval.redundancy.significant_words import significant_words, telling_characters
from retrieval.request import RecallHit
from tests.stores.factories import NOON, memory

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


def test_words_said_on_two_days_are_two_events() -> None:
    visits = [
        memory("I went to the dentist.", speaker="Ann", search_text=f"Ann ({day} May 2024): Ann went to the dentist.") for day in (2, 2, 9)
    ]
    first, again, later = map(duplicate_key, visits)
    assert first == again != later


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


def deduplicated(*found: tuple[Memory, float], by_day: bool = False) -> list[tuple[str, float]]:
    deduplication = Deduplication(by_day=by_day)
    for each, score in found:
        deduplication.add(hit(each)._replace(score=score))
    return [(kept.memory.id, kept.score) for kept in deduplication.ranked()]


def test_equal_words_of_other_dates_keep_their_scores() -> None:
    older, newer = memory(TEXT, date="2024-05-02"), memory(TEXT, version=2, date="2024-05-05")
    assert deduplicated((older, 0.9), (newer, 0.2)) == [(older.id, 0.9), (newer.id, 0.2)]
    assert deduplicated((newer, 0.2), (older, 0.9)) == [(older.id, 0.9), (newer.id, 0.2)]


def test_a_duplicate_has_the_best_score_of_all() -> None:
    older, newer = memory(TEXT, version=1), memory(TEXT, version=2)
    assert deduplicated((older, 0.9), (newer, 0.2)) == deduplicated((newer, 0.2), (older, 0.9)) == [(newer.id, 0.9)]


def test_equal_words_of_other_days_differ_if_asked() -> None:
    older, newer = memory(TEXT, version=1), memory(TEXT, version=2, event_time=NOON + timedelta(days=3))
    assert deduplicated((older, 0.9), (newer, 0.2)) == [(newer.id, 0.9)]
    assert deduplicated((older, 0.9), (newer, 0.2), by_day=True) == [(older.id, 0.9), (newer.id, 0.2)]


ALIKE = ("Max has big fish", "Max had big fish", "Max hears big fish")
"""Different words of the same telling characters."""


@pytest.mark.parametrize("order", list(itertools.permutations(range(5))))
def test_same_words_are_merged_in_any_order(order: tuple[int, ...]) -> None:
    contents = (*ALIKE, "Max has the big fish", "so Max hears big fish!")
    assert {telling_characters(each) for each in contents} == {b"mxbgf"}
    found = [memory(each, version=number, message_ids=[f"m{number}"]) for number, each in enumerate(contents)]
    deduplication = Deduplication()
    for each in order:
        deduplication.add(hit(found[each]))
    assert {each.memory.content: {*each.evidence} for each in deduplication.ranked()} == {
        contents[1]: {"m1"},
        contents[3]: {"m0", "m3"},
        contents[4]: {"m2", "m4"},
    }
    assert {each: kept.memory.id for each, kept in deduplication.left_out.items()} == {
        found[0].id: found[3].id,
        found[2].id: found[4].id,
    }


PIECES = st.sampled_from(
    [
        "Max",
        "the",
        " ",
        "-",
        "’",
        "'",
        "5",
        "1.5",
        "oh",
        "Ünal",
        "ﬁsh",
        "\u0130",
        "ß",
        "SS",
        "™",
        "_",
        "中文",
        "!",
        "So",
        "💡",
        "—",
        "é",
        "e\u0301",
    ]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=12)


@given(TEXTS, TEXTS)
@example("Max's fish", "the MAX’S, ﬁsh!")
@example("the", "a")
def test_same_words_have_the_same_telling_characters(one: str, other: str) -> None:
    for another in (other, f"The {one}!", one.upper(), unicodedata.normalize("NFD", one), f" so, {one} "):
        if significant_words(one) == significant_words(another):
            assert telling_characters(one) == telling_characters(another)
