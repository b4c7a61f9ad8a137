"""Applies manual corrections: the old values are retracted from entities and the new ones applied, in log order."""

from collections.abc import Sequence

from memory.records import Contribution, Correction, EntityCorrection, Event, EventSeen
from operators.entities.correction import MAX_REVERTIBLE
from operators.entities.order import order_by_hand
from operators.entities.routing import contributions_of
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.clock import clamp_event_time
from streams.stages.events.corrections import (
    MAX_KNOWN,
    CorrectedEvent,
    CorrectedWindow,
    PresentEvent,
    Standing,
    bind,
    event_index,
    patches_in_force,
    present_events,
)
from streams.stages.events.ledger import (
    Ledger,
    amended_key,
    corrected_entity_key,
    corrected_window,
    corrected_window_key,
    expired_events,
    published_key,
    revive,
)
from streams.stages.events.ledger_entries import AmendedWindow, CorrectedEntity, PublishedWindow
from streams.stages.events.places import source_of
from streams.stages.events.publishing import fed_entities, with_trust
from streams.stages.events.record_handler import RecordHandler
from streams.stages.tenancy import is_sent_before_erasure, schema_of_record


class Corrector(RecordHandler):
    """Handles the corrections among the extractions of one partition."""

    def correct(self, batch: Batch, record: ConsumedRecord, correction: Correction) -> None:
        """Applies a correction. One that was applied before is repeated without effect; one of what an erasure removes has none.

        Raises:
            PoisonRecordError: Its tenant or schema is unknown.
            TransientError: This process does not know them yet.
        """
        user = correction.user
        if user is not None and is_sent_before_erasure(self._tenants, correction.tenant, user, correction.time):
            self._count("erased")
        elif correction.entity is not None:
            self._entity(batch, record, correction, correction.entity)
        elif correction.event is not None:
            self._event(batch, record, correction, correction.event)
        else:
            self._count("names_nothing")

    def _event(self, batch: Batch, record: ConsumedRecord, correction: Correction, seen: EventSeen) -> None:
        key = corrected_window_key(correction.tenant, seen.window_id)
        ledger = Ledger(batch.state)
        before = corrected_window(batch.state, correction.tenant, seen.window_id)
        windows = _windows(ledger, correction, seen)
        amended = ledger.get(amended_key(correction.tenant, seen.window_id), AmendedWindow)
        if amended is not None and set(amended.erased).intersection(seen.message_ids):
            # It was sent before its author could know, and quotes an erased user.
            self._count("erased")
            return
        if correction.id in before.known:
            for window in windows:
                self._repeat(batch, record, window, before)
            return
        after = self._corrected(before, windows, correction, seen, record.offset)
        if after is None:
            after = before.model_copy(update={"known": [*before.known, correction.id][-MAX_KNOWN:]})
        changes = [(window, self._change(batch, record, window, before, after)) for window in windows]
        ledger.put(key, after, position=record.offset)
        for window, changed in changes:
            if changed is not None:
                ledger.put(published_key(window.extraction.window_id, window.extraction.generation), changed, position=record.offset)

    def _corrected(
        self, window: CorrectedWindow, published: Sequence[PublishedWindow], correction: Correction, seen: EventSeen, offset: int
    ) -> CorrectedWindow | None:
        """The window's corrections after this one; None if it has no effect."""
        number, target = _target(window, published, correction.memory_id, seen)
        if target is not None and target.is_deleted:
            self._count("of_deleted_event")
            return None
        if correction.action == "revert":
            if target is None or not target.standing:
                self._count("nothing_to_revert")
                return None
            return window.with_event(number, target.reverted(offset), correction)
        if target is None:
            self._count("waits_for_its_event")
            target = CorrectedEvent(
                memory_id=correction.memory_id,
                type=seen.type,
                content=seen.content,
                properties={},
                event_time=correction.time,
                message_ids=seen.message_ids,
                standing=[],
                changed_at=offset,
            )
        step = Standing.of(correction)
        if target.has(step):
            self._count("changes_nothing")
            return None
        return window.with_event(number, target.corrected(step, offset), correction)

    def _change(
        self, batch: Batch, record: ConsumedRecord, window: PublishedWindow, before: CorrectedWindow, after: CorrectedWindow
    ) -> PublishedWindow | None:
        """Publishes the events of a window that a correction changes; None if it changes none."""
        extraction = window.extraction
        old, new = (present_events(extraction, each, window.trust) for each in (before, after))
        changed = [now for was, now in zip(old, new, strict=True) if was.correction != now.correction]
        if not changed:
            return None
        schema = schema_of_record(self._tenants, extraction)
        ids = {each.event.id for each in changed}
        patches_before, patches_after = (patches_in_force(extraction.patches, present, window.trust) for present in (old, new))
        patches = [each for each in patches_after if each not in patches_before]
        sources = ids | {each.id for each in patches_before if each not in patches_after}
        contributions = contributions_of(
            extraction.model_copy(update={"patches": patches}),
            schema,
            events=valid_events(changed),
            source=source_of(record, self._partition),
            position=record.offset,
            previous=[
                each.model_copy(update={"changes": [one for one in each.changes if one.source_id in sources]}) for each in window.in_force()
            ],
            recorded_at=record.appended_at,
            cause="correction",
        )
        # A correction that was sent before its event expired may follow the expiry in the log.
        revive(batch.state, extraction.window_id, extraction.generation, ids, position=record.offset)
        contributions = with_trust(contributions, window.trust)
        fed = fed_entities(contributions)
        for each in changed:
            self._publisher.event(batch, record, each, window, fed=fed)
        self._publisher.contributions(batch, record, contributions)
        return window.with_correction(contributions)

    def _repeat(self, batch: Batch, record: ConsumedRecord, window: PublishedWindow, corrected: CorrectedWindow) -> None:
        """Repeats the outputs of a correction, for a replay that repairs later stages."""
        expired = expired_events(batch.state, window.extraction.window_id, window.extraction.generation)
        fed = fed_entities(window.in_force())
        for present in present_events(window.extraction, corrected, window.trust):
            if present.correction is not None and present.event.id not in expired:
                self._publisher.event(batch, record, present, window, fed=fed)
        for contributions in window.corrections:
            self._publisher.contributions(batch, record, (each for each in contributions if each.position == record.offset))

    def _entity(self, batch: Batch, record: ConsumedRecord, correction: Correction, entity: EntityCorrection) -> None:
        key = corrected_entity_key(correction.tenant, entity.entity_type, entity.entity_key, correction.generation)
        ledger = Ledger(batch.state)
        known = ledger.get(key, CorrectedEntity) or CorrectedEntity()
        if correction.retained_offset is not None:
            self._take_back(batch, record, known, key, offset=correction.retained_offset)
            return
        if correction.action == "edit":
            offset = next((offset for name, offset in known.edits if name == correction.id), record.offset)
            if offset == record.offset:
                self._publisher.contributions(batch, record, [self._contribution(correction, entity, record)])
                edits = [*(each for each in known.edits if each[0] != correction.id), (correction.id, offset)]
                ledger.put(key, known.model_copy(update={"edits": edits[-MAX_KNOWN:]}), position=record.offset)
            return
        if correction.id in known.known:
            self._publisher.contributions(batch, record, (each for each in known.standing if each.position == record.offset))
            return
        standing = list(known.standing)
        if correction.action == "correct":
            contribution = self._contribution(correction, entity, record)
            standing = [*standing, contribution][-MAX_REVERTIBLE:]
        elif correction.action == "revert" and standing:
            last = standing.pop()
            retractions = [each.model_copy(update={"op": "retract"}) for each in last.changes]
            contribution = last.model_copy(update={"changes": retractions, "position": record.offset, "recorded_at": record.appended_at})
        else:
            self._count("nothing_to_revert")
            return
        self._publisher.contributions(batch, record, [contribution])
        known = known.model_copy(update={"standing": standing, "known": [*known.known, correction.id][-MAX_KNOWN:]})
        ledger.put(key, known, position=record.offset)

    def _take_back(self, batch: Batch, record: ConsumedRecord, known: CorrectedEntity, key: bytes, *, offset: int) -> None:
        """Retracts the correction that a record had made, because it is beyond the tenant's retention."""
        left = [each for each in known.standing if each.position != offset]
        for correction in known.standing:
            if correction.position == offset:
                retractions = [change.model_copy(update={"op": "retract", "message_ids": []}) for change in correction.changes]
                place = {"position": record.offset, "recorded_at": record.appended_at, "cause": "retention", "forgotten_messages": []}
                self._publisher.contributions(batch, record, [correction.model_copy(update={"changes": retractions, **place})])
        if left or known.edits:
            Ledger(batch.state).put(key, known.model_copy(update={"standing": left}), position=record.offset)
        elif batch.state.get(key) is not None:
            batch.state.delete(key, position=record.offset)

    def _contribution(self, correction: Correction, entity: EntityCorrection, record: ConsumedRecord) -> Contribution:
        # The service refuses future times. Older records in the log could otherwise make an entity forget everything.
        times = [clamp_event_time(each.event_time, appended_at=record.appended_at, max_future=self._max_future) for each in entity.changes]
        order = order_by_hand(record.offset)
        changes = [each.model_copy(update={"event_time": time, "order": order}) for each, time in zip(entity.changes, times, strict=True)]
        return Contribution(
            tenant=correction.tenant,
            user=correction.user,
            entity_type=entity.entity_type,
            entity_key=entity.entity_key,
            source=source_of(record, self._partition),
            position=record.offset,
            changes=changes,
            time=max(times, default=correction.time),
            schema_name=entity.schema_name,
            schema_revision=entity.schema_revision,
            generation=correction.generation,
            recorded_at=record.appended_at,
            cause="correction",
        )

    def _count(self, what: str) -> None:
        self._metrics.records.labels("events", f"correction_{what}").inc()


