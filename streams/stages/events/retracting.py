"""Retracts the results that are based on edited or deleted messages, until the window is extracted again with its new revision."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from control.tenants import TenantDirectory
from memory.records import Change, Contribution, Extraction, MessageRetraction
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.events.ledger import AmendedWindow, Ledger, PublishedWindow, amended_key, published_key
from streams.stages.events.publishing import Publisher
from streams.tenancy import tenant_of


class Retractor:
    """Handles the retractions among the extractions of one partition.

    Args:
        source: The partition's name in contributions.
        publisher: Emits the outputs.
        tenants: The known tenants, with their generations.
    """

    def __init__(self, *, source: str, publisher: Publisher, tenants: TenantDirectory) -> None:
        self._source = source
        self._publisher = publisher
        self._tenants = tenants

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
        after = amended.with_messages(retraction.message_ids, retraction.revision)
        if after != amended:
            ledger.put(key, after, position=record.offset)
        for generation in ("", *(each.name for each in tenant.generations)):
            published = ledger.get(published_key(retraction.window_id, generation), PublishedWindow)
            if published is None or published.extraction.tenant != retraction.tenant:
                continue
            if any(each.position == record.offset for step in published.corrections for each in step):
                self._publisher.contributions(
                    batch, record, (each for step in published.corrections for each in step if each.position == record.offset)
                )
            elif published.extraction.revision < retraction.revision:
                self._retract(batch, record, published, frozenset(retraction.message_ids))

    def _retract(self, batch: Batch, record: ConsumedRecord, published: PublishedWindow, message_ids: frozenset[str]) -> None:
        extraction = without_messages(published.extraction, message_ids.__contains__)
        gone = set(published.memory_ids) - {each.id for each in extraction.events}
        for memory_id in sorted(gone):
            self._publisher.tombstone(batch, record, extraction.tenant, memory_id)

        def rests(change: Change) -> bool:
            return change.source_id in gone or not message_ids.isdisjoint(change.message_ids)

        contributions = retractions(published, rests, source=self._source, record=record)
        self._publisher.contributions(batch, record, contributions)
        published = replace(published.with_correction(contributions) if contributions else published, extraction=extraction)
        key = published_key(extraction.window_id, extraction.generation)
        Ledger(batch.state).put(key, published, position=record.offset)


def retractions(published: PublishedWindow, rests: Callable[[Change], bool], *, source: str, record: ConsumedRecord) -> list[Contribution]:
    """Contributions that take back some of a window's changes in force.

    Args:
        published: The window.
        rests: Whether a change is taken back.
        source: The partition's name in contributions.
        record: The record that takes them back.
    """
    found = []
    for contribution in published.in_force():
        changes = [each.model_copy(update={"op": "retract", "message_ids": []}) for each in contribution.changes if rests(each)]
        if changes:
            position = {"source": source, "position": record.offset, "recorded_at": record.appended_at, "cause": "correction"}
            found.append(contribution.model_copy(update={"changes": changes, **position}))
    return found


def amended_extraction(extraction: Extraction, amended: Mapping[str, int]) -> Extraction:
    """An extraction without the results that are based on messages which have changed since its revision.

    Args:
        extraction: The extraction.
        amended: The revision that changed each changed message of the window.
    """
    return without_messages(extraction, lambda message_id: amended.get(message_id, 0) > extraction.revision)


def without_messages(extraction: Extraction, is_changed: Callable[[str], bool]) -> Extraction:
    """An extraction without the events and patches that are based on some messages."""

    def rests(message_ids: Collection[str]) -> bool:
        return any(map(is_changed, message_ids))

    events = [each for each in extraction.events if not rests(each.message_ids)]
    patches = [each for each in extraction.patches if not rests(each.message_ids)]
    if len(events) == len(extraction.events) and len(patches) == len(extraction.patches):
        return extraction
    return extraction.model_copy(update={"events": events, "patches": patches})
