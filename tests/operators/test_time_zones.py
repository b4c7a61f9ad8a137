"""Days, weeks and months of a user begin by the user's clock."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Change, Contribution, Memory
from memory.schema import parse_schema
from memory.schema.model import EntityType
from memory.times import in_zone
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, from_bytes, to_bytes
from operators.entities.render import published_memories, render
from operators.entities.ticks import due_of
from operators.llm.merge_by_rule import Statement, merge_by_rule
from operators.llm.merged_text import MergedText
from operators.registry import bound_operator

AUCKLAND, HONOLULU = "Pacific/Auckland", "Pacific/Honolulu"
ZONES = (AUCKLAND, HONOLULU, "UTC", "Europe/Oslo", "Asia/Kolkata")


def person(window: dict[str, Any] | None = None) -> EntityType:
    """An entity type with a text, and with a count over a time window, or else with a timeline and a merged text."""
    merged = [
        {
            "PropertyName": name,
            "PropertyValueType": "string",
            "AggregateExpression": {"Op": op, "EventType": "run", "EventPropertyName": "content"},
        }
        for name, op in (("story", "TIME_COMPRESS"), ("summary", "LLM_MERGE"))
    ]
    counted = {"PropertyName": "runs", "PropertyValueType": "int64", "AggregateExpression": {"Op": "COUNT", "EventType": "run"}}
    notes = {"PropertyName": "notes", "PropertyValueType": "string"}
    properties = [counted, notes, *([] if window else merged)]
    types = [{"EntityType": "person", "Keys": ["user"], "Properties": properties, **({"Window": window} if window else {})}]
    return parse_schema({"Name": "runners", "EventTypes": [{"EventType": "run"}], "EntityTypes": types}).entity_types[0]


def local(text: str, zone: str) -> datetime:
    """A time (UTC) with the offset of a zone."""
    return in_zone(datetime.fromisoformat(text).replace(tzinfo=UTC), zone)


def change(name: str, time: datetime, of: str = "runs", value: Any = None, op: str = "apply") -> Change:
    return Change.model_validate({"op": op, "property": of, "source_id": name, "value": value, "event_time": time})


def applied(entity_type: EntityType, *changes: Change, kind: Any = "change", time: datetime | None = None) -> EntityState:
    """The state after changes, each in its own contribution that passed through JSON."""
    state: EntityState | None = None
    for position, each in enumerate(changes):
        made = contribution(each, position=position)
        state = from_bytes(to_bytes(apply_contribution(state, Contribution.from_json(made.to_json()), entity_type).state))
    assert state is not None
    return state


def contribution(*changes: Change, position: int = 0, kind: Any = "change", time: datetime | None = None) -> Contribution:
    return Contribution(
        tenant="acme",
        user="ann",
        entity_type="person",
        entity_key="ann",
        kind=kind,
        source="extractions/0",
        position=position,
        changes=list(changes),
        time=time or changes[0].event_time,
    )


def shown(state: EntityState, entity_type: EntityType) -> Memory:
    return render(state, entity_type, "acme", "ann")


@pytest.mark.parametrize(
    ("unit", "times", "zone", "count"),
    [
        # Monday 08:00 in Auckland is Sunday in UTC; the Sunday before belongs to the last week.
        ("week", ("2024-05-11T10:00", "2024-05-12T20:00"), AUCKLAND, 1),
        ("week", ("2024-05-11T10:00", "2024-05-12T20:00"), "UTC", 2),
        # Sunday evening in Honolulu is Monday in UTC.
        ("week", ("2024-05-12T20:00", "2024-05-13T05:00"), HONOLULU, 2),
        ("day", ("2024-05-11T13:00", "2024-05-11T23:30"), AUCKLAND, 2),
        ("day", ("2024-05-11T13:00", "2024-05-12T11:00"), AUCKLAND, 2),
        ("day", ("2024-05-11T11:00", "2024-05-11T13:00"), AUCKLAND, 1),
        ("month", ("2024-05-31T10:00", "2024-05-31T13:00"), AUCKLAND, 1),
        ("hour", ("2024-05-11T10:10", "2024-05-11T10:40"), "Asia/Kolkata", 1),
    ],
)
def test_a_window_begins_with_the_users_day(unit: str, times: tuple[str, ...], zone: str, count: int) -> None:
    runner = person({"Length": 1, "Unit": unit})
    state = applied(runner, *(change(f"e{number}", local(time, zone)) for number, time in enumerate(times)))
    assert shown(state, runner).properties["runs"] == count


EVENTS = st.lists(st.tuples(st.integers(0, 60), st.sampled_from(ZONES), st.booleans()), min_size=1, max_size=12)


@given(events=EVENTS, order=st.randoms(use_true_random=False), unit=st.sampled_from(["hour", "day", "week", "month"]))
def test_windows_over_zones_depend_on_no_order(events: list[tuple[int, str, bool]], order: Any, unit: str) -> None:
    """A traveller's clock may go back; the window does not."""
    runner = person({"Length": 2, "Unit": unit})
    start = datetime(2024, 3, 20, 9, tzinfo=UTC)
    made = [change(f"e{number}", in_zone(start + timedelta(hours=11 * hours), zone)) for number, (hours, zone, _) in enumerate(events)]
    retracted = [each.model_copy(update={"op": "retract"}) for each, (_, _, is_wrong) in zip(made, events, strict=True) if is_wrong]
    shuffled = list(made)
    order.shuffle(shuffled)
    one, other = applied(runner, *made, *retracted), applied(runner, *shuffled, *retracted)
    assert (one.properties, one.last_time, one.last_local) == (other.properties, other.last_time, other.last_local)
    window = runner.window
    assert window is not None
    buckets = [window.bucket_of(_clock(each)) for each in made]
    valid = [bucket for bucket, (_, _, is_wrong) in zip(buckets, events, strict=True) if not is_wrong and bucket > max(buckets) - 2]
    inner = one.properties.get("runs", ["", {}])[1]
    assert sum(inner.values()) == len(valid)


