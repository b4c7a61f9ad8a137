"""Extractions of users' remarks, under a schema in which each remark is a note, and a model that links notes by their words."""

from typing import Any

import orjson

from loadtest.requests import ChatRequest
from memory.ids import entity_id
from memory.keys import entity_key
from memory.records import Extraction
from memory.schema import MemorySchema, parse_schema
from tests.streams.merged_remarks import TENANT, extraction


def schema(*, decide: str) -> MemorySchema:
    """Remarks as notes, linked or reconciled."""
    return parse_schema(
        {
            "Name": "remarks",
            "EventTypes": [{"EventType": "remark", "Description": "A remark."}],
            "EntityTypes": [
                {
                    "EntityType": "note",
                    "Keys": ["user", "event"],
                    "Properties": [
                        {
                            "PropertyName": "note",
                            "PropertyValueType": "string",
                            "AggregateExpression": {"Op": "LINK", "EventType": "remark", "EventPropertyName": "content", "Decide": decide},
                        }
                    ],
                }
            ],
        }
    )


def remarks(user: str, window: int, *texts: str) -> Extraction:
    """The extraction of one window of a user."""
    return extraction(user, window, dict(enumerate(texts)))


def note_id(user: str, given: Extraction, place: int = 0) -> str:
    """The id of the memory of a remark's note."""
    return entity_id(TENANT, "note", entity_key(user, given.events[place].id), "")


def linking_answer(request: ChatRequest) -> str:
    """Links every note with the same animal, and gives it the new remark as its context."""
    asked: dict[str, Any] = orjson.loads(request.messages[-1][1])
    new = asked["new"]["says"]
    same = [each["number"] for each in asked["notes"] if "cat" in each["says"] and "cat" in new]
    answer = {
        "keywords": [word for word in ("cat", "dog") if word in new],
        "tags": ["pets"],
        "context": f"About: {new}",
        "links": [{"number": number, "relation": "the same cat"} for number in same],
        "updates": [{"number": number, "tags": ["pets", "news"], "context": f"Later: {new}"} for number in same],
    }
    return orjson.dumps(answer).decode()
