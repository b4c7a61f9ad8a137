"""The expected timelines: a second implementation of how events age, over the records of the extractions log in order.

One partition of that log has all records of a user. Ticks, touches and expiries are taken from it as they are; that each expiry had to be
sent, and that none is missing, is judged.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from memory.headers import CORRECTION, EXPIRY, KIND, TICK, TOUCHES, origin_of
from memory.records import Contribution, Correction, Expiry, Extraction, Touches
from tests.chaos.correction_oracle import CorrectionOracle
from tests.chaos.schema import KEEP, QUIET, STORY
from tests.chaos.topic_log import LogRecord

_LONGEST = timedelta(days=28)


@dataclass(slots=True)
class TimelineEvent:
    """An event of a timeline."""

    id: str
    window: str
    time: datetime
    text: str
    message_ids: tuple[str, ...]
    is_whole: bool = True
    is_asked: bool = False
    touched: datetime | None = None


@dataclass(slots=True)
class Timeline:
    """A user's timeline."""

    clock: datetime
    newest: datetime
    through: datetime
    events: dict[str, TimelineEvent] = field(default_factory=dict)
    """All that were not retracted, including expired ones."""

    @property
    def summarised(self) -> list[TimelineEvent]:
        """The events that summaries stand for."""
        return [each for each in self.events.values() if each.time < self.through]

    @property
    def whole(self) -> int:
        """How many events it holds in full."""
        return sum(each.is_whole for each in self.events.values())

    def advance(self, now: datetime) -> None:
        """Event time has come so far."""
        if now > self.clock:
            self.clock = now
            self.through = max(self.through, _monday(now if now - self.newest >= QUIET else now - _LONGEST))

    def asked(self, now: datetime) -> list[str]:
        """A tick: the events whose time to live is over by then, each named once."""
        self.advance(now)
        gone = [each for each in self.summarised if each.is_whole and not each.is_asked and _expires(each) <= self.clock]
        for each in gone:
            each.is_asked = True
        return [each.id for each in gone]


class TimelineOracle:
    """Reads the extractions log of one tenant.

    Args:
        tenant: The tenant of the timelines.
        events: By window the events of it that timelines hold, with their user.
    """

    def __init__(self, *, tenant: str, events: Mapping[str, tuple[str, Sequence[TimelineEvent]]]) -> None:
        self._tenant = tenant
        self._events = events
        self._by_id = {each.id: (user, each) for user, of_window in events.values() for each in of_window}
        self._extracted: dict[str, int] = {}
        self._corrected: dict[str, int] = {}
        self._asked: Counter[str] = Counter()
        self.timelines: dict[str, Timeline] = {}
        """By user."""
        self.gone: set[str] = set()
        """Expired events."""
        self.touched: Counter[tuple[str, int]] = Counter()
        """How often each event was touched on each day."""
        self.corrections = CorrectionOracle()
        self.problems: list[str] = []

    def read(self, log: Iterable[LogRecord]) -> None:
        """Reads records, those of one partition in order."""
        for record in log:
            if record.poison is not None or record.value is None:
                continue
            kind = record.header(KIND)
            if kind is None:
                self._extraction(record, Extraction.from_json(record.value))
            elif kind == TICK:
                self._tick(Contribution.from_json(record.value))
            elif kind == TOUCHES:
                self._touch(Touches.from_json(record.value))
            elif kind == EXPIRY:
                self._expire(record, Expiry.from_json(record.value))
            elif kind == CORRECTION:
                self._correct(record, Correction.from_json(record.value))

    def unsent(self) -> list[str]:
        """Events that had to expire and are in no expiry."""
        return [each.id for timeline in self.timelines.values() for each in timeline.events.values() if each.is_asked and each.is_whole]

    def _extraction(self, record: LogRecord, extraction: Extraction) -> None:
        origin = origin_of(record.headers)
        is_redriven = origin is not None and (origin.topic, origin.partition) == (record.topic, record.partition)
        offset = origin.offset if origin is not None and is_redriven else record.offset
        window = extraction.window_id
        if extraction.tenant != self._tenant or offset <= self._extracted.get(window, -1):
            return
        is_known = window in self._extracted
        self._extracted[window] = offset
        user, events = self._events.get(window, (extraction.user, ()))
        if is_known:
            self._take_back(user, window)
        for event in events:
            self._apply(user, event)

    def _apply(self, user: str, event: TimelineEvent) -> None:
        if not self.corrections.is_valid(event.id):
            return
        timeline = self.timelines.get(user)
        if timeline is None:
            timeline = self.timelines[user] = Timeline(event.time, event.time, _monday(event.time - _LONGEST))
        timeline.advance(event.time)
        timeline.newest = max(timeline.newest, event.time)
        timeline.events[event.id] = TimelineEvent(event.id, event.window, event.time, event.text, event.message_ids)

    def _take_back(self, user: str, window: str) -> None:
        self.gone -= {name for name, (_, each) in self._by_id.items() if each.window == window}
        self._retract(user, {name for name, (_, each) in self._by_id.items() if each.window == window})

    def _retract(self, user: str, names: set[str]) -> None:
        timeline = self.timelines.get(user)
        if timeline is None:
            return
        timeline.events = {name: each for name, each in timeline.events.items() if name not in names}
        if not timeline.events:
            del self.timelines[user]

    def _correct(self, record: LogRecord, correction: Correction) -> None:
        if correction.tenant != self._tenant or not self.corrections.make(correction) or correction.memory_id not in self._by_id:
            return
        user, event = self._by_id[correction.memory_id]
        self.gone.discard(event.id)
        self._corrected[event.id] = record.offset
        self._retract(user, {event.id})
        self._apply(user, event)

    def _tick(self, tick: Contribution) -> None:
        timeline = self.timelines.get(tick.entity_key) if tick.tenant == self._tenant and tick.entity_type == STORY else None
        if timeline is not None:
            self._asked.update(timeline.asked(tick.time))

    def _touch(self, touches: Touches) -> None:
        timeline = self.timelines.get(touches.user) if touches.tenant == self._tenant else None
        for each in touches.events if touches.tenant == self._tenant else ():
            self.touched[each.id, touches.time.toordinal()] += 1
            event = None if timeline is None else timeline.events.get(each.id)
            if event is not None and event.is_whole and each.id not in self.gone:
                event.touched = max(event.touched or touches.time, touches.time)

    def _expire(self, record: LogRecord, expiry: Expiry) -> None:
        timeline = self.timelines.get(expiry.user) if expiry.tenant == self._tenant else None
        if timeline is None:
            return
        known = expiry.known.get(f"extractions/{record.partition}", -1)
        timeline.advance(expiry.time)
        for event in expiry.events:
            if not self._asked[event.id]:
                self.problems.append(f"{event.id} expired before its time, at {record.position}")
            newest = max(self._extracted.get(event.window_id, -1), self._corrected.get(event.id, -1))
            if newest <= known and event.id in timeline.events:
                timeline.events[event.id].is_whole = False
                self.gone.add(event.id)


def _monday(time: datetime) -> datetime:
    day = time.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - timedelta(days=day.weekday())


def _expires(event: TimelineEvent) -> datetime:
    return max(_monday(event.time) + timedelta(days=7), event.touched or event.time) + KEEP
