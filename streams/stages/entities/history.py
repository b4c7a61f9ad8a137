"""History of entities, published entry by entry.

An entry reuses the id of the entry ``settings.history.steps`` before it, so the history is bounded in the feed and in the store, and no
old entry is read for it. Four entries per round of ids contain the whole entity before them: readers start there.

The record is a :class:`~memory.records.MemoryChange` with a :class:`~memory.records.HistoryEntry`.
"""

from typing import Final

import orjson

from memory.ids import entity_id, step_id
from memory.keys import encode_key
from memory.records import Contribution
from memory.topics import MEMORIES
from operators.entities.entity_state import EntityState, to_bytes
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch

_PARTS: Final = 4
"""Number of entries per round of ids that contain the whole entity."""
_MAX_BEFORE: Final = 200_000
"""Size limit of the entity in an entry, in bytes."""


class HistoryPublisher:
    """Publishes the history entries of one partition's entities.

    Args:
        settings: The settings in force.
        metrics: Counts entries that are too large.
    """

    def __init__(self, *, settings: Settings, metrics: Metrics) -> None:
        self._topic = settings.topic(MEMORIES.name)
        self._kept = settings.history.steps
        self._interval = max(1, self._kept // _PARTS)
        self._max_bytes = settings.kafka.max_record_bytes
        self._metrics = metrics

    def applied(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, *, number: int, before: EntityState | None) -> None:
        """Publishes the entry of an applied contribution.

        ``number`` is its number within its source, from 1 (0: it is not kept); ``before`` is the entity before it.
        """
        if not number or not self._kept:
            return
        whole = to_bytes(before) if before is not None and (number - 1) % self._interval == 0 else b""
        # Reuse the record's bytes if they contain the recording time: serializing again costs as much as applying.
        raw = record.value if contribution.recorded_at is not None else None
        place = str((number - 1) % self._kept)
        self._emit(
            batch,
            record,
            contribution,
            contribution.source,
            place,
            number=number,
            raw=raw,
            before=whole if len(whole) <= _MAX_BEFORE else b"",
        )

    def adopted(self, batch: Batch, record: ConsumedRecord, contribution: Contribution) -> None:
        """Publishes the entry of an adopted outcome, in place of the previous one: a rebuild knows only the newest."""
        if contribution.merged is not None and self._kept:
            self._emit(batch, record, contribution, _source_of(contribution.merged.property), _place_of(contribution.merged.part), number=0)

    def _emit(
        self,
        batch: Batch,
        record: ConsumedRecord,
        contribution: Contribution,
        source: str,
        place: str,
        *,
        number: int,
        raw: bytes | None = None,
        before: bytes = b"",
    ) -> None:
        tenant = contribution.tenant
        entity = entity_id(tenant, contribution.entity_type, contribution.entity_key, contribution.generation)
        name = step_id(entity, source, place)
        if raw is None:
            raw = contribution.model_copy(update={"recorded_at": contribution.recorded_at or record.appended_at}).to_json()
        step = {"id": name, "tenant": tenant, "entity": entity, "number": number, "contribution": orjson.Fragment(raw)}
        if before:
            step["before"] = before.decode()
        value = orjson.dumps({"op": "step", "memory_id": name, "tenant": tenant, "step": step})
        if len(value) > self._max_bytes:
            # The contribution fitted into a Kafka record, but with the frame around it no longer does.
            self._metrics.records.labels("entities", "step_too_large").inc()
            return
        batch.emit(OutgoingRecord(self._topic, encode_key(tenant, name), value), record)


def adopted_entry_id(contribution: Contribution, property_name: str, part: str) -> str:
    """The id of the entry of the newest outcome of a part of a property; an empty part: the property has only one."""
    entity = entity_id(contribution.tenant, contribution.entity_type, contribution.entity_key, contribution.generation)
    return step_id(entity, _source_of(property_name), _place_of(part))


def _source_of(property_name: str) -> str:
    return f"merged/{property_name}"


def _place_of(part: str) -> str:
    return part or "-"
