"""Retracts the results that are based on edited or deleted messages, until the window is extracted again with its new revision."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal

from memory.records import Change, Contribution, Extraction, MessageRetraction
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.events.ledger import Ledger, amended_key, corrected_window, corrected_window_key, published_key
from streams.stages.events.ledger_entries import AmendedWindow, PublishedWindow
from streams.stages.events.places import source_of
from streams.stages.events.record_handler import RecordHandler
from streams.stages.tenancy import tenant_of


class Retractor(RecordHandler):
    """Handles the retractions among the extractions of one partition."""

    def retract(self, batch: Batch, record: ConsumedRecord, retraction: MessageRetraction) -> None:
        """Retracts, in every generation, the events and patches of a window that are based on the messages. A repetition emits the same.

        Raises:
            PoisonRecordError: Its tenant is unknown.
            TransientError: This process does not know it yet.
        """
        tenant = tenant_of(self._tenants, retraction.tenant)
        ledger = Ledger(batch.state)
        key = amended_key(retraction.tenant, retraction.window_id)
        amended = ledger.get(key, AmendedWindow) or AmendedWindow()
        after = amended.with_messages(retraction.message_ids, retraction.revision, is_erasure=retraction.is_erasure)
        if after != amended:
            ledger.put(key, after, position=record.offset)
        if retraction.is_erasure:
            batch.is_erasing = True
            self._forget_corrections(batch, record, retraction)
        for generation in ("", *(each.name for each in tenant.generations)):
            published = ledger.get(published_key(retraction.window_id, generation), PublishedWindow)
            if published is None or published.extraction.tenant != retraction.tenant:
                continue
            if any(each.position == record.offset for step in published.corrections for each in step):
                self._publisher.contributions(
                    batch, record, (each for step in published.corrections for each in step if each.position == record.offset)
                )
            elif published.extraction.revision < retraction.revision:
                self._retract(batch, record, published, frozenset(retraction.message_ids), is_erasure=retraction.is_erasure)

    def _forget_corrections(self, batch: Batch, record: ConsumedRecord, retraction: MessageRetraction) -> None:
        """Removes corrections of events that are based on an erased user's messages. After an edit, they wait for the new extraction."""
        key = corrected_window_key(retraction.tenant, retraction.window_id)
        before = corrected_window(batch.state, retraction.tenant, retraction.window_id)
        after = before.without_messages(retraction.message_ids)
        if after != before:
            Ledger(batch.state).put(key, after, position=record.offset)

    def _retract(
        self, batch: Batch, record: ConsumedRecord, published: PublishedWindow, message_ids: frozenset[str], *, is_erasure: bool
    ) -> None:
        extraction = without_messages(published.extraction, message_ids.__contains__)
        removed = set(published.memory_ids) - {each.id for each in extraction.events}
        for memory_id in sorted(removed):
            self._publisher.tombstone(batch, record, extraction.tenant, memory_id)

        def is_retracted(_: Contribution, change: Change) -> bool:
            return change.source_id in removed or not message_ids.isdisjoint(change.message_ids)

        # Former contributions stay after an edit. Their retractions come with the others of an entity, which applies a position only once.
        former = published.former if is_erasure else ()
        contributions = retractions(
            (*former, *published.in_force()), is_retracted, source=source_of(record, self._partition), record=record
        )
        self._publisher.contributions(batch, record, contributions)
        if is_erasure:
            published = published.without_retracted(contributions)
        elif contributions:
            published = published.with_correction(contributions)
        key = published_key(extraction.window_id, extraction.generation)
        Ledger(batch.state).put(key, published.with_extraction(extraction), position=record.offset)


def retractions(
    in_force: Iterable[Contribution],
    is_retracted: Callable[[Contribution, Change], bool],
    *,
    source: str,
    record: ConsumedRecord,
    cause: Literal["correction", "retention"] = "correction",
) -> list[Contribution]:
    """Contributions that retract some of a window's changes in force, one for each entity.

    Args:
        in_force: The window's contributions in force.
        is_retracted: Whether a change of a contribution is retracted.
        source: The partition's name in contributions.
        record: The record that retracts them.
        cause: Why.
    """
    position = {"source": source, "position": record.offset, "recorded_at": record.appended_at, "cause": cause}
    by_entity: dict[tuple[str, str], Contribution] = {}
    for contribution in in_force:
        resting = [each for each in contribution.changes if is_retracted(contribution, each)]
        changes = [each.model_copy(update={"op": "retract", "message_ids": []}) for each in resting]
        if changes:
            entity = contribution.entity_type, contribution.entity_key
            before = by_entity.get(entity)
            changes = [*before.changes, *changes] if before is not None else changes
            by_entity[entity] = contribution.model_copy(update={"changes": changes, **position})
    return [by_entity[entity] for entity in sorted(by_entity)]


def amended_extraction(extraction: Extraction, amended: Mapping[str, int]) -> Extraction:
    """An extraction without the results that are based on messages which have changed since its revision.

    Args:
        extraction: The extraction.
        amended: The revision that changed each changed message of the window.
    """
    return without_messages(extraction, lambda message_id: amended.get(message_id, 0) > extraction.revision)


def without_messages(extraction: Extraction, is_changed: Callable[[str], bool]) -> Extraction:
    """An extraction without the events and patches that are based on some messages."""

    def is_based_on(message_ids: Collection[str]) -> bool:
        return any(map(is_changed, message_ids))

    events = [each for each in extraction.events if not is_based_on(each.message_ids)]
    patches = [each for each in extraction.patches if not is_based_on(each.message_ids)]
    if len(events) == len(extraction.events) and len(patches) == len(extraction.patches):
        return extraction
    return extraction.model_copy(update={"events": events, "patches": patches}).with_sources_in_use()
