"""The state of one entity, its bytes, and the source positions that it has applied."""

from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from operators.errors import EntityStateError

MAX_HOLES: Final = 64
"""Holes that an entity remembers for each source."""

_FORMAT: Final = 4

Sources = dict[str, list[Any]]
"""By source, ``[last, holes]``: the last position applied, and the positions below it that were skipped, ascending.

One number for each source is enough, since its contributions come in its order (docs/internals/architecture.md, invariant 2).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityState:
    """All that is kept of one entity; bounded however many contributions there were."""

    version: int = 0
    """How many contributions have been applied."""
    live: int = 0
    """How many changes have been applied and not retracted."""
    last_time: int | None = None
    """The newest event time of an applied change, in microseconds since 1970 (UTC). It never goes back, not even by a retraction."""
    sources: Sources = field(default_factory=dict)
    message_ids: list[list[Any]] = field(default_factory=list)
    """``[time, id]`` of the newest messages that contributed, newest first. A retraction keeps them, since their window remains."""
    properties: dict[str, list[Any]] = field(default_factory=dict)
    """By property, ``[tag, state]``. The tag names the operator of the state (:class:`operators.registry.BoundOperator`)."""
    extractors: dict[str, int] = field(default_factory=dict)
    """How many of the live changes each extractor gave."""
    generation: str = ""
    known: int | None = None
    """The newest time at which something that was applied had been recorded, in microseconds since 1970 (UTC)."""
    steps: dict[str, int] = field(default_factory=dict)
    """By source, how many steps of the entity's history it has brought."""
    forgotten_steps: dict[str, int] = field(default_factory=dict)
    """By source, how many of them an erasure has taken away since."""

    @property
    def empty(self) -> bool:
        """Whether nothing is left that would make a memory: it was all retracted, or never there."""
        return self.live <= 0


def to_bytes(state: EntityState) -> bytes:
    """The state as JSON. Equal states give equal bytes."""
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
    if state.forgotten_steps:
        fields["forgotten_steps"] = state.forgotten_steps
    return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)


def from_bytes(raw: bytes) -> EntityState:
    """The state that :func:`to_bytes` wrote.

    Raises:
        EntityStateError: If the bytes are something else, or of a newer format.
    """
    try:
        fields = orjson.loads(raw)
        if fields.pop("format") != _FORMAT:
            raise EntityStateError(f"an entity's state is not of format {_FORMAT}; drop the entities' tables and rebuild them from the log")
        return EntityState(**fields)
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise EntityStateError(
            f"not the state of an entity: {raw[:80]!r}; drop the entities' tables and rebuild them from the log"
        ) from error


def with_position(sources: Sources, source: str, position: int) -> Sources | None:
    """Applies a position.

    Args:
        sources: What has been applied so far; it is not changed.
        source: The source that the position is of.
        position: What is applied.

    Returns:
        The new sources; None if the position has been applied already.
    """
    last, holes = sources.get(source, (-1, []))
    if position > last:
        return {**sources, source: [position, holes]}
    if position in holes:
        return {**sources, source: [last, [each for each in holes if each != position]]}
    return None


def with_hole(sources: Sources, source: str, position: int) -> tuple[Sources, int] | None:
    """Skips a position.

    Args:
        sources: What has been applied so far; it is not changed.
        source: The source that the position is of.
        position: What is skipped.

    Returns:
        The new sources, and how many older holes were forgotten; None if the position has been applied or skipped already.
    """
    last, holes = sources.get(source, (-1, []))
    if position <= last:
        return None
    holes = [*holes, position]
    return {**sources, source: [position, holes[-MAX_HOLES:]]}, max(0, len(holes) - MAX_HOLES)
