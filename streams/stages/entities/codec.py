"""Rows of the entities stage and their keys: the state of an entity, and the timer of an entity that changes as event time passes."""

from dataclasses import dataclass
from struct import Struct
from typing import Final

from memory.keys import encode_key
from memory.records import Contribution
from operators.entities.entity_state import EntityState, from_bytes, to_bytes

_TIMER: Final = b"timer "
_TIMES: Final = Struct(">qq")


@dataclass(frozen=True, slots=True)
class TimerRow:
    """The next time-dependent change of an entity."""

    tick: Contribution
    """The contribution to send then; its ``time`` is that moment."""
    seen_ms: int
    """The newest event time of the entity, in milliseconds: after a restart, the partition's clock begins there."""
    seen_at_ms: int
    """The wall clock at that event: a restart does not shorten the partition's silence."""


EntityRow = EntityState | TimerRow


class EntityCodec:
    """Serializes the stage's rows."""

    def encode(self, state: EntityRow) -> bytes:
        """The row's bytes."""
        if isinstance(state, TimerRow):
            return _TIMER + _TIMES.pack(state.seen_ms, state.seen_at_ms) + state.tick.to_json()
        return to_bytes(state)

    def decode(self, raw: bytes) -> EntityRow:
        """The row that :meth:`encode` wrote."""
        if raw.startswith(_TIMER):
            start = len(_TIMER) + _TIMES.size
            return TimerRow(Contribution.from_json(raw[start:]), *_TIMES.unpack(raw[len(_TIMER) : start]))
        return from_bytes(raw)


def row_key(contribution: Contribution) -> bytes:
    """The key of the row of a contribution's entity."""
    return encode_key(*_parts_of(contribution))


def outcome_key(contribution: Contribution, property_name: str, part: str) -> bytes:
    """The key of the newest outcome of a part of a property in the topic ``merged``; an empty part: the property has only one."""
    return encode_key(*_parts_of(contribution), property_name, part or "-")


def _parts_of(contribution: Contribution) -> tuple[str, str, str, str]:
    return contribution.tenant, contribution.entity_type, contribution.entity_key, contribution.generation or "-"
