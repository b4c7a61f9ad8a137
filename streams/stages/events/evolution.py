"""Changes of notes that other notes cause. They belong to the window of the causing event, so whatever retracts the event undoes them."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from memory.records import Change, Contribution, Evolution, NoteRef, NoteUpdate
from operators.links.link_updates import note_digest, note_text
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.events.ledger import Ledger, published_key
from streams.stages.events.ledger_entries import PublishedWindow
from streams.stages.events.places import source_of
from streams.stages.events.record_handler import RecordHandler

MAX_OWNED: Final = 64
"""Changes of other notes that one event may cause. Further ones are skipped, so that a window's row remains small."""


@dataclass(frozen=True, slots=True)
class _Note:
    """An event's own change of its note."""

    contribution: Contribution
    change: Change
    window: PublishedWindow


class Evolver(RecordHandler):
    """Handles the evolutions among the extractions of one partition."""

    def evolve(self, batch: Batch, record: ConsumedRecord, evolution: Evolution) -> None:
        """Applies the updates of an evolution. One that was applied before is repeated without effect.

        An update is skipped if one of its events was retracted or has another wording by now, or if its owner has caused too many.
        """
        made: dict[str, Contribution] = {}
        owned: defaultdict[str, list[Contribution]] = defaultdict(list)
        windows: dict[str, PublishedWindow] = {}
        repeated: dict[tuple[str, int], Contribution] = {}
        for update in evolution.updates:
            owner, target = (self._note(batch, evolution, each) for each in (update.owner, update.target))
            if owner is None or target is None:
                self._count("outdated")
                continue
            change = change_of(update, evolution, target.change)
            key = target.contribution.entity_key
            own_updates = [
                (each, one)
                for each in owner.window.in_force()
                for one in each.changes
                if one.is_update and one.source_id == update.owner.id
            ]
            before = next((each for each, one in own_updates if each.entity_key == key and one == change), None)
            if before is not None:
                place = key, before.position
                empty = before.model_copy(update={"changes": []})
                repeated[place] = _with(repeated.get(place, empty), change)
                continue
            window_id = update.owner.window_id
            added = sum(one.source_id == update.owner.id for each in owned[window_id] for one in each.changes)
            if len(own_updates) + added >= MAX_OWNED:
                self._count("too_many")
                continue
            contribution = self._contribution(record, evolution, target.contribution)
            made[key] = _with(made.get(key, contribution), change)
            owned[window_id].append(_with(contribution, change))
            windows[window_id] = owner.window
        for window_id, contributions in owned.items():
            if contributions:
                ledger_key = published_key(window_id, evolution.generation)
                Ledger(batch.state).put(ledger_key, windows[window_id].with_correction(contributions), position=record.offset)
        self._publisher.contributions(batch, record, [*repeated.values(), *(made[key] for key in sorted(made))])
        self._count("applied", sum(len(each) for each in owned.values()))

    def _note(self, batch: Batch, evolution: Evolution, ref: NoteRef) -> _Note | None:
        """The note of an event; None if the event is not in force with these words."""
        window = Ledger(batch.state).get(published_key(ref.window_id, evolution.generation), PublishedWindow)
        if window is None or (window.extraction.tenant, window.extraction.user) != (evolution.tenant, evolution.user):
            return None
        for contribution in window.in_force():
            for change in contribution.changes:
                is_own = change.source_id == ref.id and change.property == evolution.property and not change.is_update
                if is_own and contribution.entity_type == evolution.entity_type and note_digest(note_text(change.value)) == ref.digest:
                    return _Note(contribution, change, window)
        return None

    def _contribution(self, record: ConsumedRecord, evolution: Evolution, of_target: Contribution) -> Contribution:
        return Contribution(
            tenant=evolution.tenant,
            user=evolution.user,
            entity_type=of_target.entity_type,
            entity_key=of_target.entity_key,
            source=source_of(record, self._partition),
            position=record.offset,
            time=evolution.time,
            schema_name=of_target.schema_name,
            schema_revision=of_target.schema_revision,
            generation=evolution.generation,
            recorded_at=record.appended_at,
            cause="evolution",
        )

    def _count(self, what: str, count: int = 1) -> None:
        self._metrics.records.labels("events", f"evolution_{what}").inc(count)


def change_of(update: NoteUpdate, evolution: Evolution, target: Change) -> Change:
    """The change of a note that an update causes.

    Args:
        update: The update.
        evolution: Its evolution.
        target: The own change of the note.
    """
    # The time of the target: an update does not make its note newer.
    return Change(
        op="apply",
        property=evolution.property,
        source_id=update.owner.id,
        value={"update": update.change},
        event_time=target.event_time,
        is_update=True,
    )


def _with(contribution: Contribution, change: Change) -> Contribution:
    return contribution.model_copy(update={"changes": [*contribution.changes, change]})