def valid_events(present: Sequence[PresentEvent]) -> list[Event]:
    """The events among these that may change entities, as corrected: valid ones from sources that are trusted enough."""
    return [each.event for each in present if each.is_valid and each.feeds_entities]


def _windows(ledger: Ledger, correction: Correction, seen: EventSeen) -> list[PublishedWindow]:
    """The publications of the window; the one of the memory's own generation first."""
    generations = dict.fromkeys((correction.generation, *correction.generations))
    found = (ledger.get(published_key(seen.window_id, each), PublishedWindow) for each in generations)
    return [each for each in found if each is not None and each.extraction.tenant == correction.tenant]


def _target(
    window: CorrectedWindow, published: Sequence[PublishedWindow], memory_id: str, seen: EventSeen
) -> tuple[int | None, CorrectedEvent | None]:
    """Target of a correction: its index among the corrected events, if any, and the event as extracted."""
    for each in published:
        events = each.extraction.events
        index = event_index(present_events(each.extraction, window), memory_id, seen)
        if index is not None:
            number = bind(window.events, events).get(index)
            return (None, CorrectedEvent.of(events[index])) if number is None else (number, window.events[number])
    # The event is absent now: it was corrected before and waits likewise, or it was seen in a wording that was reverted since. The id is
    # no proof: another statement may have it by now.
    found = [number for number, each in enumerate(window.events) if each.says(seen)]
    return (found[-1], window.events[found[-1]]) if found else (None, None)