def _clock(each: Change) -> int:
    """The time on the clock of its user, in microseconds."""
    naive = each.event_time.replace(tzinfo=UTC)
    return (naive - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def run(name: str, time: datetime, op: str = "apply") -> Change:
    value = {"text": f"{name}.", "importance": 0.5, "message_ids": [name], "user": "ann", "window_id": f"w-{name}"}
    return change(name, time, "story", value, op)


def test_a_timeline_has_the_users_weeks() -> None:
    runner = person()
    # Monday 08:00 and the Sunday evening six days later, in Auckland.
    monday, sunday = local("2024-05-12T20:00", AUCKLAND), local("2024-05-19T09:00", AUCKLAND)
    state = applied(runner, run("monday", monday), run("sunday", sunday))
    due = due_of(state, runner)
    assert due == _microseconds(sunday + timedelta(days=7)), "seven quiet days after the last event"
    state = apply_contribution(state, contribution(kind="tick", time=sunday + timedelta(days=7)), runner).state
    (summary,) = published_memories(from_bytes(to_bytes(state)), runner, "acme", "ann").values()
    assert (summary.properties["period"], summary.properties["from"], summary.properties["to"]) == ("2024-W20", "2024-05-13", "2024-05-19")
    assert summary.properties["events"] == ["monday", "sunday"]
    assert summary.event_time == sunday, "the moment is kept exactly"
    assert summary.event_time.utcoffset() == timedelta(hours=12)
    retracted = apply_contribution(state, contribution(run("sunday", sunday, "retract"), position=9), runner).state
    (summary,) = published_memories(retracted, runner, "acme", "ann").values()
    assert summary.properties["events"] == ["monday"]


def test_a_week_ends_in_the_users_time_zone() -> None:
    runner = person()
    sunday = local("2024-05-19T09:00", AUCKLAND)
    longest = timedelta(weeks=4)
    over = local("2024-05-19T12:00", AUCKLAND) + longest
    events = [run(f"e{day:02d}", sunday + timedelta(days=day)) for day in range(28)]
    state = applied(runner, *events)
    before = apply_contribution(state, contribution(kind="tick", time=over - timedelta(minutes=1)), runner).state
    after = apply_contribution(state, contribution(kind="tick", time=over), runner).state
    assert published_memories(before, runner, "acme", "ann") == {}
    assert [each.properties["period"] for each in published_memories(after, runner, "acme", "ann").values()] == ["2024-W20"]


def _microseconds(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_a_line_holds_since_the_users_day() -> None:
    runner = person()
    first, second = local("2024-05-12T20:00", AUCKLAND), local("2024-05-13T20:00", "UTC")
    notes = [
        change(f"p{number}", time, "notes", {"search": "", "replace": line})
        for number, (line, time) in enumerate((("likes tea", first), ("likes rye", second), ("likes oat", second + timedelta(hours=5))))
    ]
    state = applied(runner, *notes)
    assert shown(state, runner).since == {"notes": [date(2024, 5, 13), date(2024, 5, 13), date(2024, 5, 14)]}
    state = apply_contribution(state, contribution(notes[0].model_copy(update={"op": "retract"}), position=9), runner).state
    assert shown(state, runner).since == {"notes": [date(2024, 5, 13), date(2024, 5, 14)]}
    assert "offsets" not in state.properties["notes"][1], "only offsets of times that are left are kept"


def test_settled_lines_keep_the_users_day() -> None:
    runner = person()
    start = local("2024-05-12T20:00", AUCKLAND)
    notes = [
        change(f"p{number}", start + timedelta(minutes=number), "notes", {"search": "", "replace": f"fact {number}"})
        for number in range(40)
    ]
    state = applied(runner, *notes)
    assert shown(state, runner).since == {"notes": [date(2024, 5, 13)] * 40}


def test_a_merged_text_names_the_users_day() -> None:
    runner = person()
    state = applied(runner, change("e1", local("2024-05-12T20:00", AUCKLAND), "summary", "Ann ran"))
    assert shown(state, runner).properties["summary"] == "2024-05-13: Ann ran"
    driver = bound_operator(runner, "summary")
    assert driver is not None
    assert isinstance(driver.operator, MergedText)
    assert merge_by_rule("", [Statement(0, "Ann ran", offset=-3_600_000_000)], limit=200) == "1969-12-31: Ann ran"
