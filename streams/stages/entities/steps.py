"""What entities come by, step by step, published beside them.

A step takes over the place of the one that lies ``settings.history.steps`` before it: so what is kept stays bounded, in the feed as in
the store, and no old step is read for it. Four steps in each round of the places bear the entity before them: there whoever reads begins.

What is written is a :class:`~memory.records.MemoryChange` with a :class:`~memory.records.HistoryEntry`.
"""

from typing import Final

import orjson

from memory.ids import entity_id, step_id
from memory.keys import encode_key
from memory.records import Contribution
from memory.topics import MEMORIES
from operators.entity_state import EntityState, to_bytes
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch

_PARTS: Final = 4
"""How often a round of the places bears an entity whole."""
_MAX_BEFORE: Final = 200_000
"""Bytes of an entity that a step bears."""


class StepPublisher:
    """Publishes the steps of one partition's entities.

    Args:
        settings: The settings in force.
        metrics: Where steps are counted that are too large.
    """

    def __init__(self, *, settings: Settings, metrics: Metrics) -> None:
        self._topic = settings.topic(MEMORIES.name)
        self._kept = settings.history.steps
        self._interval = max(1, self._kept // _PARTS)
        self._max_bytes = settings.kafka.max_record_bytes
        self._metrics = metrics

    def applied(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, *, number: int, before: EntityState | None) -> None:
        """Publishes that a contribution was applied.

        Args:
            batch: The step of the stage that it is part of.
            record: Where the contribution lies.
            contribution: The contribution.
            number: Which one of its source it is, from 1; 0: none that is kept.
            before: The entity before it.
        """
        if not number or not self._kept:
            return
        whole = to_bytes(before) if before is not None and (number - 1) % self._interval == 0 else b""
        # As it came, where it says itself when it was recorded: to write it out again costs as much as to apply it.
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
        """Publishes that an entity has adopted an outcome, in place of the one before: a rebuild knows the newest alone.

        Args:
            batch: The step of the stage that it is part of.
            record: What brought it.
            contribution: Of kind ``merged``.
        """
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
            # The contribution came through Kafka; the frame around it does not fit any more.
            self._metrics.records.labels("entities", "step_too_large").inc()
            return
        batch.emit(OutgoingRecord(self._topic, encode_key(tenant, name), value), record)


def adopted_step(contribution: Contribution, property_name: str, part: str) -> str:
    """The id of the step that brought an entity the newest outcome of a part of a property.

    Args:
        contribution: Of the entity.
        property_name: The property.
        part: The part; empty: it has one.
    """
    entity = entity_id(contribution.tenant, contribution.entity_type, contribution.entity_key, contribution.generation)
    return step_id(entity, _source_of(property_name), _place_of(part))


def _source_of(property_name: str) -> str:
    return f"merged/{property_name}"


def _place_of(part: str) -> str:
    return part or "-"
