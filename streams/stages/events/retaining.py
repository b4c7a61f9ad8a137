"""Retention: results that a tenant keeps no longer leave the ledger, the entities and the memories, and do not return.

Limits are records of the extractions log (:class:`memory.records.RetentionLimits`). What follows them in the partition publishes nothing
beyond them. What was published before is removed by a rewritten extraction (:attr:`memory.records.Extraction.retained`). It has the key of
the original, so compaction removes the words from the log as well, and a rebuild gives the same.
"""

from collections.abc import Mapping
from datetime import datetime

from control.erasure import subject_of
from memory.records import Change, Contribution, Extraction, RetentionLimits
from memory.retention import Limits, merged_limits, reaches_entities
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.events.corrections import PresentEvent, present_events
from streams.stages.events.ledger import (
    Ledger,
    amended_key,
    corrected_window,
    corrected_window_key,
    expired_events,
    expired_key,
    published_key,
    retained_key,
)
from streams.stages.events.ledger_entries import ExpiredEvents, PublishedWindow, RetainedSince
from streams.stages.events.places import source_of
from streams.stages.events.publishing import fed_entities, memory_of
from streams.stages.events.record_handler import RecordHandler
from streams.stages.events.retracting import retractions
from streams.stages.tenancy import tenant_of


class Retainer(RecordHandler):
    """Handles the limits and the rewritten extractions of one partition."""

    def note(self, batch: Batch, record: ConsumedRecord, limits: RetentionLimits) -> None:
        """Applies limits to all extractions that follow."""
        key = retained_key(limits.tenant)
        before = Ledger(batch.state).get(key, RetainedSince)
        merged = merged_limits(before.limits if before is not None else {}, limits.limits)
        Ledger(batch.state).put(key, RetainedSince(limits=merged, held=sorted(limits.held or ())), position=record.offset)

    def limits_for(self, batch: Batch, extraction: Extraction) -> Mapping[str, datetime]:
        """The limits of an extraction's results; none for a user with a legal hold."""
        found = Ledger(batch.state).get(retained_key(extraction.tenant), RetainedSince)
        if found is None or subject_of(extraction.tenant, extraction.user) in found.held:
            return {}
        return found.limits

    def rewrite(self, batch: Batch, record: ConsumedRecord, extraction: Extraction, published: PublishedWindow, *, limits: Limits) -> None:
        """Removes from a window what its rewritten extraction lacks.

        Args:
            batch: The current batch.
            record: The record of the rewritten extraction.
            extraction: The rewritten extraction, without what is beyond the limits.
            published: The window's publication.
            limits: The limits in force.
        """
        left = {each.id for each in extraction.events} | {each.id for each in extraction.patches}
        may_reach = reaches_entities(extraction, limits)

        def is_removed(contribution: Contribution, change: Change) -> bool:
            return change.source_id not in left or not may_reach(contribution.entity_type, change.source_id)

        removed = [each for each in published.extraction.events if each.id not in left]
        messages = sorted({each for event in removed for each in event.message_ids} - _messages_of(extraction))
        contributions = [
            each.model_copy(update={"forgotten_messages": messages})
            for each in retractions(
                (*published.former, *published.in_force()),
                is_removed,
                source=source_of(record, self._partition),
                record=record,
                cause="retention",
            )
        ]
        for event in removed:
            self._publisher.tombstone(batch, record, extraction.tenant, event.id)
        self._publisher.contributions(batch, record, contributions)
        self._metrics.records.labels("events", "retention_removed").inc(len(removed))
        reduced = published.without_retracted(contributions).with_extraction(extraction)
        if left:
            self._publish_again(batch, record, published, reduced)
            Ledger(batch.state).put(published_key(extraction.window_id, extraction.generation), reduced, position=record.offset)
            self._keep_expired(batch, record, extraction, left)
        self._forget(batch, record, reduced, is_empty=not left)

    def _publish_again(self, batch: Batch, record: ConsumedRecord, before: PublishedWindow, after: PublishedWindow) -> None:
        """Publishes the memories of the remaining events that name a removed entity."""
        expired = expired_events(batch.state, after.extraction.window_id, after.extraction.generation)
        fed_before, fed_after = fed_entities(before.in_force()), fed_entities(after.in_force())
        for event in _present(batch, after):
            was, now = (memory_of(event, published, fed=fed) for published, fed in ((before, fed_before), (after, fed_after)))
            if was != now and event.event.id not in expired and not event.is_deleted:
                self._publisher.memory(batch, record, now)

    def _keep_expired(self, batch: Batch, record: ConsumedRecord, extraction: Extraction, left: set[str]) -> None:
        """Forgets expired events that were removed."""
        before = expired_events(batch.state, extraction.window_id, extraction.generation)
        after = before & left
        if after != before:
            key = expired_key(extraction.window_id, extraction.generation)
            if after:
                Ledger(batch.state).put(key, ExpiredEvents(tuple(sorted(after))), position=record.offset)
            else:
                batch.state.delete(key, position=record.offset)

    def _forget(self, batch: Batch, record: ConsumedRecord, reduced: PublishedWindow, *, is_empty: bool) -> None:
        """Removes the corrections of removed events; with the last result of a window, all its rows."""
        extraction, ledger = reduced.extraction, Ledger(batch.state)
        tenant, window_id = extraction.tenant, extraction.window_id
        others = {"", *(each.name for each in tenant_of(self._tenants, tenant).generations)} - {extraction.generation}
        found = (ledger.get(published_key(window_id, each), PublishedWindow) for each in sorted(others))
        standing = [*([] if is_empty else [extraction]), *(each.extraction for each in found if each is not None)]
        before = corrected_window(batch.state, tenant, window_id)
        after = before.as_extracted_again(standing)
        if standing and before.events and after != before:
            ledger.put(corrected_window_key(tenant, window_id), after, position=record.offset)
        rows = [] if standing else [corrected_window_key(tenant, window_id), amended_key(tenant, window_id)]
        if is_empty:
            rows += [published_key(window_id, extraction.generation), expired_key(window_id, extraction.generation)]
        for key in rows:
            if batch.state.get(key) is not None:
                batch.state.delete(key, position=record.offset)


def _present(batch: Batch, published: PublishedWindow) -> list[PresentEvent]:
    extraction = published.extraction
    return present_events(extraction, corrected_window(batch.state, extraction.tenant, extraction.window_id), published.trust)


def _messages_of(extraction: Extraction) -> set[str]:
    found = (*(each.message_ids for each in extraction.events), *(each.message_ids for each in extraction.patches))
    return set().union(*found)
