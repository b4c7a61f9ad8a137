"""The records of each topic, by the kind that the header ``varve-kind`` names."""

from collections.abc import Mapping
from typing import Final

from memory.errors import MalformedRecordError
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
)

USUAL: Final[Mapping[str, tuple[type[Record], ...]]] = {
    MESSAGES.name: (Message, MessageChange),
    WINDOWS.name: (Window,),
    EXTRACTIONS.name: (Extraction,),
    CONTRIBUTIONS.name: (Contribution,),
    MERGES.name: (MergeRequest,),
    MERGED.name: (Contribution,),
    MEMORIES.name: (MemoryChange,),
    RECALLS.name: (RecallRecord,),
    READS.name: (ReadRecord,),
    USAGE.name: (Usage,),
    WEBHOOK_DELIVERIES.name: (WebhookDelivery,),
}
"""Record classes without a kind, by topic. The field ``command`` distinguishes a ``MessageChange`` from a ``Message``."""

KINDS: Final[Mapping[str, Mapping[bytes, type[Record]]]] = {
    MESSAGES.name: {COMMAND: SessionCommand},
    EXTRACTIONS.name: {
        GENERATION_DROP: GenerationDrop,
        TOUCHES: Touches,
        EXPIRY: Expiry,
        EVOLUTION: Evolution,
        TICK: Contribution,
        CORRECTION: Correction,
        RETRACTION: MessageRetraction,
        ERASURE: ErasureCommand,
        RETENTION: RetentionLimits,
        TRUST: TrustRules,
        TRUST_REVIEW: TrustReview,
    },
    RECALLS.name: {FEEDBACK: FeedbackRecord, ERASURE: ErasureCommand},
}
"""Record classes with a kind, by topic and kind."""

RECORDS: Final[Mapping[str, tuple[type[Record], ...]]] = {
    topic: (*records, *KINDS.get(topic, {}).values()) for topic, records in USUAL.items()
}
"""All record classes by topic, without the topics of foreign records and the internal control log."""


def read_extractions_record(kind: bytes | None, value: bytes) -> Record:
    """Reads a record of the extractions log.

    Args:
        kind: Its kind (:func:`memory.headers.kind_of`). A record without a kind is an :class:`Extraction`.
        value: Its value.

    Raises:
        memory.errors.RecordError: If there is no such kind, or the value is no record of it.
    """
    record_type = Extraction if kind is None else KINDS[EXTRACTIONS.name].get(kind)
    if record_type is None:
        raise MalformedRecordError(f"the header {KIND} names no kind of {EXTRACTIONS.name}: {kind!r}")
    return record_type.from_json(value)


def windows_named(record: Record) -> set[str]:
    """The ids of the windows whose results a record of the extractions log contains or changes."""
    match record:
        case Extraction() | MessageRetraction() | TrustReview():
            return {record.window_id}
        case Touches() | Expiry():
            return {each.window_id for each in record.events}
        case Evolution():
            return {each.window_id for update in record.updates for each in (update.owner, update.target)}
        case Correction() if record.event is not None:
            return {record.event.window_id}
        case _:
            return set()
