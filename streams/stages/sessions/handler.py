"""The sessions stage: messages in, closed windows out."""

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Final

from control.tenants import TenantDirectory
from memory.errors import MalformedRecordError, RecordTooLargeError
from memory.headers import COMMAND, ERASURE, KIND, ORIGIN, PLACE, origin_of
from memory.keys import distinct_key, encode_key, partition_of
from memory.markup import without_markup
from memory.records import ErasureCommand, Message, MessageChange, SessionCommand
from memory.records.limits import max_messages_bytes
from memory.topics import MESSAGES
from runtime.kafka import OutgoingRecord
from runtime.message_outcomes import MessageOutcome
from runtime.metrics import Metrics
from runtime.pieces import Yielder
from runtime.seals import Keyring
from runtime.session_tail import TailWindow
from runtime.settings import Settings
from streams.engine.records import FORWARDED, ConsumedRecord
from streams.engine.state.partition_state import PartitionState
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.errors import PoisonRecordError
from streams.stages.sessions.changes import Changed, MessageChanger, is_change, is_text_changed, refusal_of
from streams.stages.sessions.closed_windows import ClosedWindow, ClosedWindows
from streams.stages.sessions.codec import SessionsRow
from streams.stages.sessions.id_pages import IdPages
from streams.stages.sessions.known_ids import CLOCK_KEY, DedupPage, LogTime, digest_of, marked_rows
from streams.stages.sessions.open_windows import OpenWindow, OpenWindows
from streams.stages.sessions.provenance import LONG_TEXT, MessageReader, Provenance
from streams.stages.sessions.tail_writer import OutcomeWriter, TailWriter
from streams.stages.sessions.windows import SessionMessage, SessionState, WindowBuilder, milliseconds
from streams.tenancy import erasure_epoch, is_erased, tenant_of

_MAX_REDRIVEN: Final = 1000
"""Origins of redriven messages that a session remembers."""
_REPORTED_AT_ONCE: Final = 500
"""Sessions that one record names: it has to fit."""


