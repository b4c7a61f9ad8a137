"""Statistics over the last days of an entity: one state a UTC day, so that a day that falls out of the window takes all of it along."""

from typing import Any

from operators.statistics import Statistic

Days = dict[str, Any]
"""State by day number (days since 1970-01-01 UTC)."""


def add(statistic: Statistic, days: Days | None, value: object, times: int, *, day: int, newest: int, length: int) -> Days | None:
    """Adds a value to its day, and lets go of the days that have fallen out of the window.

    Args:
        statistic: What is counted.
        days: The state so far; it is not changed.
        value: See :meth:`operators.statistics.Statistic.add`.
        times: So often; taken back if negative.
        day: The value's day. Outside the window it changes nothing: its day is gone for good, since the newest day never goes back.
        newest: The newest day of the entity, at least ``day``.
        length: How many days count.

    Returns:
        The days left, at most ``length``; None if there is none.
    """
    kept = pruned(days or {}, newest=newest, length=length)
    if _is_inside(day, newest, length):
        state = statistic.add(kept.pop(str(day), None), value, times)
        if state is not None:
            kept[str(day)] = state
    else:
        statistic.add(None, value, times)
    return kept or None


def pruned(days: Days, *, newest: int, length: int) -> Days:
    """The days that are in the window; a copy."""
    return {name: state for name, state in days.items() if _is_inside(int(name), newest, length)}


def _is_inside(day: int, newest: int, length: int) -> bool:
    return newest - length < day
