"""The records that travel through the topics (docs/internals/architecture.md, the path of a message)."""

from memory.records.aging import EventRef, Expiry, Touches
from memory.records.base import Record, Value
from memory.records.contribution import Change, Contribution, HistoryEntry
from memory.records.correction import Correction, EntityCorrection, EventSeen
from memory.records.correction_note import CorrectionNote, EventFields
from memory.records.dead_letter import DeadLetterMetadata
from memory.records.erasure import ErasedEntity, ErasedWindow, ErasureCommand
from memory.records.evolution import Evolution, NoteRef, NoteUpdate
from memory.records.extraction import Dropped, EntityPatch, Event, Extraction, GenerationDrop, NotedEvent, Segment, SourceSet, Usage
from memory.records.memory import Link, Memory, MemoryChange
from memory.records.merging import Lookup, Merged, MergeRequest, NotePlace, TextEdit, WrittenText
from memory.records.message import Message, SessionCommand, ToolCall, ToolResult, Window
from memory.records.message_change import MessageChange, MessageRetraction
from memory.records.read import ReadRecord
from memory.records.recall import FeedbackRecord, RankedCandidate, Ranking, RecalledEvent, RecallRecord
from memory.records.retention import RetentionLimits
from memory.records.trust import EntityTrust, TrustLevel, TrustReview, TrustRules
from memory.records.webhook import WebhookDelivery

__all__ = [
    "Change",
    "Contribution",
    "Correction",
    "CorrectionNote",
    "DeadLetterMetadata",
    "Dropped",
    "EntityCorrection",
    "EntityPatch",
    "EntityTrust",
    "ErasedEntity",
    "ErasedWindow",
    "ErasureCommand",
    "Event",
    "EventFields",
    "EventRef",
    "EventSeen",
    "Evolution",
    "Expiry",
    "Extraction",
    "FeedbackRecord",
    "GenerationDrop",
    "HistoryEntry",
    "Link",
    "Lookup",
    "Memory",
    "MemoryChange",
    "MergeRequest",
    "Merged",
    "Message",
    "MessageChange",
    "MessageRetraction",
    "NotePlace",
    "NoteRef",
    "NoteUpdate",
    "NotedEvent",
    "RankedCandidate",
    "Ranking",
    "ReadRecord",
    "RecallRecord",
    "RecalledEvent",
    "Record",
    "RetentionLimits",
    "Segment",
    "SessionCommand",
    "SourceSet",
    "TextEdit",
    "ToolCall",
    "ToolResult",
    "Touches",
    "TrustLevel",
    "TrustReview",
    "TrustRules",
    "Usage",
    "Value",
    "WebhookDelivery",
    "Window",
    "WrittenText",
]
