"""The sessions stage: messages in, closed windows out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable
from datetime import datetime
from typing import Final

from control.tenants import TenantDirectory
from memory.errors import MalformedRecordError, RecordTooLargeError
from memory.headers import COMMAND, KIND, origin_of
from memory.keys import encode_key
from memory.messages.markup import without_markup
from memory.records import Message, MessageChange, SessionCommand
from memory.records.limits import max_messages_bytes
from memory.topics import MESSAGES
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.pieces import Yielder
from runtime.redis.message_outcomes import MessageOutcome
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import PartitionState
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.errors import PoisonRecordError
from streams.stages.sessions.changes import Changed, MessageChanger, is_change, is_text_changed, refusal_of
from streams.stages.sessions.closed_windows import ClosedWindows
from streams.stages.sessions.codec import SessionsRow
from streams.stages.sessions.id_pages import IdPages
from streams.stages.sessions.known_ids import DedupPage, digest_of
from streams.stages.sessions.open_windows import OpenWindows
from streams.stages.sessions.outputs import SessionOutputs
from streams.stages.sessions.partition_rows import CLOCK_KEY, LogTime, marked_rows
from streams.stages.sessions.provenance import LONG_TEXT, MessageReader, Provenance
from streams.stages.sessions.tail_writer import OutcomeWriter, TailWriter
from streams.stages.sessions.windows import SessionMessage, SessionState, WindowBuilder, milliseconds
from streams.stages.tenancy import erasure_epoch, is_erased, tenant_of

_MAX_REDRIVEN: Final = 1000
"""Origins of redriven messages that a session remembers."""


class SessionsHandler(BatchHandler):
    """Handles one partition of ``messages``.

    Args:
        tail: Makes open windows readable at once. None: they are not.
        outcomes: Receives the outcomes of changes that a request waits for. Default: no request waits.
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
        self._tenants = tenants
        self._metrics = metrics
        self._outcomes = outcomes
        self._closed_windows = ClosedWindows()
        self._changer = MessageChanger(
            partition=partition,
            closed_windows=self._closed_windows,
            windows_topic=settings.topic("windows"),
            extractions_topic=settings.topic("extractions"),
            max_record_bytes=settings.kafka.max_record_bytes,
        )
        self._window_builder = WindowBuilder(limits=settings.sessions, max_window_bytes=max_messages_bytes(settings.kafka.max_record_bytes))
        self._reader = MessageReader(settings=settings, tenants=tenants, metrics=metrics)
        self._windows = OpenWindows(limits=settings.sessions, due_ms=self._window_builder.due_ms)
        self._discards = 0
        self._id_pages = IdPages(cache_bytes=settings.delivery.state_cache_bytes)
        self._outputs = SessionOutputs(
            partition=partition,
            settings=settings,
            tenants=tenants,
            metrics=metrics,
            windows=self._windows,
            closed_windows=self._closed_windows,
            id_pages=self._id_pages,
            tail=tail,
        )

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
                    self._outputs.publish_tail(row, [], batch=None)

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
        return [self._outputs.timer_command(key, window) for key, window in self._windows.due(milliseconds(now))]

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
        if self._outputs.forward(batch, record, key):
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
            self._outputs.emit_closed(batch, key, state, closed, record)
            self._outputs.publish_tail(state, closed, batch=batch)
        self._outputs.put(batch, key, state, record.offset, wall_ms)

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
        if self._outputs.forward(batch, record, key):
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
        self._outputs.publish_tail(state, newest, batch=batch)
        self._outputs.put(batch, key, state, record.offset, wall_ms)

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
        if command.command == "erase":
            await self._erase(batch, record, command, wall_ms)
        elif command.command == "expire":
            self._expire(batch, record, command)
        else:
            await self._close(batch, record, command, wall_ms)

    async def _close(self, batch: Batch, record: ConsumedRecord, command: SessionCommand, wall_ms: int) -> None:
        """Closes the open window of a session for a flush or a timer, or the windows of all sessions for a tenant's flush."""
        keys = sorted(self._windows.of(command.tenant))
        if command.tenant is not None and command.session is not None:
            keys = [encode_key(command.tenant, command.session)]
            if command.command == "flush" and self._outputs.forward(batch, record, keys[0]):
                return
        self._id_pages.advance(record)
        async for key, state in self._unhandled(batch, record, keys):
            if state.is_open and self._is_current(command, state):
                reason = "flush" if command.command == "flush" else self._window_builder.timer_reason(state)
                closed = [self._window_builder.close(state, reason)]
                self._outputs.emit_closed(batch, key, state, closed, record)
                self._outputs.publish_tail(state, closed, batch=batch)
            state.last_offset = record.offset
            self._outputs.put(batch, key, state, record.offset, wall_ms)

    async def _erase(self, batch: Batch, record: ConsumedRecord, command: SessionCommand, wall_ms: int) -> None:
        """Removes a user's messages from open and closed windows. Messages in an open window are never extracted."""
        if command.tenant is None:
            raise MalformedRecordError("an erasure must name the tenant of its user")
        keys = sorted(self._windows.of(command.tenant)) if command.session is None else [encode_key(command.tenant, command.session)]
        self._id_pages.advance(record)
        changed: list[str] = []
        async for key, state in self._unhandled(batch, record, keys):
            if command.user not in state.authors:
                continue
            state.drop_user(command.user)
            if not state.is_open:
                self._window_builder.discard_window(state)
            self._outputs.publish_tail(state, [], batch=batch)
            changed.append(state.session)
            state.last_offset = record.offset
            self._outputs.put(batch, key, state, record.offset, wall_ms)
        if command.user is None:
            return
        batch.is_erasing = True
        async for key, window in self._changer.erase(batch, record, command.tenant, command.user):
            state_of_window = batch.state.get(key)
            if isinstance(state_of_window, SessionState) and window.sequence == state_of_window.sequence - 1:
                self._outputs.publish_tail(state_of_window, [window], batch=batch)
        self._outputs.report_erased(batch, record, command.tenant, command.user, changed)

    @staticmethod
    async def _unhandled(batch: Batch, record: ConsumedRecord, keys: Iterable[bytes]) -> AsyncIterator[tuple[bytes, SessionState]]:
        """The states of sessions that have not handled a record yet."""
        yielder = Yielder()
        for key in keys:
            await yielder.maybe_yield()
            state = batch.state.get(key)
            if isinstance(state, SessionState) and record.offset > state.last_offset:
                yield key, state

    @staticmethod
    def _is_current(command: SessionCommand, state: SessionState) -> bool:
        if command.command == "flush":
            return True
        return command.window_sequence == state.sequence and command.last_offset == state.last_offset

    def _expire(self, batch: Batch, record: ConsumedRecord, command: SessionCommand) -> None:
        """Forgets closed windows of a session. Their messages can no longer be edited, and no revision of them is published again."""
        if command.tenant is None or command.session is None:
            raise MalformedRecordError("an expiry must name the tenant and the session of its windows")
        key = encode_key(command.tenant, command.session)
        if self._outputs.forward(batch, record, key):
            return
        self._id_pages.advance(record)
        count = sum(self._closed_windows.expire(batch.state, key, each, offset=record.offset) for each in command.windows or ())
        self._metrics.records.labels("sessions", "retention_removed").inc(count)