class SessionsHandler(BatchHandler):
    """Handles one partition of ``messages``.

    Args:
        tail: Makes open windows readable at once. None: they are not.
        outcomes: Receives the outcomes of changes that a request waits for. Default: nobody waits.
    """

    def __init__(
        self,
        *,
        partition: int,
        settings: Settings,
        tenants: TenantDirectory,
        tail: TailWriter | None,
        metrics: Metrics,
        outcomes: OutcomeWriter | None = None,
    ) -> None:
        self._partition = partition
        self._partitions = settings.kafka.partitions
        self._messages_topic = settings.topic("messages")
        self._windows_topic = settings.topic("windows")
        self._extractions_topic = settings.topic("extractions")
        self._tenants = tenants
        self._tail = tail
        self._metrics = metrics
        self._outcomes = outcomes
        self._closed_windows = ClosedWindows()
        self._changer = MessageChanger(
            partition=partition,
            closed_windows=self._closed_windows,
            windows_topic=self._windows_topic,
            extractions_topic=self._extractions_topic,
            max_record_bytes=settings.kafka.max_record_bytes,
        )
        self._window_builder = WindowBuilder(limits=settings.sessions, max_window_bytes=max_messages_bytes(settings.kafka.max_record_bytes))
        self._keyring = Keyring.of(settings.signing)
        self._reader = MessageReader(settings=settings, tenants=tenants, metrics=metrics)
        self._windows = OpenWindows(limits=settings.sessions, due_ms=self._window_builder.due_ms)
        self._discards = 0
        self._id_pages = IdPages(cache_bytes=settings.delivery.state_cache_bytes)

    async def recover(self, state: PartitionState[SessionsRow], now: datetime) -> None:
        """Sets the timers of all open windows, and writes their tails again, because Redis may have lost them."""
        wall_ms = milliseconds(now)
        yielder = Yielder()
        time = state.get(CLOCK_KEY)
        if isinstance(time, LogTime) and time.newest_ms is not None:
            self._windows.observe(CLOCK_KEY, time.newest_ms, wall_ms)
        for key, row in marked_rows(state):
            await yielder.maybe_yield()
            if isinstance(row, DedupPage):
                self._id_pages.recover(key, row)
            elif isinstance(row, SessionState):
                self._windows.recover(key, row, wall_ms)
                if row.is_open:
                    self._publish_tail(row, [], batch=None)

    async def handle(self, batch: Batch) -> None:
        """Handles messages and commands in the order of their log."""
        wall_ms = milliseconds(batch.now)
        has_failed, self._discards = batch.state.discards != self._discards, batch.state.discards
        self._windows.begin(batch.state, wall_ms, has_failed=has_failed)
        self._id_pages.begin(batch.state, has_failed=has_failed)
        self._closed_windows.begin()

        def handle(record: ConsumedRecord) -> Awaitable[None] | None:
            try:
                provenance = self._reader.provenance.of(record)
            except PoisonRecordError:
                # The machine's clock may have been wrong when it sealed a timer's command: the window must still close.
                self._windows.refused(batch.state, record.key or b"", wall_ms)
                raise
            if record.header(KIND) == COMMAND:
                return self._command(batch, record, wall_ms)
            # Parsed only if it may be a change: most records are messages.
            if b'"command"' in (record.value or b"") and is_change(record.value or b""):
                return self._change(batch, record, MessageChange.from_json(record.value or b""), provenance, wall_ms)
            return self._message(batch, record, provenance, wall_ms)

        await batch.each(handle)
        self._id_pages.drop_expired(batch.state, batch.records)
        self._windows.end(batch.state, minute=self._id_pages.minute, offset=batch.records[-1].offset)

    def watermark(self, now: datetime) -> datetime | None:
        """Event time of the partition's messages."""
        return self._windows.clock.time(now)

    def due(self, now: datetime) -> list[OutgoingRecord]:
        """Timer commands for sessions that were silent long enough. They go through the log, so that a replay finds them.

        Only one per window is in flight: a command that has no effect when it is handled sets the timer again.
        """
        return [self._timer_command(key, window) for key, window in self._windows.due(milliseconds(now))]

    def _message(self, batch: Batch, record: ConsumedRecord, provenance: Provenance, wall_ms: int) -> Awaitable[None] | None:
        """Adds a message to its session. A long text is converted in a thread, since the event loop must not wait for it."""
        reading = self._reader.read(record, provenance, traceparent=batch.spans.traceparent_of(record))
        if reading.is_long:

            async def convert_and_add() -> None:
                self._add(batch, record, *await asyncio.to_thread(reading.prepare), wall_ms)

            return convert_and_add()
        self._add(batch, record, *reading.prepare(), wall_ms)
        return None

    def _add(self, batch: Batch, record: ConsumedRecord, message: Message, entry: SessionMessage, wall_ms: int) -> None:
        if is_erased(self._tenants, message.tenant, message.user, record, MESSAGES):
            self._metrics.records.labels("sessions", "erased").inc()
            return
        key = encode_key(message.tenant, message.session)
        if self._forward(batch, record, key):
            return
        state = batch.state.get(key) or SessionState(tenant=message.tenant, session=message.session)
        if record.offset <= state.last_offset:
            return
        self._id_pages.advance(record)
        digest = digest_of(message.user, erasure_epoch(self._tenants, message.tenant, message.user), entry.id)
        is_known = state.index_of(entry.user, entry.id) is not None or self._id_pages.knows(batch.state, key, state, digest)
        if is_known and self._is_text_changed(batch, key, state, entry, digest):
            raise PoisonRecordError(
                "changed_message",
                f"session {message.session!r} has the message {entry.id!r} with another text: send a change with the command 'edit', "
                "or PUT /v1/messages/{session}/{id}",
            )
        if self._windows.observe(key, entry.event_ms, wall_ms):
            self._metrics.records.labels("sessions", "late").inc()
        if is_known or self._was_redriven_before(state, record):
            self._metrics.records.labels("sessions", "repeated").inc()
            state.last_offset = record.offset
        else:
            self._metrics.count_message(message.tenant)
            closed = self._window_builder.add(state, entry)
            self._emit(batch, key, state, closed, record)
            self._publish_tail(state, closed, batch=batch)
        self._put(batch, key, state, record.offset, wall_ms)

    def _is_text_changed(self, batch: Batch, key: bytes, state: SessionState, entry: SessionMessage, digest: bytes) -> bool:
        """Whether a known message has another text now."""
        index = state.index_of(entry.user, entry.id)
        if index is not None:
            return is_text_changed(entry.raw, state.raw_messages[index])
        window = self._closed_windows.find(batch.state, key, digest, sequence=state.sequence)
        index = None if window is None else window.index_of(entry.user, entry.id)
        return window is not None and index is not None and is_text_changed(entry.raw, window.messages[index])

    def _change(
        self, batch: Batch, record: ConsumedRecord, change: MessageChange, provenance: Provenance, wall_ms: int
    ) -> Awaitable[None] | None:
        """Edits, deletes, hides or shows a message. A long text is converted in a thread.

        Raises:
            PoisonRecordError: The message is unknown or would be too large, and no request waits for the outcome.
        """
        tenant = tenant_of(self._tenants, change.tenant)
        self._reader.provenance.check(record, provenance, change, tenant.signing)
        if is_erased(self._tenants, change.tenant, change.user, record, MESSAGES):
            self._metrics.records.labels("sessions", "erased").inc()
            return None
        text, unescape = change.text, tenant.messages.unescape
        if text is not None and unescape:
            if len(text) > LONG_TEXT:

                async def convert_and_apply() -> None:
                    converted = await asyncio.to_thread(without_markup, text, unescape)
                    self._apply(batch, record, change.model_copy(update={"text": converted}), wall_ms)

                return convert_and_apply()
            change = change.model_copy(update={"text": without_markup(text, unescape)})
        self._apply(batch, record, change, wall_ms)
        return None

    def _apply(self, batch: Batch, record: ConsumedRecord, change: MessageChange, wall_ms: int) -> None:
        key = encode_key(change.tenant, change.session)
        if self._forward(batch, record, key):
            return
        state = batch.state.get(key)
        if state is not None and record.offset <= state.last_offset:
            return
        self._id_pages.advance(record)
        digest = digest_of(change.user, erasure_epoch(self._tenants, change.tenant, change.user), change.id)
        try:
            changed = self._changer.change(batch, record, change, state, digest)
        except RecordTooLargeError:
            if change.request is None:
                raise
            changed = Changed("too_large")
        self._metrics.records.labels("sessions", f"change_{changed.outcome}").inc()
        if change.request is not None and self._outcomes is not None and batch.awaited is None:
            self._outcomes.add(MessageOutcome(change.tenant, change.request, changed.outcome))
        if changed.outcome in ("unknown", "too_large"):
            if change.request is None and change.command in ("edit", "delete"):
                raise refusal_of(change, changed.outcome)
            return
        assert state is not None
        state.last_offset = record.offset
        newest = [changed.window] if changed.window is not None and changed.window.sequence == state.sequence - 1 else []
        self._publish_tail(state, newest, batch=batch)
        self._put(batch, key, state, record.offset, wall_ms)

    def _forward(self, batch: Batch, record: ConsumedRecord, key: bytes) -> bool:
        """Sends a misplaced record to the partition of its key, once."""
        if (record.key == key and partition_of(key, self._partitions) == self._partition) or record.header(FORWARDED) is not None:
            return False
        self._metrics.records.labels("sessions", "forwarded").inc()
        headers = (*(each for each in record.headers if each[0] != PLACE), (FORWARDED, b"1"))
        if origin_of(record.headers) is None:
            headers = (*headers, (ORIGIN, str(record.place).encode()))
        home = partition_of(key, self._partitions)
        batch.emit(self._sealed(OutgoingRecord(self._messages_topic, key, record.value, headers, home)), record)
        return True

    def _was_redriven_before(self, state: SessionState, record: ConsumedRecord) -> bool:
        origin = origin_of(record.headers)
        if origin is None:
            return False
        position = str(origin)
        if position in state.redriven_origins:
            return True
        state.redriven_origins = [*state.redriven_origins, position][-_MAX_REDRIVEN:]
        return False

    async def _command(self, batch: Batch, record: ConsumedRecord, wall_ms: int) -> None:
        command = SessionCommand.from_json(record.value or b"")
        if command.tenant is not None and command.session is not None:
            keys = [encode_key(command.tenant, command.session)]
            if command.command == "flush" and self._forward(batch, record, keys[0]):
                return
        elif command.command == "erase" and command.tenant is None:
            raise MalformedRecordError("an erasure must name the tenant of its user")
        else:
            keys = sorted(self._windows.of(command.tenant))
        self._id_pages.advance(record)
        dropped: list[str] = []
        yielder = Yielder()
        for key in keys:
            await yielder.maybe_yield()
            state = batch.state.get(key)
            if state is None or record.offset <= state.last_offset:
                continue
            if command.command == "erase":
                if command.user not in state.authors:
                    continue
                # Messages before the command that are in no closed window yet are never extracted.
                state.drop_user(command.user)
                if not state.is_open:
                    self._window_builder.give_up(state)
                self._publish_tail(state, [], batch=batch)
                dropped.append(state.session)
            elif state.is_open and self._is_current(command, state):
                reason = "flush" if command.command == "flush" else self._window_builder.timer_reason(state)
                closed = [self._window_builder.close(state, reason)]
                self._emit(batch, key, state, closed, record)
                self._publish_tail(state, closed, batch=batch)
            state.last_offset = record.offset
            self._put(batch, key, state, record.offset, wall_ms)
        if command.command == "erase" and command.tenant is not None and command.user is not None:
            batch.is_erasing = True
            async for key, window in self._changer.erase(batch, record, command.tenant, command.user):
                state = batch.state.get(key)
                if isinstance(state, SessionState) and window.sequence == state.sequence - 1:
                    self._publish_tail(state, [window], batch=batch)
            self._report_dropped(batch, record, command.tenant, command.user, dropped)

    def _report_dropped(self, batch: Batch, record: ConsumedRecord, tenant: str, user: str, sessions: list[str]) -> None:
        """Names the sessions in the log: a tail that this worker cannot overwrite in Redis is removed by the erasure, which reads them."""
        if self._tail is not None:
            self._tail.erased(tenant, user)
        for start in range(0, len(sessions), _REPORTED_AT_ONCE):
            report = ErasureCommand(tenant=tenant, user=user, sessions=sessions[start : start + _REPORTED_AT_ONCE])
            batch.emit(OutgoingRecord(self._extractions_topic, distinct_key(tenant, user), report.to_json(), ((KIND, ERASURE),)), record)

    @staticmethod
    def _is_current(command: SessionCommand, state: SessionState) -> bool:
        if command.command == "flush":
            return True
        return command.window_sequence == state.sequence and command.last_offset == state.last_offset

    def _emit(self, batch: Batch, key: bytes, state: SessionState, closed: list[ClosedWindow], cause: ConsumedRecord) -> None:
        for window in closed:
            # A window closed by another session's flush or by a timer continues the trace of its own newest message.
            trace = batch.spans.gather("close window", window.traces, record=cause)
            if any(window.messages):
                batch.emit(OutgoingRecord(self._windows_topic, window.key, window.record(partition=self._partition), trace), cause)
            lives = {user: erasure_epoch(self._tenants, state.tenant, user) for user in window.users}
            digests = tuple(digest_of(user, lives[user], each) for user, each in zip(window.authors, window.ids, strict=True))
            self._closed_windows.add(batch.state, key, window, digests, offset=cause.offset)
            self._id_pages.remember(batch.state, key, state, digests, cause.offset)

    def _put(self, batch: Batch, key: bytes, state: SessionState, offset: int, wall_ms: int) -> None:
        batch.state.put(key, state, position=offset)
        self._windows.changed(key, state, wall_ms)

    def _publish_tail(self, state: SessionState, closed: list[ClosedWindow], *, batch: Batch | None) -> None:
        # After a message that has to wait, a window may close without it, and later with it: Redis would keep the wrong one.
        if self._tail is not None and (batch is None or batch.awaited is None):
            for window in closed:
                self._tail.window_closed(state, TailWindow(window.sequence, window.shown), partition=self._partition)
            self._tail.window_changed(state, partition=self._partition)

    def _timer_command(self, key: bytes, window: OpenWindow) -> OutgoingRecord:
        command = SessionCommand(
            command="timer",
            tenant=window.tenant,
            session=window.session,
            window_sequence=window.sequence,
            last_offset=window.last_offset,
        )
        return self._sealed(OutgoingRecord(self._messages_topic, key, command.to_json(), ((KIND, COMMAND),), self._partition))

    def _sealed(self, record: OutgoingRecord) -> OutgoingRecord:
        # Other machines check the seal's time, so it is the wall clock.
        return record if self._keyring is None else self._keyring.sealed(record, now_ms=milliseconds(datetime.now(UTC)))
