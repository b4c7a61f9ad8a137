"""Extractions of users' remarks, under a schema that merges them into a story."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from memory.ids import event_id, window_id
from memory.keys import encode_key
from memory.records import Extraction
from memory.schema import parse_schema
from runtime.kafka import OutgoingRecord
from tests.made_records import made_event, made_extraction

TENANT = "story"
START = datetime(2024, 5, 1, tzinfo=UTC)

SCHEMA = parse_schema(
    {
        "Name": "remarks",
        "EventTypes": [{"EventType": "remark", "Description": "A remark."}],
        "EntityTypes": [
            {
                "EntityType": "profile",
                "Keys": ["user"],
                "Properties": [
                    {
                        "PropertyName": "story",
                        "PropertyValueType": "string",
                        "Description": "What the user has told.",
                        "AggregateExpression": {"Op": "LLM_MERGE", "EventType": "remark", "EventPropertyName": "content"},
                    },
                    {
                        "PropertyName": "remarks",
                        "PropertyValueType": "int64",
                        "AggregateExpression": {"Op": "COUNT", "EventType": "remark"},
                    },
                ],
            }
        ],
    }
)


def extraction(user: str, window: int, remarks: Mapping[int, str]) -> Extraction:
    """The extraction of one window of a user: its remarks by their places."""
    identity = window_id(TENANT, f"s-{user}", window)
    said_at = START + timedelta(days=window)
    events = [
        made_event(
            text,
            said_at,
            id=event_id(identity, place),
            tenant=TENANT,
            user=user,
            session=f"s-{user}",
            window_id=identity,
            type="remark",
            message_ids=[f"{user}-{window}-{place}"],
            extractor="test",
        )
        for place, text in remarks.items()
    ]
    return made_extraction(
        events,
        said_at,
        window_id=identity,
        tenant=TENANT,
        user=user,
        session=f"s-{user}",
        sequence=window,
        extractor="test",
        schema_name="remarks",
    )


def extraction_record(topic: str, given: Extraction, partition: int | None = None) -> OutgoingRecord:
    """The extraction as its stage produces it."""
    return OutgoingRecord(topic, encode_key(given.tenant, given.user), given.to_json(), partition=partition)
