"""The rows of the entities stage: the state of an entity, and the timer of one that changes as event time goes by."""

from dataclasses import dataclass
from struct import Struct
from typing import Final

from memory.records import Contribution
from operators.entity_state import EntityState, from_bytes, to_bytes

_TIMER: Final = b"timer "
_TIMES: Final = Struct(">qq")


@dataclass(frozen=True, slots=True)
class TimerRow:
    """When an entity changes next by itself."""

    tick: Contribution
    """What is sent then, its ``time`` being that moment."""
    seen_ms: int
    """The newest event time that the entity had brought, in milliseconds: the partition's clock begins there after a restart."""
    seen_at_ms: int
    """When that was, by the wall clock: a restart does not shorten how long the partition has been silent."""


EntityRow = EntityState | TimerRow


class EntityCodec:
    """Writes and reads the stage's rows."""

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
