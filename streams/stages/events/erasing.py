"""Applies erasures: retracts the publications of a user's windows, and removes them from the ledger."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from memory.records import Contribution, ErasedEntity, ErasedWindow, ErasureCommand, Extraction
from operators.entities.routing import contributions_of
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.events.ledger import (
    Ledger,
    amended_key,
    corrected_entity_key,
    corrected_window_key,
    expired_key,
    published_key,
    since_erasure_key,
)
from streams.stages.events.ledger_entries import PublishedWindow, WindowsSinceErasure
from streams.stages.events.places import source_of
from streams.stages.events.record_handler import RecordHandler
from streams.stages.tenancy import is_being_erased, is_sent_before_erasure, schema_of_record

EntityRef = tuple[str, str, str]
"""Type, key and generation."""


class Eraser(RecordHandler):
    """Handles the erasures among the extractions of one partition."""

    def erase(self, batch: Batch, record: ConsumedRecord, command: ErasureCommand) -> None:
        """Retracts the publications of the named windows, and makes every named entity forget the user.

        A repeated erasure finds no window, and asks the entities again, since a model's answer may have arrived in the meantime.

        A rebuild or a replay after the erasure's end reads the command again, and skips the erased records. So the user's own entities have
        only what the user has said since the command's reach, and stay. Others need not forget what these records alone have given them,
        and keep what a rebuild has read from other partitions before. But extractions of shared windows may quote the user until
        compaction has removed them, so the entities that these changed are asked again.

        Raises:
            PoisonRecordError: Its tenant or schema is unknown.
            TransientError: This process does not know them yet.
        """
        if self._is_over(record, command):
            command = command.model_copy(update={"entities": [each for each in command.entities if not each.own and each.is_quoted]})
        batch.is_erasing = batch.is_erasing or bool(command.windows or command.entities)
        published = [each for each in (self._published(batch, command, window) for window in command.windows) if each is not None]
        contributions = self._retractions(record, command, published)
        retracted = {_entity_of(each) for each in contributions}
        reached = {_ref(each): each for each in (*_reached_by(published), *command.entities)}
        contributions += [self._forgetting(record, command, each) for ref, each in reached.items() if ref not in retracted]
        standing = [each for window in command.windows if self._is_nobody_elses(batch, command, window) for each in window.memory_ids]
        for memory_id in dict.fromkeys(chain(*(each.memory_ids for each in published), standing)):
            self._publisher.tombstone(batch, record, command.tenant, memory_id)
        self._metrics.records.labels("events", "erased").inc(sum(len(each.memory_ids) for each in published))
        self._publisher.contributions(batch, record, contributions)
        self._forget(batch, record, command)
        self._repeat_later(batch, record, command, {_entity_of(each) for each in contributions})

    def forget_superseded(self, batch: Batch, record: ConsumedRecord, superseded: PublishedWindow, messages: Sequence[str]) -> None:
        """Makes the entities of another user's superseded results forget what these may quote of erased messages.

        The commands do so as well, but a rebuild reads them in another order, from another partition, or not at all after compaction. This
        depends on the records of one window only.

        Args:
            batch: The current batch.
            record: The extraction that replaces them, without the erased messages.
            superseded: Their publication.
            messages: The ids of the erased messages.
        """
        batch.is_erasing = True
        extraction = superseded.extraction
        command = ErasureCommand(tenant=extraction.tenant, user=extraction.user)
        reached = {_ref(each): each.model_copy(update={"message_ids": [*messages]}) for each in _reached_by([superseded])}
        # They belong to no user: an entity of the other user is not deleted.
        forgetting = (self._forgetting(record, command, each).model_copy(update={"user": None}) for each in reached.values())
        self._publisher.contributions(batch, record, forgetting)

    def note(self, batch: Batch, record: ConsumedRecord, extraction: Extraction) -> None:
        """Remembers a window that is published while its user is being erased. The erasure deletes the user's entities as a whole.

        Raises:
            TransientError: This process does not know the user's erasures yet.
        """
        is_running = is_being_erased(self._tenants, extraction.tenant, extraction.user)
        if is_running is None:
            return
        key, ledger = since_erasure_key(extraction.tenant, extraction.user), Ledger(batch.state)
        known = ledger.get(key, WindowsSinceErasure)
        if not is_running:
            if known is not None:
                batch.state.delete(key, position=record.offset)
            return
        window = (extraction.window_id, extraction.generation)
        windows = [] if known is None else [each for each in known.windows if each != window]
        ledger.put(key, WindowsSinceErasure(windows=[*windows, window]), position=record.offset)

    def _is_over(self, record: ConsumedRecord, command: ErasureCommand) -> bool:
        """Whether the erasure that a command belongs to has ended."""
        user = command.tenant, command.user
        return is_being_erased(self._tenants, *user) is False and is_sent_before_erasure(self._tenants, *user, record.appended_at)

    def _repeat_later(self, batch: Batch, record: ConsumedRecord, command: ErasureCommand, reached: Collection[EntityRef]) -> None:
        """Repeats what windows that are not erased have contributed to entities that the command reaches: it deletes some as a whole."""
        key, ledger = since_erasure_key(command.tenant, command.user), Ledger(batch.state)
        known = ledger.get(key, WindowsSinceErasure)
        if known is None:
            return
        found = {each: ledger.get(published_key(*each), PublishedWindow) for each in known.windows}
        left = {each: window for each, window in found.items() if window is not None}
        for window in left.values():
            self._publisher.contributions(batch, record, (each for each in window.all_contributions if _entity_of(each) in reached))
        if not left:
            batch.is_erasing = True
            batch.state.delete(key, position=record.offset)
        elif len(left) < len(found):
            ledger.put(key, WindowsSinceErasure(windows=[*left]), position=record.offset)

    def _published(self, batch: Batch, command: ErasureCommand, window: ErasedWindow) -> PublishedWindow | None:
        found = Ledger(batch.state).get(published_key(window.window_id, window.generation), PublishedWindow)
        is_theirs = found is not None and (found.extraction.tenant, found.extraction.user) == (command.tenant, command.user)
        return found if is_theirs else None

    def _is_nobody_elses(self, batch: Batch, command: ErasureCommand, window: ErasedWindow) -> bool:
        key = published_key(window.window_id, window.generation)
        return batch.state.get(key) is None or self._published(batch, command, window) is not None

    def _retractions(self, record: ConsumedRecord, command: ErasureCommand, published: Sequence[PublishedWindow]) -> list[Contribution]:
        """One contribution per entity, since an entity applies a position only once."""
        made_under: defaultdict[tuple[str, str, int], list[PublishedWindow]] = defaultdict(list)
        for window in published:
            extraction = window.extraction
            made_under[extraction.generation, extraction.schema_name, extraction.schema_revision].append(window)
        by_entity: dict[EntityRef, Contribution] = {}
        for windows in made_under.values():
            extraction = windows[0].extraction
            schema = schema_of_record(self._tenants, extraction)
            retracted = contributions_of(
                extraction.model_copy(update={"events": [], "patches": []}),
                schema,
                source=source_of(record, self._partition),
                position=record.offset,
                previous=[each for window in windows for each in (*window.former, *window.in_force())],
                recorded_at=record.appended_at,
                cause="erasure",
            )
            for contribution in retracted:
                ref = _entity_of(contribution)
                before = by_entity.get(ref)
                by_entity[ref] = (
                    contribution if before is None else before.model_copy(update={"changes": [*before.changes, *contribution.changes]})
                )
        named = {_ref(each): each for each in command.entities}
        return [each.model_copy(update=_forgotten(named.get(ref))) for ref, each in by_entity.items()]

    def _forgetting(self, record: ConsumedRecord, command: ErasureCommand, entity: ErasedEntity) -> Contribution:
        return Contribution(
            tenant=command.tenant,
            user=command.user,
            entity_type=entity.entity_type,
            entity_key=entity.entity_key,
            source=source_of(record, self._partition),
            position=record.offset,
            time=record.appended_at,
            schema_name=entity.schema_name,
            schema_revision=entity.schema_revision,
            generation=entity.generation,
            recorded_at=record.appended_at,
            cause="erasure",
            **_forgotten(entity),
        )

    def _forget(self, batch: Batch, record: ConsumedRecord, command: ErasureCommand) -> None:
        windows = [each for each in command.windows if self._is_nobody_elses(batch, command, each)]
        for key in (*_keys_of_windows(command.tenant, windows), *_keys_of_entities(command)):
            if batch.state.get(key) is not None:
                batch.state.delete(key, position=record.offset)


def _ref(entity: ErasedEntity) -> EntityRef:
    return entity.entity_type, entity.entity_key, entity.generation


def _entity_of(contribution: Contribution) -> EntityRef:
    return contribution.entity_type, contribution.entity_key, contribution.generation


def _forgotten(entity: ErasedEntity | None) -> dict[str, Any]:
    """Data that the entity must forget in addition to the retractions, as fields of a contribution."""
    if entity is None:
        return {"forgotten_messages": []}
    known = {"forgotten_memories": entity.memory_ids or None, "forgotten_outcomes": entity.outcomes or None}
    return {"forgotten_messages": entity.message_ids, **known}


def _reached_by(published: Iterable[PublishedWindow]) -> Iterator[ErasedEntity]:
    """The entities that the windows have ever contributed to, according to the ledger, including fully retracted ones."""
    for window in published:
        for contribution in (*window.former, *window.contributions, *chain.from_iterable(window.corrections)):
            yield ErasedEntity(
                entity_type=contribution.entity_type,
                entity_key=contribution.entity_key,
                generation=contribution.generation,
                own=False,
                schema_name=contribution.schema_name,
                schema_revision=contribution.schema_revision,
            )


def _keys_of_windows(tenant: str, windows: Iterable[ErasedWindow]) -> Iterator[bytes]:
    for window in windows:
        yield published_key(window.window_id, window.generation)
        yield expired_key(window.window_id, window.generation)
        yield corrected_window_key(tenant, window.window_id)
        yield amended_key(tenant, window.window_id)


def _keys_of_entities(command: ErasureCommand) -> Iterator[bytes]:
    # Corrections of shared entities belong to other users as well.
    for each in filter(lambda entity: entity.own, command.entities):
        yield corrected_entity_key(command.tenant, each.entity_type, each.entity_key, each.generation)
