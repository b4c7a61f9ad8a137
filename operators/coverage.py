"""Coverage of the log: for each source, the last position and the holes below it (:data:`operators.entity_state.Sources`)."""

from operators.entity_state import Sources

_NOTHING = (-1, ())


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
