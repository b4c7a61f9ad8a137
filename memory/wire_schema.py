"""The wire format for applications that use the topics without this code: JSON Schema of the records, AsyncAPI of the topics."""

from typing import Any, Final

from pydantic.json_schema import models_json_schema

from memory.headers import (
    COMMAND,
    CORRECTION,
    ERASURE,
    EVOLUTION,
    EXPIRY,
    FEEDBACK,
    GENERATION_DROP,
    KIND,
    RETENTION,
    RETRACTION,
    TICK,
    TOUCHES,
    TRUST,
    TRUST_REVIEW,
)
from memory.records import (
    Contribution,
    Correction,
    ErasureCommand,
    Evolution,
    Expiry,
    Extraction,
    FeedbackRecord,
    GenerationDrop,
    MemoryChange,
    MergeRequest,
    Message,
    MessageChange,
    MessageRetraction,
    ReadRecord,
    RecallRecord,
    Record,
    RetentionLimits,
    SessionCommand,
    Touches,
    TrustReview,
    TrustRules,
    Usage,
    WebhookDelivery,
    Window,
)
from memory.topics import (
    ALL,
    CONTRIBUTIONS,
    EXTRACTIONS,
    MEMORIES,
    MERGED,
    MERGES,
    MESSAGES,
    READS,
    RECALLS,
    USAGE,
    WEBHOOK_DELIVERIES,
    WINDOWS,
    TopicSpec,
)

RECORDS: Final[dict[str, tuple[type[Record], ...]]] = {
    MESSAGES.name: (Message, MessageChange, SessionCommand),
    WINDOWS.name: (Window,),
    EXTRACTIONS.name: (
        Extraction,
        GenerationDrop,
        Touches,
        Expiry,
        Evolution,
        Contribution,
        Correction,
        MessageRetraction,
        ErasureCommand,
        RetentionLimits,
        TrustRules,
        TrustReview,
    ),
    CONTRIBUTIONS.name: (Contribution,),
    MERGES.name: (MergeRequest,),
    MERGED.name: (Contribution,),
    MEMORIES.name: (MemoryChange,),
    RECALLS.name: (RecallRecord, FeedbackRecord, ErasureCommand),
    READS.name: (ReadRecord,),
    USAGE.name: (Usage,),
    WEBHOOK_DELIVERIES.name: (WebhookDelivery,),
}
"""Record classes by topic, without topics of foreign records and the internal control log."""

KINDS: Final[dict[tuple[str, type[Record]], bytes]] = {
    (MESSAGES.name, SessionCommand): COMMAND,
    (EXTRACTIONS.name, GenerationDrop): GENERATION_DROP,
    (EXTRACTIONS.name, Touches): TOUCHES,
    (EXTRACTIONS.name, Expiry): EXPIRY,
    (EXTRACTIONS.name, Evolution): EVOLUTION,
    (EXTRACTIONS.name, Contribution): TICK,
    (EXTRACTIONS.name, Correction): CORRECTION,
    (EXTRACTIONS.name, MessageRetraction): RETRACTION,
    (EXTRACTIONS.name, ErasureCommand): ERASURE,
    (EXTRACTIONS.name, RetentionLimits): RETENTION,
    (EXTRACTIONS.name, TrustRules): TRUST,
    (EXTRACTIONS.name, TrustReview): TRUST_REVIEW,
    (RECALLS.name, FeedbackRecord): FEEDBACK,
    (RECALLS.name, ErasureCommand): ERASURE,
}
"""Values of the header ``varve-kind`` for records that are not their topic's usual kind. A ``MessageChange`` needs no header: its field
``command`` distinguishes it."""

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
    kind = KINDS.get((topic.name, record))
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
