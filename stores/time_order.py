"""Pages of memories by the time of their events, for a reader who follows them while other memories are written.

An engine orders points by an index of times, but cannot continue after a point: it begins at a time. So a page continues after a place,
which is a time and an id: first the rest of the memories of that time, by id, then the memories of the times after it. The place stays
right whatever is written meanwhile.

A memory that happened in a period has two times in the index, its beginning and its end. Its place is at the one that the order reaches
first: newest first, at its end.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, Self

from memory.dates.event_date import last_moment
from memory.records import Memory
from stores.filters import MemoryFilter

TimeOrder = Literal["newest", "oldest"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_STEP: Final = timedelta.resolution
_PLACE: Final = re.compile(r"(-?[0-9]{1,18})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_MOST_ROUNDS: Final = 8
"""Limit of the requests for the times after a place: many periods whose beginning is reached may follow each other."""
_LAST_ID: Final = "ffffffff-ffff-ffff-ffff-ffffffffffff"


@dataclass(frozen=True, slots=True)
class TimePlace:
    """A place in the order."""

    time: datetime
    id: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Reads a place.

        Raises:
            ValueError: If it is none.
        """
        match = _PLACE.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a place in an order by time")
        try:
            return cls(_EPOCH + timedelta(microseconds=int(match[1])), match[2])
        except OverflowError as error:
            raise ValueError(f"{text!r} is not a place in an order by time") from error

    def __str__(self) -> str:
        return f"{(self.time - _EPOCH) // _STEP}_{self.id}"


@dataclass(frozen=True, slots=True)
class TimePage:
    """A page."""

    memories: list[Memory]
    """It may have fewer than requested, or none."""
    next: TimePlace | None
    """The place after which the next page begins. None: this is the last page."""


class TimePager:
    """Reads pages.

    Args:
        scroll: Memories that pass a filter, by id, beginning with an id: at most a number of them.
        by_time: Memories that pass a filter, in an order, beginning with a time: at most a number of them. A memory with two times may be
            among them twice.
    """

    def __init__(
        self,
        *,
        scroll: Callable[[MemoryFilter, str | None, int], Awaitable[list[Memory]]],
        by_time: Callable[[MemoryFilter, TimeOrder, datetime | None, int], Awaitable[list[Memory]]],
    ) -> None:
        self._scroll = scroll
        self._by_time = by_time

    async def page(self, memory_filter: MemoryFilter, order: TimeOrder, *, after: TimePlace | None, limit: int) -> TimePage:
        """See :meth:`stores.port.MemoryStore.page_by_time`."""
        wanted = limit + 1
        found = [] if after is None else await self._at(memory_filter, order, after, wanted)
        place = after
        for _ in range(_MOST_ROUNDS):
            if len(found) >= wanted:
                break
            count = 2 * (wanted - len(found))
            read = await self._by_time(memory_filter, order, None if place is None else _beyond(order, place.time), count)
            times, reached = _reached(read, order, place)
            if len(read) < count:
                return _cut([*found, *_sorted(times, order)], limit, order)
            # Other memories of the last time may follow: all of that time are read by id.
            found += _sorted([each for each in times if _time(each, order) != reached], order)
            place = TimePlace(reached, _LAST_ID)
            if len(found) < wanted:
                found += await self._at(memory_filter, order, TimePlace(reached, ""), wanted - len(found))
        page = _cut(found, limit, order)
        return page if page.next is not None or place is None else TimePage(page.memories, place)

    async def _at(self, memory_filter: MemoryFilter, order: TimeOrder, place: TimePlace, limit: int) -> list[Memory]:
        """The memories of one time, after an id."""
        found: list[Memory] = []
        last = place.id
        while len(found) < limit:
            count = limit + 1
            read = await self._scroll(replace(memory_filter, time_is=place.time), last or None, count)
            found += [each for each in read if each.id != last and _time(each, order) == place.time]
            if len(read) < count:
                break
            last = read[-1].id
        return found[:limit]


def _time(memory: Memory, order: TimeOrder) -> datetime:
    return last_moment(memory.event_time, memory.date) if order == "newest" else memory.event_time


def _beyond(order: TimeOrder, time: datetime) -> datetime:
    """The first time after a time, in an order."""
    return time - _STEP if order == "newest" else time + _STEP


def _reached(read: list[Memory], order: TimeOrder, place: TimePlace | None) -> tuple[list[Memory], datetime]:
    """The memories whose place is after a place, each once, and the time of the last one that was read."""
    new: dict[str, Memory] = {}
    reached = _EPOCH
    for each in read:
        time = _time(each, order)
        is_before = place is not None and (time >= place.time if order == "newest" else time <= place.time)
        if is_before or each.id in new:
            # Its second time.
            reached = each.event_time if order == "newest" else last_moment(each.event_time, each.date)
        else:
            new[each.id] = each
            reached = time
    return list(new.values()), reached


def _sorted(memories: list[Memory], order: TimeOrder) -> list[Memory]:
    by_id = sorted(memories, key=lambda each: each.id)
    return sorted(by_id, key=lambda each: _time(each, order), reverse=order == "newest")


def _cut(found: list[Memory], limit: int, order: TimeOrder) -> TimePage:
    if len(found) <= limit:
        return TimePage(found, None)
    last = found[limit - 1]
    return TimePage(found[:limit], TimePlace(_time(last, order), last.id))
