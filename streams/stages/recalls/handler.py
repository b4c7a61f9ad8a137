"""The recalls stage: reports recalled events to their timelines, at most once a day per event.

The touches go to the extractions log, which is kept, so a rebuild keeps the same events alive. A recall itself writes only its record. The
number of recalls of an event does not count: the log of touches grows with the number of events in use, not with the number of reads.
"""

from dataclasses import dataclass
from typing import Final

import orjson

from control.tenants import TenantDirectory
from memory.headers import ERASURE, FEEDBACK, KIND, TOUCHES
from memory.keys import distinct_key, encode_key
from memory.records import ErasureCommand, EventRef, RecallRecord, Touches
from memory.topics import EXTRACTIONS, RECALLS
from runtime.kafka import OutgoingRecord
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.stages.tenancy import is_erased

MAX_TOUCHED: Final = 2000
"""Remembered events of one user. Further events of that day are touched with each recall."""
_DAY_S: Final = 86_400

Owner = tuple[str, str, str]
"""Tenant, user and generation."""


@dataclass(frozen=True, slots=True)
class TouchedDay:
    """The events that were touched on one day."""

    day: int
    """Days since 1970 (UTC). They only limit how often an event is touched: no day or week of a user depends on them."""
    ids: frozenset[str]

    def with_ids(self, day: int, ids: frozenset[str]) -> "TouchedDay":
        """Adds events touched on a day that is not earlier than this one."""
        known = self.ids | ids if day == self.day else ids
        return TouchedDay(day, known if len(known) <= MAX_TOUCHED else self.ids)


class TouchedCodec:
    """Writes and reads :class:`TouchedDay`."""

    def encode(self, state: TouchedDay) -> bytes:
        """The row's bytes."""
        return orjson.dumps([state.day, sorted(state.ids)])

    def decode(self, raw: bytes) -> TouchedDay:
        """The row that :meth:`encode` wrote."""
        day, ids = orjson.loads(raw)
        return TouchedDay(day, frozenset(ids))


class RecallsHandler(BatchHandler):
    """Handles one partition of ``recalls``.

    Args:
        settings: The settings in force.
        tenants: Knows the erasures.
    """

    def __init__(self, *, settings: Settings, tenants: TenantDirectory) -> None:
        self._extractions_topic = settings.topic(EXTRACTIONS.name)
        self._tenants = tenants

    async def handle(self, batch: Batch) -> None:
        """Collects the touched events of a batch of recalls: one record per user."""
        touched: dict[Owner, tuple[ConsumedRecord, Touches]] = {}
        await batch.each(lambda record: self._recall(batch, record, touched))
        for (tenant, user, _), (record, touches) in sorted(touched.items(), key=lambda each: each[0]):
            batch.emit(
                OutgoingRecord(self._extractions_topic, distinct_key(tenant, user), touches.to_json(), headers=((KIND, TOUCHES),)), record
            )

    def _recall(self, batch: Batch, record: ConsumedRecord, touched: dict[Owner, tuple[ConsumedRecord, Touches]]) -> None:
        if (KIND, ERASURE) in record.headers:
            self._forget(batch, record, ErasureCommand.from_json(record.value or b""))
            return
        if (KIND, FEEDBACK) in record.headers:
            # Its recalls have already touched their results.
            return
        recall = RecallRecord.from_json(record.value or b"")
        day = int(recall.time.timestamp()) // _DAY_S
        for user in sorted({each.user for each in recall.events}):
            if is_erased(self._tenants, recall.tenant, user, record, RECALLS):
                continue
            owner = recall.tenant, user, recall.generation
            key = encode_key(recall.tenant, user, recall.generation or "-")
            known: TouchedDay = batch.state.get(key) or TouchedDay(day, frozenset())
            mine = {each.id: each.window_id for each in recall.events if each.user == user}
            new = {name: window for name, window in mine.items() if day > known.day or (day == known.day and name not in known.ids)}
            if not new:
                continue
            batch.state.put(key, known.with_ids(day, frozenset(new)), position=record.offset)
            before = touched[owner][1] if owner in touched else None
            touched[owner] = (
                record,
                Touches(
                    tenant=recall.tenant,
                    user=user,
                    generation=recall.generation,
                    events=[*(before.events if before else ()), *(EventRef(id=name, window_id=new[name]) for name in sorted(new))],
                    time=max(recall.time, before.time) if before else recall.time,
                ),
            )

    @staticmethod
    def _forget(batch: Batch, record: ConsumedRecord, command: ErasureCommand) -> None:
        """Forgets the touched events of an erased user, in every generation."""
        batch.is_erasing = True
        prefix = encode_key(command.tenant, command.user) + b"/"
        # Rows changed in this batch are not in the table yet.
        known = {key for key, _ in batch.state.scan_prefix(prefix)} | {row.key for row in batch.state.changes()}
        for key in sorted(known):
            if key.startswith(prefix):
                batch.state.delete(key, position=record.offset)
