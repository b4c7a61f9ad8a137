"""Entries of the ledger of the events stage: what was published, corrected, dropped, expired and erased, and the limits of retention."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import Field

from memory.records import Contribution, Extraction, Value
from memory.records.limits import Time
from memory.trust import NO_RULES, TrustPolicy, WindowTrust

MAX_CORRECTIONS: Final = 8
"""Corrections of one publication whose contributions are kept separately, so that a replay repeats them."""


@dataclass(frozen=True, slots=True)
class PublishedWindow:
    """Publication of one window in one generation."""

    position: int
    """The offset of the extraction; for a redriven one, its original offset."""
    extraction: Extraction
    """The published part of the extraction."""
    contributions: tuple[Contribution, ...]
    """Contributions of the extraction, including the corrections in force at that time."""
    corrections: tuple[tuple[Contribution, ...], ...] = ()
    """Contributions of each later correction."""
    former: tuple[Contribution, ...] = ()
    """Earlier contributions to types and fields that were removed from the schema. They stay unchanged, whatever happens to the events,
    until the schema has the types again or the generation is dropped: an event's id may belong to another event by now."""
    trust: WindowTrust = NO_RULES
    """The trust in its events and patches."""

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """The ids of its memories."""
        return tuple(event.id for event in self.extraction.events)

    @property
    def all_contributions(self) -> Iterator[Contribution]:
        """The contributions of the extraction and of its corrections."""
        yield from self.contributions
        for each in self.corrections:
            yield from each

    def with_extraction(self, extraction: Extraction) -> "PublishedWindow":
        """The window after results were removed from its extraction."""
        left = {each.id for each in extraction.events} | {each.id for each in extraction.patches}
        return replace(self, extraction=extraction, trust=self.trust.of_results(left))

    def in_force(self) -> tuple[Contribution, ...]:
        """The contributions with only those applications that nothing has retracted since."""
        return _in_force([self.contributions, *self.corrections])

    def with_correction(self, contributions: Iterable[Contribution]) -> "PublishedWindow":
        """Adds the contributions of a correction."""
        corrections = (*self.corrections, tuple(contributions))
        if len(corrections) <= MAX_CORRECTIONS:
            return replace(self, corrections=corrections)
        return replace(self, contributions=_in_force([self.contributions, corrections[0]]), corrections=corrections[1:])

    def without_retractions(self) -> "PublishedWindow":
        """Only what the contributions apply, without a copy of what they retract."""
        return replace(self, contributions=_in_force([self.contributions]))

    def without_retracted(self, retractions: Sequence[Contribution]) -> "PublishedWindow":
        """Only the contributions that retractions leave in force, without a copy of what was retracted."""
        in_force = _in_force([self.contributions, *self.corrections, retractions])
        return replace(self, contributions=in_force, corrections=(), former=_in_force([self.former, retractions]))


class CorrectedEntity(Value):
    """The corrections of one entity's fields."""

    standing: list[Contribution] = Field(default_factory=list)
    """Contributions of each, oldest first: this many can be reverted."""
    known: list[str] = Field(default_factory=list)
    """Ids of the newest corrections."""
    edits: list[tuple[str, int]] = Field(default_factory=list)
    """Ids and offsets of the newest edits of blocks."""


@dataclass(frozen=True, slots=True)
class DroppedGeneration:
    """Drops of a tenant's generation."""

    drops: int
    """Number of drops. An extraction with a lower number was begun before the drop, and does not count."""


@dataclass(frozen=True, slots=True)
class ExpiredEvents:
    """Expired events of one window in one generation: they are no longer memories."""

    ids: tuple[str, ...]


class AmendedWindow(Value):
    """The edited and deleted messages of one window."""

    revisions: dict[str, int] = Field(default_factory=dict)
    """The newest revision of the window that changed each message, by its id."""
    erased: list[str] = Field(default_factory=list)
    """The messages of erased users among them."""

    def with_messages(self, message_ids: Iterable[str], revision: int, *, is_erasure: bool = False) -> "AmendedWindow":
        """Adds messages that a revision changed."""
        changed = {each: max(revision, self.revisions.get(each, 0)) for each in message_ids}
        erased = sorted({*self.erased, *changed}) if is_erasure else self.erased
        return AmendedWindow(revisions={**self.revisions, **changed}, erased=erased)

    def may_be_quoted_by(self, extraction: Extraction) -> bool:
        """Whether an extraction of the window was made from messages of an erased user."""
        return any(extraction.revision < self.revisions[each] for each in self.erased)


class WindowsSinceErasure(Value):
    """The windows of a user that were published while the user was being erased, but belong to what the user said afterwards."""

    windows: list[tuple[str, str]] = Field(default_factory=list)
    """Id and generation of each."""


class RetainedSince(Value):
    """The limits of a tenant's retention in one partition."""

    limits: dict[str, Time] = Field(default_factory=dict)
    """By type: nothing that was said before is published."""
    held: list[str] = Field(default_factory=list)
    """Digests of the users with a legal hold."""


class TrustSince(Value):
    """The newest levels of trust of a tenant in one partition."""

    version: int
    policy: TrustPolicy
    time: Time


def _in_force(published: Iterable[Iterable[Contribution]]) -> tuple[Contribution, ...]:
    entities: dict[tuple[str, str], Contribution] = {}
    for contribution in (each for step in published for each in step):
        entity = contribution.entity_type, contribution.entity_key
        before = entities.get(entity)
        retracted = {(each.property, each.source_id) for each in contribution.changes if each.op == "retract"}
        kept = [each for each in (before.changes if before else ()) if (each.property, each.source_id) not in retracted]
        applied = [each for each in contribution.changes if each.op == "apply"]
        entities[entity] = contribution.model_copy(update={"changes": [*kept, *applied]})
    return tuple(entities[entity] for entity in sorted(entities) if entities[entity].changes)
