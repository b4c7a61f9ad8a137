"""Digest of a summarised period: its most important events, and the number of further ones.

Without an LLM, a summary is an extract. The same events give the same digest, in any order and however they are split into parts. A digest
keeps some more events than a summary names, so that the summary keeps its length after retractions.
"""

from bisect import bisect_left
from typing import Any, Final

NAMED: Final = 20
"""Events that a summary names, however long its period is."""
CAPACITY: Final = 30
"""Events that are kept of a period."""

Key = list[Any]
"""``[-importance in thousandths, local time, event id, UTC offset]``: lower is more important; of equal ones, the earlier. An offset of 0
is left out."""
Kept = list[Any]
"""``[key, text, message ids, count]``."""
Digest = list[Any]
"""``[kept, dropped, best dropped]``: the kept events by key, how many others there are, and the best key among those."""


def with_event(digest: Digest | None, key: Key, text: str, message_ids: list[str], times: int) -> Digest | None:
    """A digest with an event added or retracted.

    Retracted events are not replaced from the dropped ones, whose texts are not kept: a summary names fewer events once more are retracted
    than are kept in reserve.

    Args:
        digest: The digest; it is not changed.
        key: The event's sort key.
        text: Its text.
        message_ids: Its evidence.
        times: 1; -1 retracts the event.

    Returns:
        The new digest; None once nothing is left.
    """
    kept, dropped, best_dropped = digest or ([], 0, None)
    if best_dropped is not None and key >= best_dropped:
        return _bounded(kept, dropped + times, best_dropped)
    return _bounded(_inserted(kept, [key, text, message_ids, times]), dropped, best_dropped)


def merged(one: Digest | None, other: Digest) -> Digest | None:
    """The digest of the events of both."""
    if one is None:
        return other
    best_dropped = min((each for each in (one[2], other[2]) if each is not None), default=None)
    dropped = one[1] + other[1]
    kept: list[Kept] = []
    for entry in [*one[0], *other[0]]:
        if best_dropped is not None and entry[0] >= best_dropped:
            dropped += entry[3]
        else:
            kept = _inserted(kept, entry)
    return _bounded(kept, dropped, best_dropped)


def count_of(digest: Digest) -> int:
    """Number of events that it represents."""
    return int(sum(each[3] for each in digest[0]) + digest[1])


def present(digest: Digest) -> list[Kept]:
    """The events that a summary names, the most important first."""
    return [each for each in digest[0] if each[3] > 0][:NAMED]


def _bounded(kept: list[Kept], dropped: int, best_dropped: Key | None) -> Digest | None:
    if len(kept) > CAPACITY:
        # Drop all entries of a key together: later entries of that key are dropped, too.
        best_dropped = kept[CAPACITY][0]
        dropped += sum(each[3] for each in kept if each[0] >= best_dropped)
        kept = [each for each in kept if each[0] < best_dropped]
    return [kept, dropped, best_dropped if dropped else None] if kept or dropped else None


def _inserted(kept: list[Kept], entry: Kept) -> list[Kept]:
    index = bisect_left(kept, _place(entry), key=_place)
    if index < len(kept) and _place(kept[index]) == _place(entry):
        count = kept[index][3] + entry[3]
        return [*kept[:index], *([[*kept[index][:3], count]] if count else []), *kept[index + 1 :]]
    return [*kept[:index], entry, *kept[index:]]


def _place(entry: Kept) -> tuple[Key, str]:
    """The sort key of an entry; a corrected event has another text under the same key."""
    return entry[0], entry[1]
