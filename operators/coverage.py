"""How far the log is covered: by source, the last position and the holes below it (:data:`operators.entity_state.Sources`)."""

from operators.entity_state import Sources

_NOTHING = (-1, ())


def covers(sources: Sources, source: str, position: int) -> bool:
    """Whether a position is among those covered.

    Args:
        sources: What is covered.
        source: The source that the position is of.
        position: The position.
    """
    last, holes = sources.get(source, _NOTHING)
    return bool(position <= last and position not in holes)


def joined(one: Sources, other: Sources) -> Sources:
    """What either covers."""
    both: Sources = {}
    for source in sorted({*one, *other}):
        last, holes = one.get(source, _NOTHING)
        other_last, other_holes = other.get(source, _NOTHING)
        open_positions = {*holes, *other_holes}
        uncovered = sorted(each for each in open_positions if not covers(one, source, each) and not covers(other, source, each))
        both[source] = [max(last, other_last), uncovered]
    return both


def is_beyond(one: Sources, other: Sources) -> bool:
    """Whether one covers all that the other does, and more."""
    return joined(one, other) == joined(one, {}) != joined(other, {})
