"""The state of one entity, its bytes, and what an erasure leaves of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from memory.records import Contribution, TrustLevel
from memory.schema.model import EntityType
from memory.trust import LEVELS, lowest
from operators.applied_positions import Sources, with_position
from operators.errors import EntityStateError
from operators.operator import State
from operators.registry import BoundOperator, bound_operators

_FORMAT: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityState:
    """The whole state of one entity. Its size is bounded for any number of contributions."""

    version: int = 0
    """Number of applied contributions."""
    live: int = 0
    """Number of changes that were applied and not retracted."""
    last_time: int | None = None
    """The newest event time of an applied change, in microseconds since 1970 (UTC). It never decreases, not even on a retraction."""
    last_local: int | None = None
    """The newest :attr:`operators.operator.Operand.local` time of an applied change. It never decreases. None: it equals ``last_time``."""
    sources: Sources = field(default_factory=dict)
    message_ids: list[list[Any]] = field(default_factory=list)
    """``[time, id]`` of the newest contributing messages, newest first. A retraction keeps them, since their window remains."""
    properties: dict[str, list[Any]] = field(default_factory=dict)
    """``[tag, state]`` by property. The tag names the operator of the state: see :class:`operators.registry.BoundOperator`."""
    extractors: dict[str, int] = field(default_factory=dict)
    """Number of live changes by extractor."""
    trust: dict[str, int] = field(default_factory=dict)
    """Number of live changes by level of trust, without ``normal``."""
    unsupported: int = 0
    """Number of live changes by unsupported events."""
    generation: str = ""
    known: int | None = None
    """The newest recording time of applied contributions, in microseconds since 1970 (UTC)."""
    steps: dict[str, int] = field(default_factory=dict)
    """Number of steps in the entity's history by source."""
    forgotten_steps: dict[str, int] = field(default_factory=dict)
    """Number of erased steps by source."""
    erasures: Sources = field(default_factory=dict)
    """The applied erasures. One of them can have the position of another contribution, which ``sources`` then covers."""

    @property
    def newest_local(self) -> int | None:
        """The newest local time of an applied change; None if there was none."""
        return self.last_time if self.last_local is None else self.last_local

    @property
    def lowest_trust(self) -> TrustLevel | None:
        """The lowest trust in the sources of its live changes; None: ``normal``."""
        if not self.trust:
            return None
        counts = {**self.trust, "normal": self.live - sum(self.trust.values())}
        found = lowest(level for level in LEVELS if counts.get(level, 0) > 0)
        return None if found == "normal" else found

    @property
    def empty(self) -> bool:
        """Whether no live change is left, so that the entity has no memory."""
        return self.live <= 0


def current_states(state: EntityState, entity_type: EntityType) -> Iterator[tuple[str, BoundOperator, State]]:
    """The properties that have a state of their present operator: name, operator, and its state. Those of an older schema are left out.

    Args:
        state: The entity.
        entity_type: Its type.
    """
    for name, bound in bound_operators(entity_type):
        tag, inner = state.properties.get(name, (None, None))
        if tag == bound.tag:
            yield name, bound, inner


def to_bytes(state: EntityState) -> bytes:
    """The state as JSON. Equal states have equal bytes."""
    fields = {
        "format": _FORMAT,
        "version": state.version,
        "live": state.live,
        "last_time": state.last_time,
        "sources": state.sources,
        "message_ids": state.message_ids,
        "properties": state.properties,
        "extractors": state.extractors,
        "generation": state.generation,
        "known": state.known,
        "steps": state.steps,
    }
    if state.last_local is not None:
        fields["last_local"] = state.last_local
    if state.trust:
        fields["trust"] = state.trust
    if state.unsupported:
        fields["unsupported"] = state.unsupported
    if state.forgotten_steps:
        fields["forgotten_steps"] = state.forgotten_steps
    if state.erasures:
        fields["erasures"] = state.erasures
    return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)


def from_bytes(raw: bytes) -> EntityState:
    """Reads the result of :func:`to_bytes`.

    Raises:
        EntityStateError: If the bytes are invalid, or of another format.
    """
    try:
        fields = orjson.loads(raw)
        if fields.pop("format") != _FORMAT:
            raise EntityStateError(
                f"the format of an entity's state is not {_FORMAT}; drop the entities' tables and rebuild them from the log"
            )
        return EntityState(**fields)
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise EntityStateError(
            f"not the state of an entity: {raw[:80]!r}; drop the entities' tables and rebuild them from the log"
        ) from error


def has_forgotten(state: EntityState, erasure: Contribution) -> bool:
    """Whether an erasure was applied before: a replay has it again, after contributions that came later."""
    place = erasure.source, erasure.position
    # An erasure in the dead letters has left a hole in the applied positions, below erasures that came later.
    return with_position(state.sources, *place) is None and with_position(state.erasures, *place) is None


def with_erasure(state: EntityState, erasure: Contribution) -> EntityState:
    """The state with an erasure among those that were applied."""
    place = erasure.source, erasure.position
    sources, erasures = with_position(state.sources, *place), with_position(state.erasures, *place)
    return replace(state, sources=sources or state.sources, erasures=erasures or state.erasures)


def emptied(state: EntityState) -> EntityState:
    """The state without any content: it knows which contributions and erasures were applied, and which history was removed."""
    return EntityState(
        version=state.version,
        sources=state.sources,
        generation=state.generation,
        steps=state.steps,
        forgotten_steps=state.steps,
        erasures=state.erasures,
    )


def without_messages(state: EntityState, erased: Contribution) -> EntityState:
    """The entity without the ids of the messages in an erasure."""
    names = {*(erased.forgotten_messages or ())}
    return replace(state, message_ids=[each for each in state.message_ids if each[1] not in names])
