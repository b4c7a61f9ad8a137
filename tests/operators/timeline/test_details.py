"""Details of a timeline: the most important summarised events stay separate memories."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.errors import SchemaError
from memory.records import Change
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, from_bytes, to_bytes
from operators.entities.render import published_memories
from operators.entities.ticks import due_of
from tests.operators.timeline.diaries import ANN, contribution, day, diary_schema, story, tick

DETAILS = 2
LIFE = diary_schema(Details=DETAILS).entity_types[0]


class Diary:
    """A timeline that keeps details, with the removals that it asked for."""

    def __init__(self) -> None:
        self.state = EntityState()
        self.asked: list[str] = []
        self._position = 0

    def apply(self, *changes: Change) -> None:
        self._position += 1
        applied = apply_contribution(self.state, contribution(*changes, position=self._position), LIFE)
        assert applied.refused == ()
        self.state = from_bytes(to_bytes(applied.state))

    def age(self, number: float, *, answers: bool = True) -> list[str]:
        """A tick. Returns the events that expire; their removal is applied if ``answers``."""
        applied = apply_contribution(self.state, tick(day(number)), LIFE)
        self.state = applied.state
        gone = [each.id for _, each in applied.aged]
        self.asked += gone
        if gone and answers:
            self.apply(*(story("release", name, number) for name in gone))
        return gone

    @property
    def whole(self) -> set[str]:
        return set(self.state.properties["story"][1]["whole"])

    @property
    def summaries(self) -> dict[str, list[str]]:
        """The events that each summary names, by period."""
        found = published_memories(self.state, LIFE, "acme", ANN).values()
        return {str(each.properties["period"]): each.properties["events"] for each in found}  # type: ignore[misc]


def test_the_most_important_events_stay() -> None:
    diary = Diary()
    diary.apply(*(story("apply", name, 0, importance=importance) for name, importance in (("a", 0.9), ("b", 0.2), ("c", 0.6), ("d", 0.5))))
    assert diary.age(60) == ["b", "d"]
    assert diary.age(400) == []
    assert diary.whole == {"a", "c"}


def test_of_equally_important_events_the_newest_stay() -> None:
    diary = Diary()
    diary.apply(*(story("apply", name, number) for number, name in enumerate("abcd")))
    assert diary.age(400) == ["a", "b"]


def test_events_above_the_limit_keep_their_time() -> None:
    diary = Diary()
    diary.apply(*(story("apply", name, number) for number, name in enumerate("abc")))
    assert diary.age(20) == []
    assert diary.whole == {"a", "b", "c"}


def test_a_later_important_event_replaces_a_detail() -> None:
    diary = Diary()
    diary.apply(story("apply", "a", 0, importance=0.3), story("apply", "b", 1, importance=0.4))
    assert diary.age(100) == []
    diary.apply(story("apply", "late", 2, importance=0.9))
    due = due_of(diary.state, LIFE)
    assert due is not None
    assert due <= day(100).timestamp() * 1_000_000, "a timer fires at once"
    assert diary.age(100) == ["a"]
    assert diary.age(400) == []
    assert diary.whole == {"b", "late"}


def test_a_retracted_detail_leaves_its_place() -> None:
    diary = Diary()
    first, second, third = (story("apply", name, 0, importance=importance) for name, importance in (("a", 0.9), ("b", 0.8), ("c", 0.1)))
    diary.apply(first, second, third)
    diary.apply(first.model_copy(update={"op": "retract", "message_ids": []}))
    assert diary.age(400) == []
    assert diary.whole == {"b", "c"}


def test_an_event_waiting_for_removal_takes_no_place() -> None:
    diary = Diary()
    kept = [story("apply", name, 0, importance=0.9) for name in "ab"]
    diary.apply(*kept, story("apply", "c", 0, importance=0.1))
    assert diary.age(100, answers=False) == ["c"]
    diary.apply(kept[0].model_copy(update={"op": "retract", "message_ids": []}), story("apply", "late", 0, importance=0.0))
    assert diary.age(100, answers=False) == []
    assert diary.whole == {"b", "c", "late"}


def test_no_extract_repeats_events_in_full() -> None:
    diary = Diary()
    diary.apply(story("apply", "a", 0, importance=0.9), story("apply", "b", 1, importance=0.8))
    diary.age(400)
    assert diary.summaries == {}
    diary.apply(story("apply", "c", 0, importance=0.1))
    diary.age(400)
    assert diary.summaries == {"2026-01": ["a", "b", "c"]}
    assert diary.whole == {"a", "b"}


@pytest.mark.parametrize("details", [-1, 301, "many"])
def test_a_schema_names_its_number_of_details(details: object) -> None:
    with pytest.raises(SchemaError, match="Details"):
        diary_schema(Details=details)


EVENTS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 5)), min_size=1, max_size=12)


def _best(events: list[tuple[int, int]]) -> set[str]:
    ranked = sorted(range(len(events)), key=lambda number: (-events[number][1], -events[number][0], f"e{number:02d}"))
    return {f"e{number:02d}" for number in ranked[:DETAILS]}


def _changes(events: list[tuple[int, int]]) -> list[Change]:
    return [story("apply", f"e{number:02d}", on, importance=rank / 5) for number, (on, rank) in enumerate(events)]


@given(events=EVENTS, order=st.randoms(use_true_random=False), touched=st.lists(st.integers(0, 11), max_size=3))
@settings(max_examples=150)
def test_the_best_stay_in_any_order(events: list[tuple[int, int]], order: object, touched: list[int]) -> None:
    """Whatever the order of events and however often time is noticed. A recall gives only its own event more time."""
    changes = _changes(events)
    order.shuffle(changes)  # type: ignore[attr-defined]
    often, once = Diary(), Diary()
    for change in changes:
        often.apply(change)
        once.apply(change)
    for number in touched:
        often.apply(story("touch", f"e{number:02d}", 61))
    for number in range(0, 400, 9):
        often.age(number)
    often.age(400)
    once.age(400)
    assert often.whole == once.whole == _best(events)
    assert sorted(often.asked) == sorted(once.asked) == sorted(set(often.asked))
    for change in changes:
        often.apply(change.model_copy(update={"op": "retract", "message_ids": []}))
    assert often.state.empty
    assert "story" not in often.state.properties


@given(events=EVENTS)
def test_timers_end_although_details_stay(events: list[tuple[int, int]]) -> None:
    diary = Diary()
    diary.apply(*_changes(events))
    for _ in range(100):
        due = due_of(diary.state, LIFE)
        if due is None:
            break
        diary.age((due / 1_000_000 - day(0).timestamp()) / timedelta(days=1).total_seconds())
    assert due_of(diary.state, LIFE) is None
    assert diary.whole == _best(events)
