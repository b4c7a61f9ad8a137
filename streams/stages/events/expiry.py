"""Later changes to published events: time passes, recalls touch them, and timelines expire them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from memory.records import Change, Contribution, EventRef, Expiry, Touches
from memory.schema.operator_specs import operator_specs
from operators.applied_positions import source_without_copy
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.clock import clamp_event_time
from streams.stages.events.corrections import present_events
from streams.stages.events.ledger import Entry, Ledger, corrected_window, expired_events, expired_key, published_key
from streams.stages.events.ledger_entries import ExpiredEvents, PublishedWindow
from streams.stages.events.places import source_of
from streams.stages.events.record_handler import RecordHandler
from streams.stages.tenancy import schema_of_record

EntityChanges = dict[tuple[str, str], tuple[Contribution, list[Change]]]
"""By entity: a contribution that it received, and the changes to send now."""


class Expirer(RecordHandler):
    """Handles the touches and expiries among the extractions of one partition."""

    def tick(self, batch: Batch, record: ConsumedRecord, tick: Contribution) -> None:
        """Forwards the event time of a tick to its entity."""
        passed_on = {
            "source": source_of(record, self._partition),
            "position": record.offset,
            "time": clamp_event_time(tick.time, appended_at=record.appended_at, max_future=self._max_future),
            "recorded_at": record.appended_at,
        }
        self._publisher.contributions(batch, record, [tick.model_copy(update=passed_on)])

    def touch(self, batch: Batch, record: ConsumedRecord, touches: Touches) -> None:
        """Reports recalled events to their timelines; skips expired events.

        Raises:
            PoisonRecordError: The tenant or the schema of a window is unknown.
            TransientError: This process does not know them yet.
        """
        changes: EntityChanges = {}
        for window, published, ids in _windows(batch, touches.tenant, touches.generation, touches.events):
            for contribution, each in _applied(published, ids - expired_events(batch.state, *window)):
                if self._ages(contribution, each.property):
                    touch = Change(op="touch", property=each.property, source_id=each.source_id, event_time=touches.time)
                    _add(changes, contribution, touch)
        self._publisher.contributions(batch, record, self._made(record, changes, touches.time))
        self._metrics.records.labels("events", "touched").inc(sum(len(each) for _, each in changes.values()))

    def expire(self, batch: Batch, record: ConsumedRecord, expiry: Expiry) -> None:
        """Expires events: deletes their memories and, if the schema says so, their contributions to other properties.

        Some events stay:

        * an event of a window that was extracted again since, unknown to the timeline, because it is another event;
        * an event that was invalidated since, because the timeline no longer has it and the correction may be reverted;
        * an event that was corrected since, unknown to the timeline, until the expiry is repeated: a rebuild sends its expiries again,
          after such corrections;
        * an event of a timeline whose clock was wrongly advanced, because its time was not over.

        Raises:
            PoisonRecordError: The tenant or the schema of a window is unknown.
            TransientError: This process does not know them yet.
        """
        if expiry.time > record.appended_at + self._max_future:
            self._metrics.records.labels("events", "expiry_future_dated").inc()
            return
        changes: EntityChanges = {}
        rows: list[tuple[bytes, Entry]] = []
        tombstones: list[str] = []
        count = 0
        for window, published, ids in _windows(batch, expiry.tenant, expiry.generation, expiry.events):
            # A window that was published before a growth has another source; its positions are lower than all later ones.
            sources = {source_of(record, self._partition), *(each.source for each in published.all_contributions)}
            known = max(expiry.known.get(source_without_copy(each), -1) for each in sources)
            if published.position > known:
                continue
            ids -= _corrected_later(batch, published, known)
            held = {each.source_id for contribution, each in _applied(published, ids) if _is_of(contribution, each, expiry)}
            expired = expired_events(batch.state, *window)
            new = held - expired
            retractions: EntityChanges = {}
            # Also events that another timeline has expired before: this one no longer has them either.
            for contribution, change in self._removals(_applied(published, held), new, expiry):
                _add(changes, contribution, change)
                if change.op == "retract":
                    _add(retractions, contribution, change)
            if new:
                if retractions:
                    rows.append((published_key(*window), published.with_correction(self._made(record, retractions, expiry.time))))
                rows.append((expired_key(*window), ExpiredEvents(tuple(sorted(expired | new)))))
            tombstones.extend(sorted(held))
            count += len(new)
        for key, row in rows:
            Ledger(batch.state).put(key, row, position=record.offset)
        for memory_id in tombstones:
            self._publisher.tombstone(batch, record, expiry.tenant, memory_id)
        self._publisher.contributions(batch, record, self._made(record, changes, expiry.time))
        self._metrics.records.labels("events", "expired").inc(count)

    def forget(self, batch: Batch, record: ConsumedRecord, window_id: str, generation: str) -> None:
        """Forgets the expired events of a window that was extracted again: its events are new, whatever their ids."""
        if expired_events(batch.state, window_id, generation):
            batch.state.delete(expired_key(window_id, generation), position=record.offset)

    def _removals(
        self, applied: Iterable[tuple[Contribution, Change]], new: set[str], expiry: Expiry
    ) -> Iterator[tuple[Contribution, Change]]:
        """Changes that remove events from the timeline and, if the schema says so, newly expired events from other properties."""
        for contribution, each in applied:
            if _is_of(contribution, each, expiry):
                yield contribution, Change(op="release", property=each.property, source_id=each.source_id, event_time=expiry.time)
            elif expiry.retract and each.source_id in new and not self._ages(contribution, each.property):
                yield contribution, each.model_copy(update={"op": "retract", "message_ids": []})

    def _ages(self, contribution: Contribution, property_name: str) -> bool:
        schema = schema_of_record(self._tenants, contribution)
        entity_type = schema.entity_type(contribution.entity_type)
        each = entity_type.property(property_name) if entity_type is not None else None
        return each is not None and each.aggregate is not None and operator_specs()[each.aggregate.op].ages

    def _made(self, record: ConsumedRecord, changes: EntityChanges, time: datetime) -> list[Contribution]:
        """One contribution per entity."""
        return [
            Contribution(
                tenant=sent.tenant,
                user=sent.user,
                entity_type=entity_type,
                entity_key=key,
                source=source_of(record, self._partition),
                position=record.offset,
                changes=entity_changes,
                time=time,
                schema_name=sent.schema_name,
                schema_revision=sent.schema_revision,
                generation=sent.generation,
                recorded_at=record.appended_at,
                cause="expiry",
            )
            for (entity_type, key), (sent, entity_changes) in sorted(changes.items(), key=lambda each: each[0])
        ]


Window = tuple[str, str]
"""Id and generation."""


def _windows(batch: Batch, tenant: str, generation: str, events: Iterable[EventRef]) -> Iterator[tuple[Window, PublishedWindow, set[str]]]:
    """The published windows of a tenant's events, each with the events' ids."""
    by_window: defaultdict[str, set[str]] = defaultdict(set)
    for event in events:
        by_window[event.window_id].add(event.id)
    for window_id, ids in sorted(by_window.items()):
        published = Ledger(batch.state).get(published_key(window_id, generation), PublishedWindow)
        if published is not None and published.extraction.tenant == tenant:
            yield (window_id, generation), published, ids


def _corrected_later(batch: Batch, published: PublishedWindow, offset: int) -> set[str]:
    """The events of a window that were corrected after an offset."""
    extraction = published.extraction
    present = present_events(extraction, corrected_window(batch.state, extraction.tenant, extraction.window_id))
    return {each.event.id for each in present if each.correction is not None and each.correction.changed_at > offset}


def _applied(published: PublishedWindow, ids: Iterable[str]) -> Iterator[tuple[Contribution, Change]]:
    """The contributions of events of a window."""
    wanted = set(ids)
    for contribution in published.in_force():
        for change in contribution.changes:
            if change.op == "apply" and change.source_id in wanted:
                yield contribution, change


def _is_of(contribution: Contribution, change: Change, expiry: Expiry) -> bool:
    """Whether a change concerns the timeline that expires events."""
    timeline = expiry.entity_type, expiry.entity_key, expiry.property
    return (contribution.entity_type, contribution.entity_key, change.property) == timeline


def _add(changes: EntityChanges, contribution: Contribution, change: Change) -> None:
    entity = contribution.entity_type, contribution.entity_key
    changes.setdefault(entity, (contribution, []))[1].append(change)
