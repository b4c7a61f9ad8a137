"""TIME_COMPRESS: the time at which each event ages, independent of when a tick notices it."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.records import Change, Contribution
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState
from operators.entities.render import published_memories, render
from operators.entities.ticks import clock_of
from operators.timeline.digest import CAPACITY, NAMED, merged, present, with_event
from operators.timeline.timeline import LONGEST
from tests.operators.timeline.diaries import ANN, LIFE, applied, contribution, day, due_time, story, tick, ticked


def whole(state: EntityState) -> set[str]:
    """The events that are separate memories."""
    return set(state.properties["story"][1]["whole"])


def named_events(state: EntityState) -> dict[str, list[str]]:
    """The events that each summary names, by period."""
    return {str(each.properties["period"]): each.properties["events"] for each in published_memories(state, LIFE, "acme", ANN).values()}  # type: ignore[misc]


def test_recent_events_are_whole_and_in_no_summary() -> None:
    state = applied(None, contribution(story("apply", "a", 0), story("apply", "b", 6)))
    state, fired = ticked(state, day(12.9))
    assert (whole(state), named_events(state), fired) == ({"a", "b"}, {}, [])


def test_summaries_say_when_events_with_a_date_happened() -> None:
    changes = [story("apply", "a", 0), _dated("b", 1, "unknown"), _dated("c", 2, "2025-11"), _dated("d", 3, "2026-01-08")]
    state, _ = ticked(applied(None, contribution(*changes)), day(13))
    (summary,) = published_memories(state, LIFE, "acme", ANN).values()
    assert summary.content.partition("): ")[2] == ("a happened; b happened (date unknown); c happened (2025-11); d happened on 2026-01-08")


def test_an_inactive_timeline_is_summarised_once() -> None:
    state = applied(None, contribution(story("apply", "a", 0), story("apply", "b", 6)))
    assert due_time(state) == day(13)
    state, fired = ticked(state, day(13))
    assert named_events(state) == {"2026-W02": ["a", "b"]}
    assert whole(state) == {"a", "b"}
    assert fired == [(day(13), [])]
    assert not apply_contribution(state, tick(day(13)), LIFE).changed


def test_an_active_timeline_waits_until_it_has_waited_longest() -> None:
    contributions = [contribution(story("apply", f"e{number:02d}", number), position=number) for number in range(60)]
    state = applied(None, *contributions[:34])
    assert named_events(state) == {}
    state = applied(state, contributions[34], contributions[35])
    assert list(named_events(state)) == ["2026-W02"]
    assert (day(35) - day(6.6)) > timedelta(microseconds=LONGEST)


def test_a_release_advances_the_clock_as_before() -> None:
    late_state = applied(None, contribution(story("apply", "a", 0), story("apply", "b", 6)))
    released = applied(late_state, contribution(_release("a", 45), position=1))
    assert named_events(released) == {"2026-W02": ["a", "b"]}, "it is let go, so it was summarised"
    assert whole(released) == {"b"}
    ticked_first = applied(late_state, tick(day(45)), contribution(_release("a", 45), position=1))
    assert clock_of(released, LIFE) == clock_of(ticked_first, LIFE)
    assert named_events(released) == named_events(ticked_first)


def test_summarised_events_are_dropped_in_time() -> None:
    state = applied(None, contribution(story("apply", "a", 0), story("apply", "b", 6)))
    state, fired = ticked(state, day(60))
    week_end = day(7).replace(hour=0)
    assert (week_end + timedelta(days=30), ["a", "b"]) in fired
    released = applied(state, contribution(_release("a"), _release("b"), position=1))
    assert whole(released) == set()
    assert named_events(released) == {"2026-W02": ["a", "b"]}
    assert not released.empty


def test_a_dropped_event_is_named_once() -> None:
    state = applied(None, contribution(story("apply", "a", 0)))
    _, fired = ticked(state, day(400))
    assert [names for _, names in fired if names] == [["a"]]


def test_a_recalled_event_is_kept_longer() -> None:
    state = applied(None, contribution(story("apply", "a", 0), story("apply", "b", 1)), contribution(_touch("a", 30), position=1))
    state, fired = ticked(state, day(61))
    assert [(time, names) for time, names in fired if names] == [
        (day(7).replace(hour=0) + timedelta(days=30), ["b"]),
        (day(30) + timedelta(days=30), ["a"]),
    ]


def test_weeks_become_a_month_and_months_a_year() -> None:
    state = applied(None, contribution(*(story("apply", f"e{number:02d}", number * 7) for number in range(8))))
    state, _ = ticked(state, day(90))
    assert set(named_events(state)) == {"2026-01", "2026-W06", "2026-W07", "2026-W08", "2026-W09"}
    state, _ = ticked(state, day(1000))
    assert named_events(state) == {"2026": [f"e{number:02d}" for number in range(8)]}


def test_a_summary_names_its_events_and_their_evidence() -> None:
    state = applied(None, contribution(story("apply", "a", 0, importance=0.2), story("apply", "b", 1, importance=0.9)))
    state, _ = ticked(state, day(20))
    (summary,) = published_memories(state, LIFE, "acme", ANN).values()
    assert summary.kind == "summary"
    assert summary.content == "story of ann, week 2026-W02 (2026-01-05 to 2026-01-11): a happened; b happened"
    assert summary.message_ids == ["m-b", "m-a"]
    assert summary.properties["events"] == ["b", "a"]
    assert summary.properties["written_by"] == "extract"
    assert (summary.user, summary.importance, summary.event_time) == (ANN, 0.9, day(1))


def test_a_late_event_joins_the_summary_of_its_week() -> None:
    state, _ = ticked(applied(None, contribution(story("apply", "a", 0))), day(20))
    state = applied(state, contribution(story("apply", "late", 2), position=1))
    assert named_events(state) == {"2026-W02": ["a", "late"]}
    assert whole(state) == {"a", "late"}


def test_a_retracted_event_leaves_its_summary() -> None:
    state, _ = ticked(applied(None, contribution(story("apply", "a", 0), story("apply", "b", 1))), day(20))
    state = applied(state, contribution(story("retract", "a", 0), position=1))
    assert named_events(state) == {"2026-W02": ["b"]}
    state = applied(state, contribution(_release("b"), position=2), contribution(story("retract", "b", 1), position=3))
    assert published_memories(state, LIFE, "acme", ANN) == {}
    assert "story" not in state.properties


def test_a_summary_contains_late_corrections() -> None:
    key: list[Any] = [-500, 1, "a"]
    digest: Any = None
    for text, times in (("It was red.", -1), ("It was blue.", 1), ("It was red.", 1)):
        digest = with_event(digest, key, text, ["m"], times)
    assert present(digest) == [[key, "It was blue.", ["m"], 1]]
    parts: list[Any] = [with_event(None, key, "It was red.", ["m"], -1), with_event(digest, key, "It was red.", ["m"], 1)]
    whole: Any = merged(*parts)
    assert present(whole) == [[key, "It was blue.", ["m"], 1]]


def test_a_corrected_event_is_dropped_completely() -> None:
    digest: Any = None
    for text, times in (("It was red.", -1), ("It was blue.", 1)):
        digest = with_event(digest, [-1, 1, "a"], text, ["m"], times)
    for number in range(CAPACITY):
        digest = with_event(digest, [-2, 1, f"b{number:02d}"], "More.", ["m"], 1)
    digest = with_event(digest, [-1, 1, "a"], "It was red.", ["m"], 1)
    assert ([each[1] for each in digest[0]], digest[1:]) == (["More."] * CAPACITY, [1, [-1, 1, "a"]])


def _important(*, number: int) -> list[Change]:
    """Events of one week, each more important than the one before."""
    return [story("apply", f"e{index:02d}", index / 10, importance=index / 100) for index in range(number)]


def test_a_summary_names_the_most_important_events() -> None:
    number = CAPACITY + 10
    state, _ = ticked(applied(None, contribution(*_important(number=number))), day(20))
    (summary,) = published_memories(state, LIFE, "acme", ANN).values()
    assert summary.properties["events"] == [f"e{index:02d}" for index in range(number - 1, number - 1 - NAMED, -1)]
    assert summary.properties["event_count"] == number


def test_a_retracted_event_makes_room_for_another() -> None:
    events = _important(number=CAPACITY + 10)
    state, _ = ticked(applied(None, contribution(*events)), day(20))
    back = [each.model_copy(update={"op": "retract"}) for each in events[-(CAPACITY - NAMED) :]]
    state = applied(state, contribution(*back, position=1))
    without, _ = ticked(applied(None, contribution(*events[: -len(back)])), day(20))
    assert named_events(state) == named_events(without)


@st.composite
def years(draw: st.DrawFn) -> list[Contribution]:
    """A year of events, some reported late, some retracted."""
    days = sorted(draw(st.lists(st.integers(0, 364), min_size=1, max_size=25)))
    lag = draw(st.lists(st.sampled_from([0, 0, 0, 3, 20, 90]), min_size=len(days), max_size=len(days)))
    changes = [
        story("apply", f"e{number:02d}", max(0, on - late), importance=on % 7 / 7)
        for number, (on, late) in enumerate(zip(days, lag, strict=True))
    ]
    steps = [contribution(each, position=number) for number, each in enumerate(changes)]
    gone = draw(st.lists(st.sampled_from(changes), max_size=5, unique_by=lambda each: each.source_id))
    retractions = [each.model_copy(update={"op": "retract"}) for each in gone]
    return [*steps, *(contribution(each, position=len(steps) + number) for number, each in enumerate(retractions))]


@settings(max_examples=60)
@given(steps=years(), data=st.data())
def test_a_replayed_year_gives_the_same_timelines(steps: list[Contribution], data: Any) -> None:
    """In live processing, timers fire between the events, and late; in a replay all fire after the events."""
    live: EntityState | None = None
    for step in steps:
        live = applied(live, step)
        if data.draw(st.booleans()):
            live, _ = ticked(live, max(each.event_time for each in step.changes) + timedelta(days=data.draw(st.integers(0, 3))))
    assert live is not None
    replayed = applied(None, *steps)
    end = day(5000)
    assert _shown(ticked(live, end)[0]) == _shown(ticked(replayed, end)[0])


@settings(max_examples=60)
@given(steps=years())
def test_every_due_timer_advances_the_time(steps: list[Contribution]) -> None:
    state, fired = ticked(applied(None, *steps), day(5000))
    named = [name for _, names in fired for name in names]
    assert len(named) == len(set(named))
    assert set(named) == (whole(state) if "story" in state.properties else set())
    assert [time for time, _ in fired if time > day(364)] == sorted({time for time, _ in fired if time > day(364)})


@given(steps=years(), random=st.randoms())
def test_order_does_not_matter_once_time_has_passed(steps: list[Contribution], random: Any) -> None:
    kept = [each for each in steps if each.changes[0].op == "apply"]
    shuffled = [each.model_copy(update={"position": number}) for number, each in enumerate(random.sample(kept, len(kept)))]
    end = day(5000)
    assert named_events(ticked(applied(None, *kept), end)[0]) == named_events(ticked(applied(None, *shuffled), end)[0])


@pytest.mark.parametrize("events", [200, 400])
def test_the_state_does_not_grow_with_the_years(events: int) -> None:
    state: EntityState | None = None
    for number in range(events):
        state = applied(state, contribution(story("apply", f"e{number}", number * 3), position=2 * number))
        _, gone = state, [each.id for _, each in apply_contribution(state, tick(day(number * 3)), LIFE).aged]
        if gone:
            state = applied(state, contribution(*map(_release, gone), position=2 * number + 1))
    assert state is not None
    assert len(whole(state)) < 40
    assert len(named_events(state)) < 40


def _release(name: str, on: float = 0) -> Change:
    return story("release", name, on)


def _touch(name: str, on: float) -> Change:
    return story("touch", name, on)


def _shown(state: EntityState) -> tuple[object, ...]:
    """All that anyone sees of it."""
    shown = sorted(each.to_json() for each in published_memories(state, LIFE, "acme", ANN).values())
    return (shown, None if state.empty else render(state, LIFE, "acme", ANN).to_json())


def _dated(name: str, on: float, date: str) -> Change:
    """The change by an event with a date, which the event's text names only if that is a day."""
    change = story("apply", name, on)
    assert isinstance(change.value, dict)
    text = f"{name} happened on {date}." if date.count("-") == 2 else change.value["text"]
    return change.model_copy(update={"value": {**change.value, "text": text, "date": date}})
