"""The wire format for applications that use the topics without this code: JSON Schema of the records, AsyncAPI of the topics."""

from typing import Any, Final

from pydantic.json_schema import models_json_schema

from memory.headers import KIND
from memory.records import Record
from memory.topic_records import KINDS, RECORDS
from memory.topics import ALL, TopicSpec

_KEY: Final = "The parts of the key, in this order, percent-encoded, joined by a slash: "
_MARK: Final = "; then a `#` and a mark, which is different for each record"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def records_schema() -> dict[str, Any]:
    """All records as one JSON Schema, each under its name in ``$defs``."""
    return {
        "$schema": _DIALECT,
        "title": "The records of Varve's topics",
        "description": "A newer minor version may add fields that are not named here: ignore them.",
        "$defs": _definitions("#/$defs/{model}"),
    }


def asyncapi() -> dict[str, Any]:
    """The topics as AsyncAPI 3.1, under their names without the prefix."""
    channels = {topic.name: _channel(topic) for topic in ALL if topic.name in RECORDS}
    messages = {
        _name(topic, record): {
            "name": record.__name__,
            "contentType": "application/json",
            **_headers(topic, record),
            "payload": {"$ref": f"#/components/schemas/{record.__name__}"},
            "bindings": {"kafka": {"key": {"type": "string", "description": _KEY + ", ".join(topic.key) + (_MARK if topic.mark else "")}}},
        }
        for topic in ALL
        for record in RECORDS.get(topic.name, ())
    }
    return {
        "asyncapi": "3.1.0",
        "info": {
            "title": "Varve",
            "version": "1.0",
            "description": "The topics between the stages. A topic's name on the broker has a prefix. Default: `varve.`.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": {
            "produceMessages": {"action": "receive", "channel": {"$ref": "#/channels/messages"}},
            "followMemories": {"action": "send", "channel": {"$ref": "#/channels/memories"}},
        },
        "components": {"messages": messages, "schemas": _definitions("#/components/schemas/{model}")},
    }


def _definitions(template: str) -> dict[str, Any]:
    records = [record for each in RECORDS.values() for record in each]
    _, schema = models_json_schema([(record, "validation") for record in records], ref_template=template)
    definitions: dict[str, Any] = schema["$defs"]
    return definitions


def _name(topic: TopicSpec, record: type[Record]) -> str:
    """A unique name of a record in a topic, because some records occur in two topics with different keys."""
    return f"{topic.name}.{record.__name__}"


def _headers(topic: TopicSpec, record: type[Record]) -> dict[str, Any]:
    """The headers that distinguish the kinds of records in a topic."""
    kind = next((kind for kind, each in KINDS.get(topic.name, {}).items() if each is record), None)
    if kind is None:
        return {}
    return {"headers": {"type": "object", "properties": {KIND: {"const": kind.decode()}}, "required": [KIND]}}


def _channel(topic: TopicSpec) -> dict[str, Any]:
    return {
        "address": topic.name,
        "messages": {record.__name__: {"$ref": f"#/components/messages/{_name(topic, record)}"} for record in RECORDS[topic.name]},
        "bindings": {
            "kafka": {
                "topicConfiguration": {"cleanup.policy": [topic.cleanup], "retention.ms": topic.retention_ms},
            }
        },
    }
