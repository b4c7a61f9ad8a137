"""Ledger of the events stage: its entries (:mod:`streams.stages.events.ledger_entries`) by key, compressed."""

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson

from memory.keys import encode_key
from memory.records import Contribution, Extraction, Value
from memory.trust import NO_RULES, WindowTrust
from streams.engine.state.partition_state import PartitionState
from streams.stages.events.corrections import CorrectedWindow
from streams.stages.events.ledger_entries import (
    AmendedWindow,
    CorrectedEntity,
    DroppedGeneration,
    ExpiredEvents,
    PublishedWindow,
    RetainedSince,
    TrustSince,
    WindowsSinceErasure,
)

_LEVEL: Final = 1

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
