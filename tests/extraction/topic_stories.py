"""A schema whose events are grouped by topics that are matched by meaning, and extractions under it, as test data."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from memory.records import EntityPatch, Event, Extraction
from memory.schema import parse_schema
from memory.schema.model import MemorySchema
from tests.made_records import made_event, made_extraction

SIMILARITY: Final = 0.78
NOON: Final = datetime(2024, 5, 6, 12, tzinfo=UTC)


def stories(*keys: str) -> MemorySchema:
    """A schema with a count, a timeline, and a status that patches set, for each topic.

    Args:
        *keys: What the entities are grouped by, ``topic`` among it.
    """
    story: list[dict[str, Any]] = [
        {"PropertyName": "topic", "PropertyValueType": "string", "IsPrimaryKey": True, "Similarity": SIMILARITY},
        {"PropertyName": "status", "PropertyValueType": "string", "Description": "Where it stands."},
        {"PropertyName": "told", "PropertyValueType": "int64", "AggregateExpression": {"Op": "COUNT", "EventType": "life_event"}},
        {"PropertyName": "life", "PropertyValueType": "string", "AggregateExpression": {"Op": "TIME_COMPRESS", "EventType": "life_event"}},
    ]
    place = {"EntityType": "place", "Keys": ["place"], "Properties": [{"PropertyName": "remark", "PropertyValueType": "string"}]}
    properties = [
        {"PropertyName": "topic", "PropertyValueType": "string", "Description": "What it is about, in one to three words."},
        {"PropertyName": "place", "PropertyValueType": "string", "Description": "Where it happened."},
    ]
    event = {"EventType": "life_event", "Description": "Something that happened.", "Properties": properties}
    entity = {"EntityType": "story", "Description": "All that was told of a topic.", "Keys": [*keys], "Properties": story}
    return parse_schema({"Name": "stories", "EventTypes": [event], "EntityTypes": [entity, place]})


def extraction_of(events: Sequence[dict[str, Any]], patches: Sequence[tuple[str, str]] = ()) -> Extraction:
    """An extraction of one window.

    Args:
        events: The properties of each.
        patches: The entity type and the key of each.
    """
    return made_extraction(
        [_event(index, properties) for index, properties in enumerate(events)],
        NOON,
        schema_name="stories",
        patches=[_patch(entity_type, key) for entity_type, key in patches],
    )


def _event(index: int, properties: dict[str, Any]) -> Event:
    return made_event(f"Something happened, the {index}th.", NOON, id=f"e{index}", type="life_event", properties=properties)


def _patch(entity_type: str, key: str) -> EntityPatch:
    return EntityPatch(id="p", entity_type=entity_type, entity_key=key, field="status", replace="done", event_time=NOON, message_ids=["m"])
