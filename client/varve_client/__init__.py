"""Python client for the Varve memory service."""

from varve_client.async_client import AsyncVarveClient
from varve_client.errors import MessagesRefusedError, ServiceProblemError, ServiceUnreachableError, VarveClientError
from varve_client.models import (
    BegunErasure,
    ChangedMessage,
    Citation,
    Context,
    Correction,
    Erasure,
    HistoryChange,
    HistoryEntry,
    HistoryPage,
    KeyStatus,
    Memory,
    MemoryPage,
    Position,
    RecalledMemory,
    RecallResult,
    SentMessage,
    Session,
)
from varve_client.sync_client import VarveClient

__all__ = [
    "AsyncVarveClient",
    "BegunErasure",
    "ChangedMessage",
    "Citation",
    "Context",
    "Correction",
    "Erasure",
    "HistoryChange",
    "HistoryEntry",
    "HistoryPage",
    "KeyStatus",
    "Memory",
    "MemoryPage",
    "MessagesRefusedError",
    "Position",
    "RecallResult",
    "RecalledMemory",
    "SentMessage",
    "ServiceProblemError",
    "ServiceUnreachableError",
    "Session",
    "VarveClient",
    "VarveClientError",
]
