"""Follows the control log: keeps an up-to-date copy in memory, with the time of its last confirmation."""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable
from typing import Final

from aiokafka import AIOKafkaConsumer, ConsumerRecord
from aiokafka.errors import OffsetOutOfRangeError

from control.errors import ControlLogBehindError
from control.log import control_partition
from control.state import ControlState
from runtime.background import start_renewal
from runtime.kafka import client_options
from runtime.kafka.client import connect, disconnect, look_seldom
from runtime.logs import logger
from runtime.settings import Settings

_log = logger(__name__)

_CONFIRMATIONS_A_LEASE: Final = 5
_LONGEST_WAIT_S: Final = 1.0
"""Maximum time between two confirmations that the copy is complete."""
_BATCH: Final = 200
"""Documents applied before other tasks run: some milliseconds of work."""
_BACKOFF_S: Final = 0.2
_WATCH_S: Final = 1.0
_CLEAN_UP_S: Final = 5.0
_REPORT_INTERVAL_S: Final = 30.0


class _LogTruncatedError(Exception):
    """The log ends before the position that was already read: it was truncated or recreated."""


class ControlFollower:
    """Keeps a state up to date while it runs.

    The copy is confirmed when the follower has read to the end that the log had at some time: it then contains everything that was readable
    at that time. It is current for ``control.lease_s`` from that time on, by a monotonic clock. Therefore, one lease time after a change,
    every process either knows the change or is not current.

    Args:
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, *, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self.state = ControlState()
        """The copy of the log. It is replaced by a new one if the log was truncated."""
        self._settings = settings
        self._clock = clock
        self._lease_s = settings.control.lease_s
        self._partition = control_partition(settings)
        self._confirmed_at = -math.inf
        self._progress = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None
        self._problem = "the control log has not been read yet"
        self._reported = ""
        self._reported_at = -math.inf
        self._round = 0
        """Number of the current round; each round has a new Kafka client."""

    @property
    def confirmed_at(self) -> float:
        """The last time for which the copy is known to be complete; minus infinity for none."""
        return self._confirmed_at

    @property
    def is_current(self) -> bool:
        """Whether the lease has not expired, so that the copy may be used."""
        return self._clock() - self._confirmed_at <= self._lease_s

    @property
    def age_s(self) -> float:
        """Seconds since :attr:`confirmed_at`."""
        return self._clock() - self._confirmed_at

    def require_current(self) -> None:
        """Returns while :attr:`is_current`.

        Raises:
            ControlLogBehindError: If it is not; contains the reason.
        """
        if not self.is_current:
            raise ControlLogBehindError(f"{self._partition.topic} could not be followed for {self._lease_s:g} s: {self._problem}")

    def start(self) -> None:
        """Starts following."""
        self._task = start_renewal("control-follower", self._run)

    async def stop(self) -> None:
        """Stops following; may be called repeatedly."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def wait_for(self, position: int, *, timeout_s: float) -> None:
        """Waits until the log has been read up to a position.

        Args:
            position: The offset after the last record to read; 0: the current end of the log.
            timeout_s: Time limit, in seconds.

        Raises:
            ControlLogBehindError: If it takes longer; contains the reason.
        """
        try:
            async with asyncio.timeout(timeout_s), self._progress:
                await self._progress.wait_for(lambda: self.is_current and self.state.position >= position)
        except TimeoutError as error:
            raise ControlLogBehindError(
                f"{self._partition.topic} was not read up to offset {position} within {timeout_s:g} s: {self._problem}"
            ) from error

    async def _run(self) -> None:
        while True:
            self._round += 1
            following = asyncio.create_task(self._follow(self._round), name=f"control-follower-{self._round}")
            try:
                await self._watch(following)
            finally:
                # A client may hang in its clean-up after losing a broker: it is abandoned, and a new one follows.
                following.cancel()
                await asyncio.wait([following], timeout=_CLEAN_UP_S)
            await asyncio.sleep(_BACKOFF_S)

    async def _watch(self, following: "asyncio.Task[None]") -> None:
        """Waits until a round has ended or hangs: it has confirmed nothing for longer than the lease."""
        started, patience_s = self._clock(), self._lease_s + _CLEAN_UP_S
        while not following.done():
            await asyncio.wait([following], timeout=_WATCH_S)
            if not following.done() and self._clock() - max(started, self._confirmed_at) > patience_s:
                self._problem = "the client hangs"
                self._report_problem()
                return
        error = None if following.cancelled() else following.exception()
        if isinstance(error, _LogTruncatedError):
            _log.error("control_log_truncated", error=str(error))
            self.state = ControlState()
        elif error is not None:
            # Every error is retried: without its follower, the process would reject all requests.
            self._problem = repr(error)
            self._report_problem()

    def _report_problem(self) -> None:
        """Logs the problem at most once in :data:`_REPORT_INTERVAL_S` while it stays the same: a round can fail several times a second."""
        now = self._clock()
        if self._problem == self._reported and now - self._reported_at < _REPORT_INTERVAL_S:
            return
        self._reported, self._reported_at = self._problem, now
        age_s = None if self._confirmed_at == -math.inf else round(self.age_s, 1)
        _log.warning("control_log_unreachable", error=self._problem, age_s=age_s)

    async def _follow(self, number: int) -> None:
        kafka = self._settings.kafka
        wait_s = min(self._lease_s / _CONFIRMATIONS_A_LEASE, _LONGEST_WAIT_S)
        consumer = AIOKafkaConsumer(
            **client_options(kafka),
            enable_auto_commit=False,
            auto_offset_reset="none",
            isolation_level="read_committed",
            max_poll_records=_BATCH,
            fetch_max_wait_ms=int(wait_s * 1000),
        )
        try:
            async with asyncio.timeout(kafka.request_timeout_s):
                await connect(consumer)
            look_seldom(consumer)
            # Before the first fetch: the broker answers a connection's requests one after the other, and a fetch without records waits.
            asked_at, end = await self._end(consumer)
            consumer.assign([self._partition])
            # A compacted log still begins at 0.
            consumer.seek(self._partition, self.state.position)
            while self._round == number:
                await self._confirm(consumer, number, end, asked_at=asked_at)
                await self._take(consumer, number, wait_s=wait_s)
                asked_at, end = await self._end(consumer)
        finally:
            await disconnect(consumer)

    async def _end(self, consumer: AIOKafkaConsumer) -> tuple[float, int]:
        """The current end of the log, and the time before the question."""
        asked_at = self._clock()
        # A hanging request must not delay the next one.
        async with asyncio.timeout(max(self._lease_s, 1.0)):
            return asked_at, (await consumer.end_offsets([self._partition]))[self._partition]

    async def _confirm(self, consumer: AIOKafkaConsumer, number: int, end: int, *, asked_at: float) -> None:
        """Reads to the end that the log had at a time."""
        if end < self.state.position:
            raise _LogTruncatedError(f"{self._partition.topic} ends at {end}, and was read to {self.state.position}")
        while await consumer.position(self._partition) < end:
            await self._take(consumer, number, wait_s=_LONGEST_WAIT_S)
        async with self._progress:
            self._require_followed(number)
            self._confirmed_at = asked_at
            self._reported = ""
            self._progress.notify_all()

    async def _take(self, consumer: AIOKafkaConsumer, number: int, *, wait_s: float) -> None:
        try:
            fetched = await consumer.getmany(self._partition, timeout_ms=int(wait_s * 1000))
        except OffsetOutOfRangeError as error:
            raise _LogTruncatedError(f"{self._partition.topic} lacks offset {self.state.position}") from error
        records: list[ConsumerRecord[bytes | None, bytes | None]] = fetched.get(self._partition, [])
        self._require_followed(number)
        for record in records:
            self.state.take(record.key, record.value, offset=record.offset)
        if records:
            async with self._progress:
                self._progress.notify_all()
            await asyncio.sleep(0)

    def _require_followed(self, number: int) -> None:
        """Raises an error if the round was abandoned."""
        if self._round != number:
            raise TimeoutError("another round follows")
