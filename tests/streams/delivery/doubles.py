"""What the tests of both drivers share: the broker's part, scripted to fail on cue, and a journal of what became durable."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from runtime.kafka import OutgoingRecord
from streams.delivery.driver import FaustRecord
from streams.delivery.records import ConsumedRecord
from streams.errors import TransientError


@dataclass
class Journal:
    """Everything that became durable or was acknowledged, in its order."""

    entries: list[tuple[str, Any]] = field(default_factory=list)

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.entries]

    def of(self, kind: str) -> list[Any]:
        return [entry for each, entry in self.entries if each == kind]

    @property
    def acked(self) -> list[int]:
        """The offsets acknowledged."""
        return self.of("ack")

    @property
    def sent(self) -> list[OutgoingRecord]:
        """All records produced but for the changelog's."""
        return [record for kind, records in self.entries if kind in ("outputs", "letters") for record in records]


class ScriptedProducer:
    """Takes records as the broker would, or fails as often as a test says: by kind, ``outputs``, ``letters`` or ``changelog``."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.failures: dict[str, int] = {}
        self.gates: dict[str, asyncio.Event] = {}
        self.entered = asyncio.Event()
        self.writing = 0
        self.peak_writing = 0

    async def send(self, records: Sequence[OutgoingRecord], *, may_write: Callable[[], bool]) -> list[int]:
        self.writing += 1
        self.peak_writing = max(self.peak_writing, self.writing)
        self.entered.set()
        await asyncio.sleep(0)
        try:
            return await self._take(records, may_write)
        finally:
            self.writing -= 1

    async def _take(self, records: Sequence[OutgoingRecord], may_write: Callable[[], bool]) -> list[int]:
        kind = _kind_of(records)
        if kind in self.gates:
            await self.gates[kind].wait()
        if not may_write():
            raise TransientError("revoked", dependency="assignment")
        if self.failures.get(kind, 0) > 0:
            self.failures[kind] -= 1
            raise TransientError("no broker", dependency="kafka")
        self.journal.entries.append((kind, list(records)))
        return list(range(len(records)))


def faust_record(record: ConsumedRecord, journal: Journal) -> FaustRecord:
    """The record as Faust delivers it; its acknowledgement goes to the journal."""
    message = SimpleNamespace(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        key=record.key,
        value=record.value,
        headers=record.headers,
        timestamp=record.timestamp,
    )
    return FaustRecord(SimpleNamespace(message=message, value=record.value, ack=lambda: journal.entries.append(("ack", record.offset))))


def _kind_of(records: Sequence[OutgoingRecord]) -> str:
    if not records:
        return "outputs"
    topic = records[-1].topic
    if topic.endswith("-changelog"):
        return "changelog"
    return "letters" if topic.endswith("dead-letters") else "outputs"
