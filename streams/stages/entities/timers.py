"""Timers of entities that change as event time passes: rows of the stage's table, and ticks that go through the log.

A due timer sends a tick to the extractions log, which is kept; the events stage forwards it like an extraction. So a rebuild finds the same
ticks in the same places. A timer fires once; a worker that takes the partition over may repeat a tick that is still in flight. A repeated
or late tick changes nothing.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from memory.headers import KIND, TICK
from memory.keys import distinct_key, encode_key
from memory.records import Contribution
from memory.schema.model import EntityType
from memory.times import milliseconds_of, time_of_microseconds, time_of_milliseconds
from memory.topics import EXTRACTIONS
from operators.entities.entity_keys import belongs_to_user
from operators.entities.entity_state import EntityState
from operators.entities.ticks import clock_of, due_of
from runtime.clocks import Clock
from runtime.kafka import OutgoingRecord
from runtime.pieces import Yielder
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import PartitionState
from streams.engine.tasks.batch import Batch
from streams.stages.clock import PartitionClock, Timers, clamp_event_time
from streams.stages.entities.codec import EntityRow, TimerRow

_PREFIX: Final = b"timer/"
_MOST_SILENCE_MS: Final = 31 * 86_400_000
"""Limit of the silence counted before a restore: if a machine's clock is years ahead, memories age by only a month."""


