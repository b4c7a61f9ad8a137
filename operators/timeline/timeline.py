"""One topic timeline: recent events whole, older ones in summaries, with expiry. Pure.

All times are event times on the clock of the event's user: microseconds since 1970 (UTC) plus the UTC offset. So a week is the user's week.
"""

from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from operators.aging import AgedEvent
from operators.timeline.digest import Digest, merged, with_event
from operators.timeline.periods import WEEK, Period, merged_through, month_of, period_of, start_of_week, week_of, year_of

MAX_WHOLE: Final = 500
"""Maximum number of whole events in a timeline, in addition to its summaries. The oldest above it never expire as memories: see
:meth:`Aging.apply`."""
LONGEST: Final = 4 * WEEK
"""Maximum delay after the end of a week until it is summarised, if the timeline is never quiet."""

Digests = dict[str, Digest]
"""By the name of :func:`_name`."""


class TimelineEvent(NamedTuple):
    """The part of an event that a timeline keeps. A named tuple, because every change of a timeline reads and writes all its events."""

    id: str
    time: int
    """Its local time: the event time plus :attr:`offset`."""
    rank: int
    """Its importance, in thousandths."""
    text: str
    message_ids: list[str]
    """Not modified."""
    user: str
    window_id: str
    touched: int | None = None
    """When it was last recalled."""
    is_asked: bool = False
    """Whether it was reported for removal."""
    offset: int = 0
    """The UTC offset of its time, in microseconds."""

    @property
    def key(self) -> list[Any]:
        """Its place in a digest."""
        return [-self.rank, self.time, self.id, *([self.offset] if self.offset else [])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The state of a timeline."""

    clock: int
    """The current event time. It never goes back."""
    newest: int
    """The newest event's time. It never goes back."""
    through: int
    """All weeks that end by then are summarised. It never goes back. A week that had too many events for it is, before it has ended."""
    whole: dict[str, TimelineEvent]
    """By id the events that are separate memories: recent ones, and summarised ones that still have time to live."""
    digests: Digests
    offset: int = 0
    """The UTC offset of the newest event, in microseconds; of events of one time the greatest. It converts times that have none."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of any event."""
        return not self.whole and not self.digests

    def period(self, time: int) -> Period | None:
        """The period whose summary has an event of that time; None: it is recent."""
        return period_of(time, through=self.through)

    def periods(self) -> list[tuple[Period, Digest]]:
        """The summarised periods, oldest first."""
        return sorted(((_period(name), digest) for name, digest in self.digests.items()), key=lambda each: each[0])


@dataclass(frozen=True, slots=True)
class Aging:
    """The rules by which timelines age.

    Args:
        quiet: A timeline without an event for so long is inactive: the weeks that have passed are summarised.
        keep: Time to live of a summarised event, from the end of its week, or from its last recall if that is later.
        details: So many summarised events stay whole when their time to live is over: the most important; of equal ones, the newest.
    """

    quiet: int
    keep: int
    details: int = 0

    def apply(self, timeline: Timeline | None, event: TimelineEvent) -> Timeline:
        """Adds an event; if its week is summarised already, the summary gets it, too.

        At the limit, the oldest whole event is removed, which may be this one. Its week is summarised, if need be early: so every event is
        whole or part of a summary, and can be retracted.
        """
        if timeline is None:
            through = start_of_week(event.time - LONGEST)
            timeline = Timeline(clock=event.time, newest=event.time, through=through, whole={}, digests={}, offset=event.offset)
        else:
            timeline = self.advance(timeline, event.time)
        if event.id in timeline.whole:
            timeline = self.retract(timeline, event) or timeline
        return _bounded(
            replace(
                timeline,
                newest=max(timeline.newest, event.time),
                offset=max((timeline.newest, timeline.offset), (event.time, event.offset))[1],
                whole={**timeline.whole, event.id: event},
                digests=_digests_with(timeline, event, 1),
            )
        )

    def retract(self, timeline: Timeline, event: TimelineEvent) -> Timeline | None:
        """Retracts an event.

        Returns:
            The new timeline; None if this one does not have the event.
        """
        known = timeline.whole.get(event.id)
        if known is None and timeline.period(event.time) is None:
            return None
        return replace(
            timeline,
            whole={name: each for name, each in timeline.whole.items() if name != event.id},
            digests=_digests_with(timeline, known or event, -1),
        )

    def advance(self, timeline: Timeline, now: int) -> Timeline:
        """Advances event time: summarises the weeks and merges the summaries that are due."""
        if now <= timeline.clock:
            return timeline
        quiet_since = now if now - timeline.newest >= self.quiet else now - LONGEST
        return replace(_summarised(timeline, start_of_week(quiet_since)), clock=now)

    def due(self, timeline: Timeline) -> int | None:
        """Time of the next change without an event, or of the next expiry; None: never."""
        recent = [event.time for event in timeline.whole.values() if event.time >= timeline.through]
        ends = [week_of(min(recent)).end] if recent else []
        merges = (merged_through(_period(name)) for name in timeline.digests)
        ends.extend(each for each in merges if each is not None)
        dues = [max(end, min(timeline.newest + self.quiet, end + LONGEST)) for end in ends]
        dues.extend(self._expires(event) for event in self._mortal(timeline))
        return min(dues, default=None)

    def ask(self, timeline: Timeline) -> tuple[Timeline, list[AgedEvent]]:
        """Names the events whose time to live is over, each once."""
        aged = sorted((event for event in self._mortal(timeline) if self._expires(event) <= timeline.clock), key=lambda each: each.id)
        asked = {event.id: event._replace(is_asked=True) for event in aged}
        if not asked:
            return timeline, []
        return replace(timeline, whole={**timeline.whole, **asked}), [AgedEvent(each.id, each.user, each.window_id) for each in aged]

    def _mortal(self, timeline: Timeline) -> list[TimelineEvent]:
        """The summarised events that are removed once their time to live is over, without those whose removal was reported.

        Recalled events and those with time to live compete for the places of details, too: so a recall, or a late tick, changes no
        other event's fate.
        """
        summarised = [event for event in timeline.whole.values() if event.time < timeline.through and not event.is_asked]
        if len(summarised) > self.details > 0:
            summarised.sort(key=lambda each: (-each.rank, -each.time, each.id))
        return summarised[self.details :]

    def _expires(self, event: TimelineEvent) -> int:
        return max(week_of(event.time).end, event.touched or event.time) + self.keep


def touched(timeline: Timeline, event_id: str, time: int) -> Timeline:
    """The timeline once an event was recalled.

    Args:
        timeline: The timeline.
        event_id: The event; one that the timeline does not hold changes nothing.
        time: When it was recalled.
    """
    event = timeline.whole.get(event_id)
    if event is None or (event.touched is not None and event.touched >= time):
        return timeline
    return replace(timeline, whole={**timeline.whole, event_id: event._replace(touched=time)})


def released(timeline: Timeline, event_id: str) -> Timeline:
    """The timeline when an event is no longer a separate memory."""
    if event_id not in timeline.whole:
        return timeline
    return replace(timeline, whole={name: each for name, each in timeline.whole.items() if name != event_id})


def _bounded(timeline: Timeline) -> Timeline:
    if len(timeline.whole) <= MAX_WHOLE:
        return timeline
    oldest = min(timeline.whole.values(), key=lambda each: (each.time, each.id))
    return released(_summarised(timeline, week_of(oldest.time).end), oldest.id)


def _summarised(timeline: Timeline, through: int) -> Timeline:
    """The timeline with all weeks summarised that end by then, and summaries merged whose time that is."""
    if through <= timeline.through:
        return timeline
    digests: Digests = {}
    for name, digest in timeline.digests.items():
        _add(digests, period_of(_period(name).start, through=through), digest)
    for event in timeline.whole.values():
        if timeline.through <= event.time < through:
            added = with_event(None, event.key, event.text, event.message_ids, 1)
            _add(digests, period_of(event.time, through=through), added)
    return replace(timeline, through=through, digests=digests)


def _digests_with(timeline: Timeline, event: TimelineEvent, times: int) -> Digests:
    period = timeline.period(event.time)
    if period is None:
        return timeline.digests
    name = _name(period)
    changed = with_event(timeline.digests.get(name), event.key, event.text, event.message_ids, times)
    others = {each: digest for each, digest in timeline.digests.items() if each != name}
    return others if changed is None else {**others, name: changed}


def _add(digests: Digests, period: Period | None, digest: Digest | None) -> None:
    if period is None or digest is None:
        return
    whole = merged(digests.get(_name(period)), digest)
    if whole is not None:
        digests[_name(period)] = whole


def _name(period: Period) -> str:
    return f"{period.level} {period.start}"


def _period(name: str) -> Period:
    level, start = name.split(" ")
    return {"week": week_of, "month": month_of, "year": year_of}[level](int(start))
