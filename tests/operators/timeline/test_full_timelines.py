"""A full timeline refuses nothing: its oldest events move to their summaries, and each can be retracted exactly."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.records import Change
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState
from operators.entities.render import published_memories
from operators.timeline import timeline as timeline_module
from operators.timeline.timeline import MAX_WHOLE
from tests.operators.timeline.diaries import ANN, LIFE, applied, contribution, day, story, tick

ROOM = 3


@pytest.fixture(scope="module")
def little_room() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(timeline_module, "MAX_WHOLE", ROOM)
        yield


def counts(state: EntityState) -> dict[str, int]:
    """The number of events in each summary."""
    found = published_memories(state, LIFE, "acme", ANN).values()
    return {str(each.properties["period"]): int(str(each.properties["event_count"])) for each in found}


def recent(state: EntityState) -> set[str]:
    """The whole events that are in no summary yet."""
    _, inner = state.properties.get("story", [0, {"whole": {}, "through": 0}])
    return {name for name, (time, *_) in inner["whole"].items() if time >= inner["through"]}


def whole(state: EntityState) -> set[str]:
    return set(state.properties.get("story", [0, {"whole": {}}])[1]["whole"])


def taken_back(change: Change) -> Change:
    return change.model_copy(update={"op": "retract", "message_ids": []})


def test_the_oldest_event_leaves_a_full_timeline() -> None:
    changes = [story("apply", f"e{number:03d}", number / 200) for number in range(MAX_WHOLE)]
    state = applied(None, contribution(*changes))
    assert (len(whole(state)), counts(state)) == (MAX_WHOLE, {})
    beyond = apply_contribution(state, contribution(story("apply", "beyond", 2.6), position=1), LIFE)
    assert beyond.refused == ()
    assert whole(state) - whole(beyond.state) == {"e000"}
    assert counts(beyond.state) == {"2026-W02": MAX_WHOLE + 1}, "its week is summarised early"
    back = applied(beyond.state, contribution(taken_back(changes[0]), position=2))
    assert counts(back) == {"2026-W02": MAX_WHOLE}
    assert whole(back) == whole(beyond.state)


@pytest.mark.usefixtures("little_room")
def test_an_event_too_old_for_its_timeline_is_reported() -> None:
    state = applied(None, contribution(*(story("apply", name, 10) for name in "abc")))
    state = applied(state, contribution(story("apply", "late", 1), position=1))
    assert (whole(state), counts(state), recent(state)) == ({"a", "b", "c"}, {"2026-W02": 1}, {"a", "b", "c"})


ACTIONS = st.sampled_from(["apply", "apply", "apply", "retract", "tick", "touch"])
STEPS = st.lists(st.tuples(ACTIONS, st.integers(0, 20), st.sampled_from([0, 0, 1, 9, 40])), max_size=40)


class Diary:
    """A timeline as steps make it, and the events that stand."""

    def __init__(self) -> None:
        self.state = EntityState()
        self.standing: dict[str, Change] = {}
        self._day = 0
        self._position = self._told = 0

    def do(self, action: str, place: int, days: int) -> None:
        """One step: something happens to one of the events, and some days pass."""
        self._day += days
        if action == "tick":
            self._tick()
        elif action == "apply":
            self._told += 1
            each = story("apply", f"e{self._told:02d}", max(0, self._day - place), importance=place / 20)
            self.standing[each.source_id] = each
            self._apply(each)
        elif self.standing:
            name = sorted(self.standing)[place % len(self.standing)]
            self._apply(taken_back(self.standing.pop(name)) if action == "retract" else story("touch", name, self._day))

    def end(self) -> None:
        self._day = 5000
        self._tick()

    def _tick(self) -> None:
        result = apply_contribution(self.state, tick(day(self._day)), LIFE)
        self.state = result.state
        gone = [story("release", each.id, self._day) for _, each in result.aged]
        if gone:
            self._apply(*gone)

    def _apply(self, *changes: Change) -> None:
        self._position += 1
        self.state = applied(self.state, contribution(*changes, position=self._position))


@pytest.mark.usefixtures("little_room")
@settings(max_examples=200)
@given(steps=STEPS)
def test_each_event_counts_once_in_a_full_timeline(steps: list[tuple[str, int, int]]) -> None:
    diary = Diary()
    for step in steps:
        diary.do(*step)
        state = diary.state
        assert len(whole(state)) <= ROOM
        assert sum(counts(state).values()) + len(recent(state)) == len(diary.standing) == state.live
    for number, each in enumerate(diary.standing.values()):
        diary.state = applied(diary.state, contribution(taken_back(each), position=1000 + number))
    assert diary.state.empty
    assert "story" not in diary.state.properties


@settings(max_examples=100)
@given(steps=STEPS)
def test_a_smaller_limit_gives_the_same_final_summaries(steps: list[tuple[str, int, int]]) -> None:
    def shown(room: int) -> list[Any]:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(timeline_module, "MAX_WHOLE", room)
            diary = Diary()
            for step in steps:
                diary.do(*step)
            diary.end()
            return sorted(each.to_json() for each in published_memories(diary.state, LIFE, "acme", ANN).values())

    assert shown(ROOM) == shown(MAX_WHOLE)


@pytest.mark.usefixtures("little_room")
@given(st.permutations(range(9)))
def test_the_newest_events_are_kept_in_any_order(order: list[int]) -> None:
    """Within a few days, so that no time passes in between."""
    events = [story("apply", f"e{number}", number / 2) for number in range(9)]
    state = applied(None, *(contribution(events[each], position=place) for place, each in enumerate(order)))
    assert whole(state) == {"e6", "e7", "e8"}
    assert sum(counts(state).values()) + len(recent(state)) == 9
    last = apply_contribution(state, tick(day(5) + timedelta(days=200)), LIFE)
    assert {each.id for _, each in last.aged} == {"e6", "e7", "e8"}
