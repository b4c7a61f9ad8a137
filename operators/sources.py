"""What an entity has applied of each source: one number each (docs/architecture.md, invariant 2).

One number is enough, since a source's contributions come in its order.
"""

from typing import Any, Final

MAX_HOLES: Final = 64
"""Skipped positions that a source remembers."""

Sources = dict[str, list[Any]]
"""By source, ``[last position, holes]``: the positions at or below the last that were skipped, ascending."""


def admitted(sources: Sources, source: str, position: int) -> Sources | None:
    """The sources once a position has been applied; None if it has been already."""
    last, holes = sources.get(source, (-1, []))
    if position > last:
        return {**sources, source: [position, holes]}
    if position in holes:
        return {**sources, source: [last, [each for each in holes if each != position]]}
    return None


def with_hole(sources: Sources, source: str, position: int) -> tuple[Sources, int] | None:
    """The sources once a position has been skipped, and how many older holes were forgotten for it; None if the position is done."""
    last, holes = sources.get(source, (-1, []))
    if position <= last:
        return None
    holes = [*holes, position]
    return {**sources, source: [position, holes[-MAX_HOLES:]]}, max(0, len(holes) - MAX_HOLES)
