"""A small schema about sport, and builders of events, extractions and contributions under it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from memory.records import Change, Contribution, EntityPatch, Event, Extraction
from memory.schema import parse_schema
from tests.made_records import made_event, made_extraction

START = datetime(2024, 5, 1, 12, tzinfo=UTC)


def aggregate(op: str, name: str, event_property: str | None, value_type: str = "int64") -> dict[str, Any]:
    expression = {"Op": op, "EventType": "workout"} | ({"EventPropertyName": event_property} if event_property else {})
    return {"PropertyName": name, "PropertyValueType": value_type, "AggregateExpression": expression}


STATISTICS = [
    aggregate("COUNT", "sessions", None),
    aggregate("SUM", "total_minutes", "minutes"),
    aggregate("AVG", "average_km", "km", "float32"),
    aggregate("MAX", "longest_km", "km", "float32"),
    aggregate("MIN", "shortest_km", "km", "float32"),
]

SCHEMA = parse_schema(
    {
        "Name": "sport",
        "EventTypes": [
            {
                "EventType": "workout",
                "Properties": [
                    {"PropertyName": "kind", "PropertyValueType": "string"},
                    {"PropertyName": "minutes", "PropertyValueType": "int64"},
                    {"PropertyName": "km", "PropertyValueType": "float32"},
                    {"PropertyName": "tags", "PropertyValueType": "list<string>"},
                ],
            },
            {"EventType": "remark"},
        ],
        "EntityTypes": [
            {
                "EntityType": "log",
                "Keys": ["kind"],
                "Properties": [
                    {"PropertyName": "kind", "PropertyValueType": "string", "IsPrimaryKey": True},
                    *STATISTICS,
                ],
            },
            {"EntityType": "week", "Keys": ["user"], "WindowDays": 7, "Properties": STATISTICS},
            {
                "EntityType": "long_runs",
                "Keys": ["user", "day"],
                "Filters": [{"Property": "km", "Op": ">=", "Value": 10}, {"Property": "kind", "Op": "=", "Value": "run"}],
                "Properties": [aggregate("COUNT", "long_runs", None)],
            },
            {
                "EntityType": "profile",
                "Properties": [
                    {"PropertyName": "user_id", "PropertyValueType": "string", "IsPrimaryKey": True},
                    {"PropertyName": "name", "PropertyValueType": "string"},
                    {"PropertyName": "age", "PropertyValueType": "int64"},
                    {"PropertyName": "likes", "PropertyValueType": "list<string>"},
                    aggregate("COUNT", "sessions", None),
                    {
                        "PropertyName": "story",
                        "PropertyValueType": "string",
                        "AggregateExpression": {"Op": "LLM_MERGE", "EventType": "remark", "EventPropertyName": "content"},
                    },
                ],
            },
        ],
    }
)


def event(
    name: str, *, day: float = 0, user: str = "ann", event_type: str = "workout", said_on: float | None = None, **properties: Any
) -> Event:
    """An event so many days after :data:`START`."""
    return made_event(
        f"about {name}",
        START + timedelta(days=day if said_on is None else said_on),
        id=name,
        user=user,
        session="s1",
        window_id="w1",
        type=event_type,
        properties=properties,
        event_time=START + timedelta(days=day),
        message_ids=[f"m-{name}"],
    )


def patch(name: str, field: str, replace: str, *, search: str = "", entity_type: str = "profile", key: str = "ann") -> EntityPatch:
    return EntityPatch(
        id=name,
        entity_type=entity_type,
        entity_key=key,
        field=field,
        search=search,
        replace=replace,
        event_time=START,
        message_ids=[f"m-{name}"],
    )


def extraction(*parts: Event | EntityPatch, user: str = "ann", end: float = 0) -> Extraction:
    return made_extraction(
        [each for each in parts if isinstance(each, Event)],
        START + timedelta(days=end),
        window_id="w1",
        user=user,
        session="s1",
        schema_name="sport",
        message_ids=["m1"],
        patches=[each for each in parts if isinstance(each, EntityPatch)],
    )


def change(op: Any, name: str, source_id: str, value: Any = None, *, day: float = 0) -> Change:
    return Change(
        op=op, property=name, source_id=source_id, value=value, event_time=START + timedelta(days=day), message_ids=[f"m-{source_id}"]
    )


def contribution(
    *changes: Change, position: int = 0, source: str = "extractions/0", entity_type: str = "log", key: str = "run"
) -> Contribution:
    return Contribution(
        tenant="acme",
        user="ann",
        entity_type=entity_type,
        entity_key=key,
        source=source,
        position=position,
        changes=list(changes),
        time=max((each.event_time for each in changes), default=START),
    )