class EntityTimers:
    """The timers of one partition.

    Args:
        partition: Its number.
        settings: The settings in force.
        clock: The wall clock, for times in the rows. Silence is measured with the time that the methods receive.
    """

    def __init__(self, *, partition: int, settings: Settings, clock: Clock) -> None:
        self._machine_clock = clock
        self._partition = partition
        self._topic = settings.topic(EXTRACTIONS.name)
        self._out_of_orderness_ms = int(settings.timelines.out_of_orderness_s * 1000)
        self._grace_ms = int(settings.timelines.grace_s * 1000)
        self._max_future = timedelta(seconds=settings.sessions.max_future_s)
        self._clock = PartitionClock(out_of_orderness_ms=self._out_of_orderness_ms, idle_ms=self._grace_ms)
        self._timers = Timers()
        self._ticks: dict[bytes, Contribution] = {}
        self._changed: set[bytes] = set()

    async def recover(self, state: PartitionState[EntityRow], now: datetime) -> None:
        """Sets the timers in the table."""
        wall_ms = milliseconds_of(now)
        newest: tuple[int, int] | None = None
        yielder = Yielder()
        for key, row in state.scan_prefix(_PREFIX):
            await yielder.maybe_yield()
            # A tenant's name may begin with the prefix.
            if isinstance(row, TimerRow):
                newest = _later(newest, row, int(self._max_future.total_seconds() * 1000))
                self._track(key, row, wall_ms)
        if newest is not None:
            silence_ms = self._silence_before(newest[1], wall_ms)
            self._clock.observe(newest[0], wall_ms - silence_ms)

    def watermark(self, now: datetime) -> datetime | None:
        """The partition's event time; None before the first event."""
        return self._clock.time(now)

    def begin(self, batch: Batch) -> None:
        """Resets the timers that the last batch moved to the table's rows, because the batch may have failed."""
        wall_ms = milliseconds_of(batch.now)
        for key in self._changed:
            row = batch.state.get(key)
            self._track(key, row if isinstance(row, TimerRow) else None, wall_ms)
        self._changed.clear()

    def observe(self, contribution: Contribution, now: datetime, *, recorded_at: datetime) -> None:
        """Advances the clock to the event time of an applied contribution or tick. The clock never goes back.

        The clock is shared by all tenants of the partition: a tenant's event times in the future do not advance it. ``recorded_at`` is the
        time at which the log took the contribution's source.
        """
        times = [each.event_time for each in contribution.changes if each.op == "apply"]
        if contribution.kind == "tick":
            times.append(contribution.time)
        if times:
            wall_ms = milliseconds_of(now)
            time = clamp_event_time(max(times), appended_at=recorded_at, max_future=self._max_future)
            self._clock.observe(max(milliseconds_of(time), self._seen_ms(wall_ms)), wall_ms)

    def set(
        self,
        batch: Batch,
        record: ConsumedRecord,
        state: EntityState,
        contribution: Contribution,
        entity_type: EntityType,
    ) -> None:
        """Sets, moves or removes the timer of an entity, given its state after its last contribution."""
        due = None if state.empty else due_of(state, entity_type)
        if due is None or state.last_time is None:
            self.remove(batch, record, contribution)
            return
        key = _key_of(contribution)
        self._changed.add(key)
        tick = Contribution(
            tenant=contribution.tenant,
            # A shared entity belongs to no user: an erasure of the last contributing user must not remove its timer.
            user=contribution.user if belongs_to_user(entity_type, contribution.entity_key, contribution.user) else None,
            entity_type=contribution.entity_type,
            entity_key=contribution.entity_key,
            kind="tick",
            source=f"contributions/{self._partition}",
            position=0,
            time=time_of_microseconds(due),
            schema_name=contribution.schema_name,
            schema_revision=contribution.schema_revision,
            generation=contribution.generation,
        )
        # Also shared data: a timeline whose events were all retracted starts again, and knows no time but its events'.
        wall_ms = milliseconds_of(batch.now)
        seen_ms = max(max(state.last_time, clock_of(state, entity_type) or 0) // 1000, self._seen_ms(wall_ms))
        # The later of both clocks: a row with too late a time restarts the silence; one with too early a time would age memories.
        row = TimerRow(tick, seen_ms, max(wall_ms, milliseconds_of(self._machine_clock.now())))
        if row != batch.state.get(key):
            batch.state.put(key, row, position=record.offset)
        self._track(key, row, wall_ms)

    def remove(self, batch: Batch, record: ConsumedRecord, contribution: Contribution) -> None:
        """Removes the timer of an entity; arguments as :meth:`set`."""
        key = _key_of(contribution)
        self._changed.add(key)
        if batch.state.get(key) is not None:
            batch.state.delete(key, position=record.offset)
        self._track(key, None, 0)

    def due(self, now: datetime) -> Iterator[OutgoingRecord]:
        """Ticks of the entities whose time has come and that were silent long enough on the wall clock."""
        wall_ms = milliseconds_of(now)
        event_now = self._clock.now_ms(wall_ms)
        if event_now is None:
            return
        for key in self._timers.due(event_now, wall_ms, silence_ms=self._grace_ms):
            # One tick at the current event time, not at the expected one, covers everything that is due since.
            tick = self._ticks[key].model_copy(update={"time": time_of_milliseconds(event_now)})
            target = distinct_key(tick.tenant, tick.user or tick.entity_key)
            yield OutgoingRecord(self._topic, target, tick.to_json(), headers=((KIND, TICK),))

    def _silence_before(self, seen_at_ms: int, wall_ms: int) -> int:
        """Length of the silence before a restore, by the clock that gives less: one of them, or the row's, may be wrong."""
        now_ms = min(wall_ms, milliseconds_of(self._machine_clock.now()))
        return min(max(0, now_ms - seen_at_ms), _MOST_SILENCE_MS)

    def _seen_ms(self, wall_ms: int) -> int:
        """The event time that would set the clock to its current value."""
        reached_ms = self._clock.now_ms(wall_ms)
        return 0 if reached_ms is None else reached_ms + self._out_of_orderness_ms

    def _track(self, key: bytes, row: TimerRow | None, wall_ms: int) -> None:
        if row is None:
            self._timers.cancel(key)
            self._ticks.pop(key, None)
        else:
            # Rounded up: a tick a millisecond earlier would have no effect.
            self._timers.set(key, milliseconds_of(row.tick.time) + 1, wall_ms)
            self._ticks[key] = row.tick


def _key_of(contribution: Contribution) -> bytes:
    return encode_key("timer", contribution.tenant, contribution.entity_type, contribution.entity_key, contribution.generation or "-")


def _later(newest: tuple[int, int] | None, row: TimerRow, max_future_ms: int) -> tuple[int, int]:
    """The newest event time and its wall-clock time. A row's event time that was in the future then does not advance the clock."""
    seen_ms = min(row.seen_ms, row.seen_at_ms + max_future_ms)
    return (seen_ms, row.seen_at_ms) if newest is None else (max(newest[0], seen_ms), max(newest[1], row.seen_at_ms))
