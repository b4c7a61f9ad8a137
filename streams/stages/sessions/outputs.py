"""Output of the sessions stage: closed windows, states, session tails, and records that return to ``messages``."""

from collections.abc import Sequence
from typing import Final

from control.tenants import TenantDirectory
from memory.headers import COMMAND, ERASURE, KIND, ORIGIN, PLACE, origin_of
from memory.keys import distinct_key, partition_of
from memory.records import ErasureCommand, SessionCommand
from runtime.clocks import ForwardClock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.redis.session_tail import TailWindow
from runtime.seals import Keyring
from runtime.settings import Settings
from streams.engine.records import FORWARDED, ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.sessions.closed_windows import ClosedWindow, ClosedWindows
from streams.stages.sessions.id_pages import IdPages
from streams.stages.sessions.known_ids import digest_of
from streams.stages.sessions.open_windows import OpenWindow, OpenWindows
from streams.stages.sessions.tail_writer import TailWriter
from streams.stages.sessions.windows import SessionState, milliseconds
from streams.stages.tenancy import erasure_epoch

_REPORTED_AT_ONCE: Final = 500
"""Sessions that one record names: it has to fit."""
_CLOCK: Final = ForwardClock()
"""Other machines check the time of a seal, so it is the wall clock; but a step back must not make the seals of this worker invalid."""


class SessionOutputs:
    """Writes what one partition of ``messages`` results in.

    Args:
        windows: The open windows, whose timers follow a session's state.
        closed_windows: Keeps the windows that are closed, for later changes of their messages.
        id_pages: Remember the ids of messages in closed windows.
        tail: Makes open windows readable at once. None: they are not.
    """

    def __init__(
        self,
        *,
        partition: int,
        settings: Settings,
        tenants: TenantDirectory,
        metrics: Metrics,
        windows: OpenWindows,
        closed_windows: ClosedWindows,
        id_pages: IdPages,
        tail: TailWriter | None,
    ) -> None:
        self._partition = partition
        self._partitions = settings.kafka.partitions
        self._messages_topic = settings.topic("messages")
        self._windows_topic = settings.topic("windows")
        self._extractions_topic = settings.topic("extractions")
        self._tenants = tenants
        self._metrics = metrics
        self._windows = windows
        self._closed_windows = closed_windows
        self._id_pages = id_pages
        self._tail = tail
        self._keyring = Keyring.of(settings.signing)

    def forward(self, batch: Batch, record: ConsumedRecord, key: bytes) -> bool:
        """Sends a misplaced record to the partition of its key, once; returns whether it did."""
        home = partition_of(key, self._partitions)
        if (record.key == key and home == self._partition) or record.header(FORWARDED) is not None:
            return False
        self._metrics.records.labels("sessions", "forwarded").inc()
        headers = (*(each for each in record.headers if each[0] != PLACE), (FORWARDED, b"1"))
        if origin_of(record.headers) is None:
            headers = (*headers, (ORIGIN, str(record.place).encode()))
        batch.emit(self._sealed(OutgoingRecord(self._messages_topic, key, record.value, headers, home)), record)
        return True

    def emit_closed(self, batch: Batch, key: bytes, state: SessionState, closed: Sequence[ClosedWindow], cause: ConsumedRecord) -> None:
        """Emits closed windows, and remembers their messages."""
        for window in closed:
            # A window closed by another session's flush or by a timer continues the trace of its own newest message.
            trace = batch.spans.gather("close window", window.traces, record=cause)
            if any(window.messages):
                batch.emit(OutgoingRecord(self._windows_topic, window.key, window.record(partition=self._partition), trace), cause)
            epochs = {user: erasure_epoch(self._tenants, state.tenant, user) for user in window.users}
            digests = tuple(digest_of(user, epochs[user], each) for user, each in zip(window.authors, window.ids, strict=True))
            self._closed_windows.add(batch.state, key, window, digests, offset=cause.offset)
            self._id_pages.remember(batch.state, key, state, digests, cause.offset)

    def put(self, batch: Batch, key: bytes, state: SessionState, offset: int, wall_ms: int) -> None:
        """Writes a session's state, and sets its timer."""
        batch.state.put(key, state, position=offset)
        self._windows.changed(key, state, wall_ms)

    def publish_tail(self, state: SessionState, closed: Sequence[ClosedWindow], *, batch: Batch | None) -> None:
        """Publishes a session's latest messages. ``batch`` is None during the recovery."""
        # After a message that has to wait, a window may close without it, and later with it: Redis would keep the wrong one.
        if self._tail is not None and (batch is None or batch.awaited is None):
            for window in closed:
                self._tail.window_closed(state, TailWindow(window.sequence, window.shown), partition=self._partition)
            self._tail.window_changed(state, partition=self._partition)

    def report_erased(self, batch: Batch, record: ConsumedRecord, tenant: str, user: str, sessions: Sequence[str]) -> None:
        """Names an erased user's sessions in the log: the erasure removes the tails that this worker cannot overwrite in Redis."""
        if self._tail is not None:
            self._tail.erased(tenant, user)
        for start in range(0, len(sessions), _REPORTED_AT_ONCE):
            report = ErasureCommand(tenant=tenant, user=user, sessions=sessions[start : start + _REPORTED_AT_ONCE])
            batch.emit(OutgoingRecord(self._extractions_topic, distinct_key(tenant, user), report.to_json(), ((KIND, ERASURE),)), record)

    def timer_command(self, key: bytes, window: OpenWindow) -> OutgoingRecord:
        """The command that closes a window, unless its session gets a message first."""
        command = SessionCommand(
            command="timer",
            tenant=window.tenant,
            session=window.session,
            window_sequence=window.sequence,
            last_offset=window.last_offset,
        )
        return self._sealed(OutgoingRecord(self._messages_topic, key, command.to_json(), ((KIND, COMMAND),), self._partition))

    def _sealed(self, record: OutgoingRecord) -> OutgoingRecord:
        return record if self._keyring is None else self._keyring.sealed(record, now_ms=milliseconds(_CLOCK.now()))
