"""The ledger of the events stage: what is published for each window, what was corrected of it, and which generations were dropped."""

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import orjson
from pydantic import Field

from memory.keys import encode_key
from memory.records import Contribution, Extraction, Value
from streams.engine.state.partition_state import PartitionState
from streams.stages.events.corrections import CorrectedWindow

MAX_CORRECTIONS: Final = 8
"""Corrections of one publication whose contributions are kept apart, so that a replay repeats them."""
MAX_ENTITY_CORRECTIONS: Final = 16
"""Of one entity, that can be reverted."""
_LEVEL: Final = 1


@dataclass(frozen=True, slots=True)
class PublishedWindow:
    """What is published for one window in one generation."""

    position: int
    """The offset of the extraction; of a redriven one its original offset."""
    extraction: Extraction
    """What was extracted, as far as it is published."""
    contributions: tuple[Contribution, ...]
    """What the extraction contributed, the corrections that stood included."""
    corrections: tuple[tuple[Contribution, ...], ...] = ()
    """What each later correction contributed."""
    former: tuple[Contribution, ...] = ()
    """What earlier extractions contributed to types and fields that the schema has no more. It stays as it is, whatever becomes of the
    events, until the schema has them again or the generation is dropped: an event's id may be another event's by now."""

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """The memories that it has become."""
        return tuple(event.id for event in self.extraction.events)

    def in_force(self) -> tuple[Contribution, ...]:
        """The contributions with the applications alone that nothing has retracted since."""
        return _in_force([self.contributions, *self.corrections])

    def with_correction(self, contributions: Iterable[Contribution]) -> "PublishedWindow":
        """With what a correction contributed."""
        corrections = (*self.corrections, tuple(contributions))
        if len(corrections) <= MAX_CORRECTIONS:
            return replace(self, corrections=corrections)
        return replace(self, contributions=_in_force([self.contributions, corrections[0]]), corrections=corrections[1:])


class CorrectedEntity(Value):
    """The corrections of one entity's fields."""

    standing: list[Contribution] = Field(default_factory=list)
    """What each has contributed, oldest first: so many can be reverted."""
    known: list[str] = Field(default_factory=list)
    """Ids of the newest corrections."""


@dataclass(frozen=True, slots=True)
class DroppedGeneration:
    """A tenant's generation was dropped."""

    drops: int
    """How often. An extraction that bears less was begun before, and counts no more."""


@dataclass(frozen=True, slots=True)
class ExpiredEvents:
    """Events of one window in one generation that were let go: they are no memories of their own any more."""

    ids: tuple[str, ...]


Entry = PublishedWindow | CorrectedWindow | CorrectedEntity | DroppedGeneration | ExpiredEvents
E = TypeVar("E", bound=Entry)


@dataclass(frozen=True, slots=True)
class PackedEntry:
    """An entry as it is kept, also in memory: what a window published is seldom read again, and takes many times the room unpacked."""

    raw: bytes

    @classmethod
    def of(cls, entry: Entry) -> "PackedEntry":
        """The entry packed. Equal entries give equal bytes."""
        return cls(zlib.compress(orjson.dumps([type(entry).__name__, _fields(entry)]), _LEVEL))

    def entry(self) -> Entry:
        """The entry."""
        kind, fields = orjson.loads(zlib.decompress(self.raw))
        return _READERS[kind](fields)


class LedgerCodec:
    """Writes and reads what the ledger holds."""

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
        """The entry of a key; None if there is none.

        Args:
            key: The key, which tells what kind of entry it has.
            kind: That kind.
        """
        packed = self._state.get(key)
        entry = None if packed is None else packed.entry()
        assert entry is None or isinstance(entry, kind)
        return entry

    def put(self, key: bytes, entry: Entry, *, position: int) -> None:
        """Changes the entry of a key.

        Args:
            key: The key.
            entry: Its new entry.
            position: The offset of the record that changes it.
        """
        self._state.put(key, PackedEntry.of(entry), position=position)


def corrected_window(state: PartitionState[PackedEntry], tenant: str, window_id: str) -> CorrectedWindow:
    """What was corrected of a window, in all generations.

    Args:
        state: The partition's state.
        tenant: Whose window.
        window_id: The window.
    """
    return Ledger(state).get(corrected_window_key(tenant, window_id), CorrectedWindow) or CorrectedWindow()


def published_key(window_id: str, generation: str) -> bytes:
    """The key of what is published of a window in one generation."""
    return encode_key(window_id, generation or "-")


def corrected_entity_key(tenant: str, entity_type: str, entity_key: str, generation: str) -> bytes:
    """The key of an entity's corrections.

    Args:
        tenant: Whose entity.
        entity_type: Its type.
        entity_key: Its key, as :func:`memory.keys.entity_key` builds it.
        generation: Its generation; empty: the first.
    """
    # Five parts, where a window's corrections have three.
    return encode_key("corrected", tenant, entity_type, entity_key, generation or "-")


def corrected_window_key(tenant: str, window_id: str) -> bytes:
    """The key of a window's corrections, in all generations."""
    # Three parts, where what is published of a window in one generation has two.
    return encode_key("corrected", tenant, window_id)


def expired_events(state: PartitionState[PackedEntry], window_id: str, generation: str) -> frozenset[str]:
    """The events of a window that were let go.

    Args:
        state: The partition's state.
        window_id: The window.
        generation: Of the extraction.
    """
    found = Ledger(state).get(expired_key(window_id, generation), ExpiredEvents)
    return frozenset(() if found is None else found.ids)


def revive(state: PartitionState[PackedEntry], window_id: str, generation: str, ids: Iterable[str], *, position: int) -> None:
    """Events are memories again, whether or not they were let go.

    Args:
        state: The partition's state.
        window_id: Their window.
        generation: Of the extraction.
        ids: The events.
        position: The offset of the record that brings them back.
    """
    gone = expired_events(state, window_id, generation)
    left = gone.difference(ids)
    if left == gone:
        return
    key = expired_key(window_id, generation)
    if left:
        Ledger(state).put(key, ExpiredEvents(tuple(sorted(left))), position=position)
    else:
        state.delete(key, position=position)


def expired_key(window_id: str, generation: str) -> bytes:
    """The key of what was let go of a window."""
    # Three parts, where a window's key has two.
    return encode_key("expired", window_id, generation or "-")


def _published(fields: Any) -> PublishedWindow:
    return PublishedWindow(
        fields["position"],
        Extraction.from_fields(fields["extraction"]),
        _contributions(fields["contributions"]),
        tuple(_contributions(each) for each in fields["corrections"]),
        _contributions(fields["former"]),
    )


def _contributions(fields: Any) -> tuple[Contribution, ...]:
    return tuple(Contribution.from_fields(each) for each in fields)


_READERS: Final[dict[str, Callable[[Any], Entry]]] = {
    "PublishedWindow": _published,
    "CorrectedWindow": CorrectedWindow.model_validate,
    "CorrectedEntity": CorrectedEntity.model_validate,
    "ExpiredEvents": lambda fields: ExpiredEvents(tuple(fields["ids"])),
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
