"""Explains why a memory or a message is not among the results of a recall."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

import orjson

from memory.records import Memory
from memory.records.wording import indexed_text
from retrieval.redundancy.entity_coverage import fields_with_words_of
from retrieval.request import Outcome, RecallRequest, RecallResponse
from runtime.redis.session_tail import SessionView
from stores.port import MemoryStore, TenantScope

Stop = Literal["not_a_candidate", "filter", "expired", "window_open", "not_extracted", "dropped", "used", "unknown"]
"""``used``: the message gave no separate memory, but a returned entity or summary uses it."""

_MEMORIES_OF_MESSAGE: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedBy:
    """A returned entity or summary that is based on a message."""

    memory: str
    kind: Literal["entity", "summary"]
    type: str
    property: str | None = None
    """The field whose value the message states. None: no field has its words, for example a count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """The explanation for one id."""

    id: str
    what: Literal["memory", "message"] | None = None
    """None: the id is unknown to the caller."""
    outcome: Outcome | Stop
    memory: str | None = None
    """For a message: of the memories extracted from it, the one that came closest to being returned."""
    rank: int | None = None
    score: float | None = None
    of: str | None = None
    """The memory that was returned instead."""
    filter: str | None = None
    """The part of the request that excludes it."""
    used_by: tuple[UsedBy, ...] = ()
    """The returned entities and summaries that use it, one entry for each field."""


_FARTHEST: Final[tuple[Outcome | Stop, ...]] = (
    "returned",
    "repeated",
    "duplicate",
    "rank",
    "below_threshold",
    "not_a_candidate",
    "filter",
    "expired",
)


class WhyNots:
    """Explanations for one recall.

    Args:
        scope: The memories that the caller's key may see.
    """

    def __init__(self, *, store: MemoryStore, now: datetime, scope: TenantScope, request: RecallRequest, found: RecallResponse) -> None:
        self._store = store
        self._now = now
        self._scope = scope
        self._request = request
        self._found = found

    async def of(self, ids: Sequence[str]) -> list[WhyNot]:
        """The explanation for each id, in their order.

        Raises:
            StoreUnavailableError: If the store does not respond.
        """
        memories = {each.id: each for each in await self._memories(await self._store.get(self._scope, ids))}
        return [memories[each] if each in memories else await self._message(each) for each in ids]

    async def _memories(self, memories: Sequence[Memory]) -> list[WhyNot]:
        at, ids = self._request.filter.at, [each.id for each in memories]
        known_then = {each.id for each in await self._store.get(self._scope, ids, at=at)} if at else set(ids)
        found = [self._memory(each, is_later=each.id not in known_then) for each in memories]
        return [
            replace(why, used_by=self._used_by(each.message_ids[:1], _texts_of([each]))) if each.kind == "event" else why
            for each, why in zip(memories, found, strict=True)
        ]

    def _memory(self, memory: Memory, *, is_later: bool) -> WhyNot:
        if memory.id in {each.id for each in self._found.entities}:
            return WhyNot(id=memory.id, what="memory", outcome="returned")
        outcome = self._found.outcomes.get(memory.id)
        if outcome is not None:
            return WhyNot(id=memory.id, what="memory", outcome=outcome.outcome, rank=outcome.rank, score=outcome.score, of=outcome.of)
        stopped_by = self._request.filter.rejected_by(memory) or ("at" if is_later else None)
        if stopped_by is not None:
            return WhyNot(id=memory.id, what="memory", outcome="filter", filter=stopped_by)
        is_expired = memory.expires_at is not None and memory.expires_at <= self._now
        return WhyNot(id=memory.id, what="memory", outcome="expired" if is_expired else "not_a_candidate")

    async def _message(self, message: str) -> WhyNot:
        tail, generation = self._request.tail, self._request.filter.generation or ""
        sessions = [] if tail is None else [tail.session]
        extracted = await self._store.by_evidence(
            self._scope, [message], sessions=sessions, generation=generation, limit=_MEMORIES_OF_MESSAGE
        )
        if extracted:
            best = min(await self._memories(extracted), key=lambda each: (_FARTHEST.index(each.outcome), each.rank or 0))
            return WhyNot(
                id=message,
                what="message",
                outcome=best.outcome,
                memory=best.id,
                rank=best.rank,
                score=best.score,
                of=best.of,
                filter=best.filter,
                used_by=self._used_by([message], _texts_of(extracted)),
            )
        used_by = self._used_by([message], _tail_texts(message, self._found.tail))
        if used_by:
            return WhyNot(id=message, what="message", outcome="used", used_by=used_by)
        window = _window_with(message, self._found.tail)
        if window is None:
            return WhyNot(id=message, outcome="unknown")
        is_open, ids = window
        if is_open:
            return WhyNot(id=message, what="message", outcome="window_open")
        others = await self._store.by_evidence(self._scope, ids, sessions=sessions, generation=generation, limit=1)
        return WhyNot(id=message, what="message", outcome="dropped" if others else "not_extracted")

    def _used_by(self, messages: Sequence[str], texts: Sequence[str]) -> tuple[UsedBy, ...]:
        """The uses of messages in the response."""
        uses: list[UsedBy] = []
        for memory in {each.id: each for each in (*self._found.entities, *(hit.memory for hit in self._found.hits))}.values():
            if memory.kind not in ("entity", "summary") or set(messages).isdisjoint(memory.message_ids):
                continue
            fields: Sequence[str | None] = fields_with_words_of(memory, texts) or [None]
            kind: Literal["entity", "summary"] = "entity" if memory.kind == "entity" else "summary"
            uses += [UsedBy(memory=memory.id, kind=kind, type=memory.type, property=name) for name in fields]
        return tuple(uses)


def _texts_of(memories: Sequence[Memory]) -> list[str]:
    return [text for each in memories for text in (indexed_text(each), each.content, each.said) if text]


def _tail_texts(message: str, tail: SessionView) -> list[str]:
    windows = [window for window in (tail.open, tail.closed) if window is not None]
    found = (orjson.loads(each) for window in windows for each in window.messages)
    return [str(each.get("text", "")) for each in found if each.get("id") == message]


def _window_with(message: str, tail: SessionView) -> tuple[bool, list[str]] | None:
    """Whether the tail's window with a message is open, and the ids of all its messages; None if no window has it."""
    for window in (tail.open, tail.closed):
        ids = [] if window is None else [str(orjson.loads(each).get("id")) for each in window.messages]
        if message in ids:
            return window is tail.open, ids
    return None
