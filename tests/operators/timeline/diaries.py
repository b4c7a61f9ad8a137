"""A schema with a timeline, and days of events for it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memory.records import Change, Contribution
from memory.schema import parse_schema
from memory.schema.model import MemorySchema
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, from_bytes, to_bytes
from operators.entities.ticks import due_of

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""A Monday."""
ANN = "ann"


def diary_schema(*, with_notes: bool = False, **parameters: Any) -> MemorySchema:
    """A schema with one timeline for each user, and optionally notes, which do not age."""
    notes = {
        "EntityType": "notes",
        "Keys": ["user"],
        "Properties": [
            {"PropertyName": "count", "PropertyValueType": "int64", "AggregateExpression": {"Op": "COUNT", "EventType": "note"}}
        ],
    }
    return parse_schema(
        {
            "Name": "diary",
            "EventTypes": [
                {"EventType": "life_event", "Description": "What happened."},
                *([{"EventType": "note", "Description": "A note."}] if with_notes else []),
            ],
            "EntityTypes": [
                {
                    "EntityType": "life",
                    "Description": "What happened to the user.",
                    "Keys": ["user"],
                    "Properties": [
                        {
                            "PropertyName": "story",
                            "PropertyValueType": "string",
                            "AggregateExpression": {"Op": "TIME_COMPRESS", "EventType": "life_event", **parameters},
                        },
                        {
                            "PropertyName": "count",
                            "PropertyValueType": "int64",
                            "AggregateExpression": {"Op": "COUNT", "EventType": "life_event"},
                        },
                    ],
                },
                *([notes] if with_notes else []),
            ],
        }
    )


SCHEMA = diary_schema()
LIFE = SCHEMA.entity_types[0]


def day(number: float) -> datetime:
    """The time a number of days after the start."""
    return START + timedelta(days=number)


def story(op: str, name: str, on: float, *, importance: float = 0.5, message: str | None = None) -> Change:
    """A change of the timeline by an event of a day."""
    value = {
        "text": f"{name} happened.",
        "importance": importance,
        "message_ids": [message or f"m-{name}"],
        "user": ANN,
        "window_id": f"w-{name}",
    }
    return Change.model_validate(
        {"op": op, "property": "story", "source_id": name, "value": value if op in ("apply", "retract") else None, "event_time": day(on)}
    )


def contribution(*changes: Change, position: int = 0, kind: str = "change", time: datetime = START) -> Contribution:
    """A contribution to Ann's life."""
    return Contribution.model_validate(
        {
            "tenant": "acme",
            "user": ANN,
            "entity_type": "life",
            "entity_key": ANN,
            "kind": kind,
            "source": "extractions/0",
            "position": position,
            "changes": [each.model_dump() for each in changes],
            "time": time,
        }
    )


def tick(to: datetime) -> Contribution:
    """Event time has come so far."""
    return contribution(kind="tick", time=to)


def applied(state: EntityState | None, *contributions: Contribution) -> EntityState:
    """The state after contributions. It is encoded and decoded after each."""
    for each in contributions:
        state = from_bytes(to_bytes(apply_contribution(state, each, LIFE).state))
    assert state is not None
    return state


def due_time(state: EntityState) -> datetime | None:
    """When the entity next changes without an event."""
    due = due_of(state, LIFE)
    return None if due is None else datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=due)


def ticked(state: EntityState, until: datetime) -> tuple[EntityState, list[tuple[datetime, list[str]]]]:
    """The state once all timers up to a time have fired, and at each time the events that were named as gone."""
    fired: list[tuple[datetime, list[str]]] = []
    while (due := due_time(state)) is not None and due <= until:
        result = apply_contribution(state, tick(due), LIFE)
        assert result.changed
        state = from_bytes(to_bytes(result.state))
        fired.append((due, [each.id for _, each in result.aged]))
    return state, fired


def in_order(names: Sequence[str]) -> list[Change]:
    """One event a day."""
    return [story("apply", name, number) for number, name in enumerate(names)]
