"""Retention: how long a tenant keeps results of each type, and its raw messages. Pure.

The age of an event is that of the newest message that states it (``said_at``): "I was born in 1990" is as old as its message. The age of a
patch is that of its window.
"""

import re
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import AfterValidator

from memory.records.extraction import EntityPatch, Event, Extraction
from memory.records.message import Name, Window

MESSAGES: Final = "messages"
"""The name of the raw messages in a policy."""
READS: Final = "reads"
"""The name of the read audit in a policy."""
OTHERS: Final = "*"
"""The name in a policy of every type, and of the read audit, if the policy does not name it."""

_PERIOD: Final = re.compile(r"([1-9][0-9]{0,5})([hdwy])")
_UNITS: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1), "y": timedelta(days=365)}
_LONGEST: Final = timedelta(days=365 * 100)


def _checked(period: str) -> str:
    duration_of(period)
    return period


Period = Annotated[str, AfterValidator(_checked)]
"""A whole number of hours, days, weeks or years of 365 days: ``12h``, ``90d``, ``8w``, ``1y``."""

RetentionPolicy = dict[Name, Period]
"""The periods by event or entity type. :data:`MESSAGES` names the raw messages, :data:`READS` the read audit, :data:`OTHERS` every other
type and the read audit. What has no period is kept forever."""

Limits = Mapping[str, datetime]
"""By type as in a policy: results that were said earlier are removed."""


def duration_of(period: str) -> timedelta:
    """The length of a period.

    Raises:
        ValueError: If it is not a period, or longer than 100 years.
    """
    match = _PERIOD.fullmatch(period)
    if match is None:
        raise ValueError(f"{period!r} is not a period: write a whole number and a unit: 12h, 90d, 8w, 1y")
    length = int(match[1]) * _UNITS[match[2]]
    if length > _LONGEST:
        raise ValueError(f"{period!r} is longer than 100 years; leave the type out to keep it forever")
    return length


def limits_at(policy: Mapping[str, str], now: datetime) -> dict[str, datetime]:
    """The limits of types at a time, without those of the raw messages and of the read audit."""
    return {name: now - duration_of(period) for name, period in sorted(policy.items()) if name not in (MESSAGES, READS)}


def messages_limit(policy: Mapping[str, str], now: datetime) -> datetime | None:
    """The limit of raw messages at a time; None: they are kept forever."""
    return now - duration_of(policy[MESSAGES]) if MESSAGES in policy else None


def reads_limit(policy: Mapping[str, str], now: datetime) -> datetime | None:
    """The limit of the read audit at a time; None: it is kept forever."""
    period = policy.get(READS, policy.get(OTHERS))
    return None if period is None else now - duration_of(period)


def limit_of(limits: Limits, type_name: str) -> datetime | None:
    """The limit of a type; None: its results are kept forever."""
    return limits.get(type_name, limits.get(OTHERS))


def merged_limits(one: Limits, other: Limits) -> dict[str, datetime]:
    """The later limit of each type: what was removed does not return when a period becomes longer."""
    names = sorted({*one, *other})
    return {name: max(limit for limits in (one, other) if (limit := limits.get(name)) is not None) for name in names}


def is_older(said_at: datetime, limits: Limits, type_name: str) -> bool:
    """Whether something is beyond its limit.

    Args:
        said_at: When it was said.
        limits: The limits in force.
        type_name: Its type.
    """
    limit = limit_of(limits, type_name)
    return limit is not None and said_at < limit


def newest_time(window: Window) -> datetime | None:
    """The newest event time of a window's messages; None: all were deleted before windows said when they ended."""
    times = [each.event_time for each in window.messages]
    return max([*times, *([] if window.ended_at is None else [window.ended_at])], default=None)


def keeps_nothing(window: Window, limits: Limits, types: Collection[str]) -> bool:
    """Whether all results that a window could give are beyond the limits of their types.

    Args:
        window: The window.
        limits: The limits in force.
        types: The event and entity types of its schema.
    """
    time = newest_time(window)
    return time is not None and all(is_older(time, limits, each) for each in types)


def without_old_results(extraction: Extraction, limits: Limits) -> Extraction:
    """The extraction without events and patches beyond the limits of their types; the same object if it has none."""

    def is_kept(result: Event | EntityPatch) -> bool:
        if isinstance(result, Event):
            return not is_older(result.said_at, limits, result.type)
        return not is_older(extraction.window_end, limits, result.entity_type)

    events = [each for each in extraction.events if is_kept(each)]
    patches = [each for each in extraction.patches if is_kept(each)]
    if len(events) == len(extraction.events) and len(patches) == len(extraction.patches):
        return extraction
    segments = {each.segment_id for each in events}
    return extraction.model_copy(
        update={"events": events, "patches": patches, "segments": [each for each in extraction.segments if each.id in segments]}
    ).with_sources_in_use()


def reaches_entities(extraction: Extraction, limits: Limits) -> Callable[[str, str], bool]:
    """A function that says whether the change of an event or patch may reach an entity.

    Its arguments are the entity's type and the id of the event or patch. An entity keeps what was said within the period of its type.
    """
    said_at = {each.id: each.said_at for each in extraction.events}

    def may_reach(entity_type: str, source_id: str) -> bool:
        return not is_older(said_at.get(source_id, extraction.window_end), limits, entity_type)

    return may_reach


def is_due(extraction: Extraction, limits: Limits, entity_types: Collection[str]) -> bool:
    """Whether limits remove results of an extraction that earlier limits have not removed.

    Args:
        extraction: The extraction, as the log has it.
        limits: The limits in force.
        entity_types: The entity types of its schema.
    """
    if without_old_results(extraction, limits) is not extraction:
        return True
    applied = extraction.retained or {}
    times = [each.said_at for each in extraction.events]
    for name in entity_types:
        limit, before = limit_of(limits, name), limit_of(applied, name)
        if limit is not None and any(time < limit and (before is None or time >= before) for time in times):
            return True
    return False
