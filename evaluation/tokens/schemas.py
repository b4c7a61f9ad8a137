"""The schemas that tokens are measured with."""

from typing import Final

from memory.schema import MemorySchema, parse_schema, scenario

PAPER: Final = "paper"
"""The name of the configuration of VikingMem 5.3: one event memory, a user profile, a topic memory."""

_TEXT: Final = "string"
_PAPER_TYPES: Final = {
    "Name": PAPER,
    "EventTypes": [
        {
            "EventType": "conversation_event",
            "Description": "Something that a speaker did, experienced, plans, feels or prefers.",
            "Properties": [
                {"PropertyName": "person", "PropertyValueType": _TEXT, "Description": "Whom it is about."},
                {"PropertyName": "place", "PropertyValueType": _TEXT, "Description": "Where, if it was said."},
            ],
        }
    ],
    "EntityTypes": [
        {
            "EntityType": "user_profile",
            "Description": "What holds about a speaker for long.",
            "Properties": [
                {
                    "PropertyName": "facts",
                    "PropertyValueType": _TEXT,
                    "Description": "Who they are, whom they know, what they do.",
                },
            ],
        },
        {
            "EntityType": "topic_memory",
            "Description": "What was said on one topic over time, compressed.",
            "Keys": ["user", "topic"],
            "Properties": [
                {"PropertyName": "topic", "PropertyValueType": _TEXT, "Description": "The topic.", "IsPrimaryKey": True},
                {"PropertyName": "timeline", "PropertyValueType": _TEXT, "Description": "What happened when, newest last."},
            ],
        },
    ],
}


def measured_schema(name: str) -> MemorySchema:
    """A shipped scenario, or the paper's configuration.

    Raises:
        SchemaError: If there is no such scenario.
    """
    return parse_schema(_PAPER_TYPES) if name == PAPER else scenario(name)
