"""Ledger of the events stage: publications and corrections of each window, and dropped generations."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import orjson
from pydantic import Field

from memory.keys import encode_key
from memory.records import Contribution, Extraction, Value
from memory.records.limits import Time
from memory.trust import NO_RULES, TrustPolicy, WindowTrust
from streams.engine.state.partition_state import PartitionState
from streams.stages.events.corrections import CorrectedWindow

MAX_CORRECTIONS: Final = 8
"""Corrections of one publication whose contributions are kept separately, so that a replay repeats them."""
_LEVEL: Final = 1


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


Entry = (
    PublishedWindow
    | CorrectedWindow
    | CorrectedEntity
    | DroppedGeneration
    | ExpiredEvents
    | AmendedWindow
    | WindowsSinceErasure
    | RetainedSince
    | TrustSince
)
E = TypeVar("E", bound=Entry)


@dataclass(frozen=True, slots=True)
class PackedEntry:
    """A compressed entry, also in memory: a publication is seldom read again, and takes many times the space uncompressed."""

    raw: bytes

    @classmethod
    def of(cls, entry: Entry) -> "PackedEntry":
        """Packs an entry. Equal entries give equal bytes."""
        return cls(zlib.compress(orjson.dumps([type(entry).__name__, _fields(entry)]), _LEVEL))

    def entry(self) -> Entry:
        """Unpacks the entry."""
        kind, fields = orjson.loads(zlib.decompress(self.raw))
        return _READERS[kind](fields)


class LedgerCodec:
    """Serializes the ledger's entries."""

    def encode(self, state: PackedEntry) -> bytes:
        """The entry's bytes."""
        return state.raw

    def decode(self, raw: bytes) -> PackedEntry:
        """The entry that :meth:`encode` wrote."""
        return PackedEntry(raw)


class Ledger:
    """The entries of one partition, in the current step.

    Args:
        state: The partition's state.
    """

    def __init__(self, state: PartitionState[PackedEntry]) -> None:
        self._state = state

    def get(self, key: bytes, kind: type[E]) -> E | None:
        """The entry of a key, which determines its kind; None if there is none."""
        packed = self._state.get(key)
        entry = None if packed is None else packed.entry()
        assert entry is None or isinstance(entry, kind)
        return entry

    def put(self, key: bytes, entry: Entry, *, position: int) -> None:
        """Changes the entry of a key; ``position`` is the offset of the record that changes it."""
        self._state.put(key, PackedEntry.of(entry), position=position)


def corrected_window(state: PartitionState[PackedEntry], tenant: str, window_id: str) -> CorrectedWindow:
    """The corrections of a window, in all generations."""
    return Ledger(state).get(corrected_window_key(tenant, window_id), CorrectedWindow) or CorrectedWindow()


def published_key(window_id: str, generation: str) -> bytes:
    """The key of the publication of a window in one generation."""
    return encode_key(window_id, generation or "-")


def corrected_entity_key(tenant: str, entity_type: str, entity_key: str, generation: str) -> bytes:
    """The key of an entity's corrections; ``entity_key`` is as :func:`memory.keys.entity_key` builds it; no generation: the first."""
    # Five parts; the key of a window's corrections has three.
    return encode_key("corrected", tenant, entity_type, entity_key, generation or "-")


def corrected_window_key(tenant: str, window_id: str) -> bytes:
    """The key of a window's corrections, in all generations."""
    # Three parts; the key of a window's publication has two.
    return encode_key("corrected", tenant, window_id)


def amended_key(tenant: str, window_id: str) -> bytes:
    """The key of a window's changed messages, in all generations."""
    # Three parts; the key of a window's publication has two.
    return encode_key("amended", tenant, window_id)


def since_erasure_key(tenant: str, user: str) -> bytes:
    """The key of the windows that were published during the erasure of their user."""
    # Three parts; a window's key has two.
    return encode_key("since-erasure", tenant, user)


def retained_key(tenant: str) -> bytes:
    """The key of the limits of a tenant's retention."""
    # Three parts; a window's key has two.
    return encode_key("retained", tenant, "-")


def trust_key(tenant: str) -> bytes:
    """The key of a tenant's levels of trust."""
    # Three parts; a window's key has two.
    return encode_key("trust", tenant, "-")


def expired_events(state: PartitionState[PackedEntry], window_id: str, generation: str) -> frozenset[str]:
    """The expired events of a window."""
    found = Ledger(state).get(expired_key(window_id, generation), ExpiredEvents)
    return frozenset(() if found is None else found.ids)


def revive(state: PartitionState[PackedEntry], window_id: str, generation: str, ids: Iterable[str], *, position: int) -> None:
    """Makes events memories again, whether or not they had expired; ``position`` is the offset of the record that does so."""
    expired = expired_events(state, window_id, generation)
    left = expired.difference(ids)
    if left == expired:
        return
    key = expired_key(window_id, generation)
    if left:
        Ledger(state).put(key, ExpiredEvents(tuple(sorted(left))), position=position)
    else:
        state.delete(key, position=position)


def expired_key(window_id: str, generation: str) -> bytes:
    """The key of a window's expired events."""
    # Three parts; a window's key has two.
    return encode_key("expired", window_id, generation or "-")


def _published(fields: Any) -> PublishedWindow:
    return PublishedWindow(
        fields["position"],
        Extraction.from_fields(fields["extraction"]),
        _contributions(fields["contributions"]),
        tuple(_contributions(each) for each in fields["corrections"]),
        _contributions(fields["former"]),
        WindowTrust.model_validate(fields["trust"]) if "trust" in fields else NO_RULES,
    )


def _contributions(fields: Any) -> tuple[Contribution, ...]:
    return tuple(Contribution.from_fields(each) for each in fields)


_READERS: Final[dict[str, Callable[[Any], Entry]]] = {
    "PublishedWindow": _published,
    "CorrectedWindow": CorrectedWindow.model_validate,
    "CorrectedEntity": CorrectedEntity.model_validate,
    "ExpiredEvents": lambda fields: ExpiredEvents(tuple(fields["ids"])),
    "AmendedWindow": AmendedWindow.model_validate,
    "WindowsSinceErasure": WindowsSinceErasure.model_validate,
    "RetainedSince": RetainedSince.model_validate,
    "TrustSince": TrustSince.model_validate,
    "DroppedGeneration": lambda fields: DroppedGeneration(fields["drops"]),
}


def _fields(state: Entry) -> dict[str, Any]:
    if isinstance(state, DroppedGeneration):
        return {"drops": state.drops}
    if isinstance(state, ExpiredEvents):
        return {"ids": list(state.ids)}
    if isinstance(state, PublishedWindow):
        return {
            "position": state.position,
            "extraction": _plain(state.extraction),
            "contributions": [_plain(each) for each in state.contributions],
            "corrections": [[_plain(contribution) for contribution in each] for each in state.corrections],
            "former": [_plain(each) for each in state.former],
            **({} if state.trust == NO_RULES else {"trust": _plain(state.trust)}),
        }
    return _plain(state)


def _plain(value: Value) -> dict[str, Any]:
    return value.model_dump(mode="json", exclude_none=True)


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
