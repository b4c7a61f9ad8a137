"""The order of events at one event time, from the extraction to the entity's value."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ids import event_id, window_id
from memory.records import Change, Contribution, Extraction
from memory.records.limits import LATEST_TIME
from memory.schema import parse_schema
from operators.entities.apply import apply_contribution, skip
from operators.entities.entity_state import EntityState
from operators.entities.order import order_by_hand, order_of
from operators.entities.render import known_values
from operators.entities.routing import contributions_of
from tests.made_records import made_event, made_extraction
from tests.operators.person import Person, job

MAY = datetime(2024, 5, 1, tzinfo=UTC)
SAID = ["first", "second", "third"]


def of_employers(name: str, op: str, value_type: str) -> dict[str, Any]:
    aggregate = {"Op": op, "EventType": "job", "EventPropertyName": "employer"}
    return {"PropertyName": name, "PropertyValueType": value_type, "AggregateExpression": aggregate}


SCHEMA = parse_schema(
    {
        "Name": "jobs",
        "EventTypes": [{"EventType": "job", "Properties": [{"PropertyName": "employer", "PropertyValueType": "string"}]}],
        "EntityTypes": [
            {
                "EntityType": "worker",
                "Keys": ["user"],
                "Properties": [of_employers("last", "LATEST", "string"), of_employers("all", "LIST", "list<string>")],
            }
        ],
    }
)
WORKER = SCHEMA.entity_types[0]


def window(session: str, sequence: int, employers: list[str], *, said_at: datetime = MAY) -> Extraction:
    """A window with statements about employers, all since the first of May."""
    name = window_id("acme", session, sequence)
    events = [
        made_event(
            employer,
            said_at,
            id=event_id(name, index),
            session=session,
            window_id=name,
            type="job",
            properties={"employer": employer},
            event_time=MAY,
        )
        for index, employer in enumerate(employers)
    ]
    return made_extraction(events, said_at, sequence=sequence, schema_name="jobs")


def contributed(*extractions: Extraction) -> list[Contribution]:
    made = [contributions_of(each, SCHEMA, source="extractions/0", position=place) for place, each in enumerate(extractions)]
    return [each for of_one in made for each in of_one]


def values(*contributions: Contribution) -> dict[str, Any]:
    state: EntityState | None = None
    for contribution in contributions:
        state = apply_contribution(state, contribution, WORKER).state
    assert state is not None
    return known_values(state, WORKER)


@pytest.mark.parametrize("session", [f"s{number}" for number in range(8)])
def test_a_later_statement_of_a_window_is_newer(session: str) -> None:
    assert values(*contributed(window(session, 0, SAID))) == {"last": "third", "all": SAID}


@pytest.mark.parametrize("session", [f"s{number}" for number in range(8)])
def test_a_statement_of_a_later_window_is_newer(session: str) -> None:
    later, earlier = contributed(window(session, 3, SAID[1:]), window(session, 2, SAID[:1]))
    assert values(later, earlier.model_copy(update={"source": "extractions/1"})) == {"last": "third", "all": SAID}


def test_the_later_statement_of_two_sessions_is_newer() -> None:
    long, short = window("long", 90, SAID[:2]), window("short", 0, SAID[2:], said_at=MAY + timedelta(seconds=1))
    assert values(*contributed(short, long)) == {"last": "third", "all": SAID}


def test_an_events_place_outlives_the_others_invalidation() -> None:
    what = window("s", 0, SAID)
    whole, *_ = contributed(what)
    (part,) = contributions_of(what, SCHEMA, source="extractions/0", position=1, events=what.events[1:], previous=[whole])
    orders = {each.source_id: each.order for each in whole.changes}
    assert [orders[each.source_id] for each in part.changes] == [each.order for each in part.changes]
    assert values(whole, part) == {"last": "third", "all": SAID[1:]}


def test_a_correction_outranks_a_late_original() -> None:
    what = window("s", 0, ["Acme"])
    (wrong,) = contributed(what)
    right = what.events[0].model_copy(update={"properties": {"employer": "Borg"}})
    (corrected,) = contributions_of(what, SCHEMA, source="extractions/0", position=1, events=[right], previous=[wrong])
    state = apply_contribution(skip(None, wrong).state, corrected, WORKER).state
    for each in (state, apply_contribution(state, wrong, WORKER).state):
        assert known_values(each, WORKER) == {"last": "Borg", "all": ["Borg"]}


def test_a_record_without_an_order_reads_as_before() -> None:
    fields = {"op": "apply", "property": "last", "source_id": "e", "event_time": MAY.isoformat()}
    assert Change.model_validate(fields).order == 0


def test_history_supersedes_by_the_same_order() -> None:
    person = Person()
    for order, name in ((2, "B"), (1, "A")):
        person.read(*(each.model_copy(update={"order": order}) for each in job(name, f"e-{name.lower()}", 1)))
    assert (person.fates()["job", "e-a"], person.fates()["job", "e-b"]) == ("superseded", "stands")
    assert [each.after.get("job") for each in person.walk()] == ["B", None], "the second changes nothing"


SECONDS = st.integers(0, int(LATEST_TIME.timestamp()) - 1)
PLACES = st.tuples(SECONDS, st.integers(0, 2**14 - 1), st.integers(0, 2**10 - 1))


@given(PLACES, PLACES, st.integers(0, 2**40))
def test_orders_go_by_second_window_and_place(one: tuple[int, int, int], other: tuple[int, int, int], offset: int) -> None:
    mine, others = (
        order_of(datetime.fromtimestamp(second, UTC), sequence=sequence, place=place) for second, sequence, place in (one, other)
    )
    assert (mine < others) == (one < other)
    assert max(mine, others) < order_by_hand(offset) < order_by_hand(offset + 1) < 2**63


@given(SECONDS, st.integers(0, 2**40), st.integers(0, 2**40))
def test_no_window_and_place_outweigh_a_second(second: int, sequence: int, place: int) -> None:
    at = datetime.fromtimestamp(second, UTC)
    assert order_of(at, sequence=sequence, place=place) < order_of(at + timedelta(seconds=1), sequence=0, place=0)


def test_statements_before_1970_are_ordered_too() -> None:
    old = datetime(1001, 1, 1, tzinfo=UTC)
    assert 0 == order_of(old, sequence=0, place=0) < order_of(old, sequence=0, place=1) < order_of(old, sequence=1, place=0)
