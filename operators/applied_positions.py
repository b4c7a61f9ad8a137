"""The positions of the log that an entity has applied: each contribution counts once, whatever is repeated, redriven or copied. Pure."""

from collections.abc import Mapping
from typing import Any, Final

Sources = dict[str, list[Any]]
"""``[last, holes]`` by source: the last applied position, and the skipped positions below it, ascending.

One number per source is enough, since the contributions of a source arrive in its order (docs/internals/architecture.md, invariant 2).
"""

MAX_HOLES: Final = 64
"""Most holes of a source."""
_NOTHING: Final = (-1, ())
"""The entry of a source of which nothing is applied."""

COPIED: Final = "|"
"""Separates the source of a copied record from the partition of its copy: ``extractions/3|9``.

Growth distributes the records of a partition among several new ones. A rebuild then receives them in several streams, each in order, so
each stream has its own last position. Their common source remains the name in everything that operators keep."""
BEFORE_GROWTH: Final = "*"
"""Takes the place of the copy's partition for the positions that were applied before a growth: ``extractions/3|*``."""


def source_without_copy(source: str) -> str:
    """The source of a record, whether or not it was copied."""
    return source.partition(COPIED)[0]


def merged_sources(sources: Sources) -> Sources:
    """The sources without copies: the streams of a source count as one."""
    if not any(COPIED in name for name in sources):
        return sources
    merged: Sources = {}
    for name, (last, holes) in sorted(sources.items()):
        base = source_without_copy(name)
        known_last, known_holes = merged.get(base, _NOTHING)
        merged[base] = [max(last, known_last), sorted({*holes, *known_holes})]
    return merged


def grown_sources(sources: Sources) -> Sources:
    """The sources of an entity after a growth: everything applied so far was applied before it."""
    return {f"{name}{COPIED}{BEFORE_GROWTH}": entry for name, entry in merged_sources(sources).items()}


def with_position(sources: Sources, source: str, position: int) -> Sources | None:
    """The sources after a position is applied; None if it was applied already."""
    base, is_copied, _ = source.partition(COPIED)
    before = f"{base}{COPIED}{BEFORE_GROWTH}"
    last, holes = sources.get(before, _NOTHING)
    if position in holes:
        return {**sources, before: [last, [each for each in holes if each != position]]}
    if is_copied and position <= last:
        return None
    last, holes = sources.get(source, (-1, []))
    if position > last:
        return {**sources, source: [position, holes]}
    if position in holes:
        return {**sources, source: [last, [each for each in holes if each != position]]}
    return None


def with_hole(sources: Sources, source: str, position: int) -> tuple[Sources, int] | None:
    """The sources after a position is skipped, and the number of dropped holes; None if it was applied or skipped already."""
    base, is_copied, _ = source.partition(COPIED)
    if is_copied and position <= sources.get(f"{base}{COPIED}{BEFORE_GROWTH}", _NOTHING)[0]:
        return None
    last, holes = sources.get(source, (-1, []))
    if position <= last:
        return None
    holes = [*holes, position]
    return {**sources, source: [position, holes[-MAX_HOLES:]]}, max(0, len(holes) - MAX_HOLES)


def last_positions(sources: Sources) -> dict[str, int]:
    """By source, the last position that was applied."""
    return {source: int(last) for source, (last, _) in sources.items()}


def reaches(known: Mapping[str, int], earlier: Mapping[str, int]) -> bool:
    """Whether positions, as :func:`last_positions` gives them, reach as far as earlier ones in every source."""
    return all(known.get(source, -1) >= last for source, last in earlier.items())


def covers(sources: Sources, source: str, position: int) -> bool:
    """Whether the sources cover a position of a source."""
    last, holes = sources.get(source, _NOTHING)
    return bool(position <= last and position not in holes)


def joined(one: Sources, other: Sources) -> Sources:
    """The positions that at least one of both covers."""
    both: Sources = {}
    for source in sorted({*one, *other}):
        last, holes = one.get(source, _NOTHING)
        other_last, other_holes = other.get(source, _NOTHING)
        open_positions = {*holes, *other_holes}
        uncovered = sorted(each for each in open_positions if not covers(one, source, each) and not covers(other, source, each))
        both[source] = [max(last, other_last), uncovered]
    return both


def is_beyond(one: Sources, other: Sources) -> bool:
    """Whether one covers all positions of the other, and more."""
    return joined(one, other) == joined(one, {}) != joined(other, {})
