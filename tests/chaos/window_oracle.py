"""The expected windows of a run's messages: a second implementation of the rules, over every session's records in order."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import orjson

from memory.headers import COMMAND, KIND, origin_of
from memory.ids import message_id, window_id, window_part_id
from memory.keys import encode_key, partition_of
from memory.records import Message, MessageChange, SessionCommand
from memory.texts.text import estimate_tokens
from runtime.settings import Settings
from streams.engine.records import FORWARDED
from tests.chaos.topic_log import LogRecord
from tests.streams.stages.sessions.window_oracle import ExpectedSession, Limits, OracleMessage

_HEAD_BYTES = 16 * 1024
"""Bytes of a window's record that are left for its own fields."""
_SHOWING = ("hide", "show")


@dataclass(frozen=True, slots=True)
class ExpectedWindow:
    """A window that must exist."""

    id: str
    session: str
    user: str
    sequence: int
    closed_by: str
    token_count: int
    first_offset: int
    message_ids: tuple[str, ...]
    texts: tuple[str, ...]
    event_times_ms: tuple[int, ...]
    authors: tuple[str, ...]
    """The user of each message."""

    def part_of(self, user: str) -> str:
        """The window id of a user's extraction: that of the user's part, if the window has messages of several users."""
        return window_part_id(self.id, user) if len(set(self.authors)) > 1 else self.id


@dataclass(slots=True)
class _Session:
    rules: ExpectedSession
    messages: dict[str, Message] = field(default_factory=dict)


class WindowOracle:
    """Reads the messages log of one tenant; it ignores other tenants' records and poison.

    Args:
        tenant: The tenant of the sessions.
        settings: The rules' limits, and how many partitions there are.
    """

    def __init__(self, *, tenant: str, settings: Settings) -> None:
        limits = settings.sessions
        self._tenant = tenant
        self._partitions = settings.kafka.partitions
        self._limits = Limits(
            message_count=limits.message_count,
            message_cap=limits.message_cap,
            token_count=limits.token_count,
            pause_ms=int(limits.pause_s * 1000),
            idle_ms=int(limits.wait_timeout_s * 1000),
            max_bytes=settings.kafka.max_record_bytes - _HEAD_BYTES,
        )
        self._sessions: dict[str, _Session] = {}

    def read(self, log: Iterable[LogRecord]) -> None:
        """Reads records, those of one partition in order."""
        for record in log:
            if record.poison is not None or record.value is None:
                continue
            if record.header(KIND) == COMMAND:
                self._command(record, SessionCommand.from_json(record.value))
                continue
            fields = orjson.loads(record.value)
            if fields.get("tenant") != self._tenant:
                continue
            if fields.get("command") in _SHOWING:
                self._show(record, MessageChange.from_json(record.value))
            else:
                self._message(record, Message.from_json(record.value))

    def windows(self) -> list[ExpectedWindow]:
        """All windows that have closed, session by session in order."""
        return [
            ExpectedWindow(
                id=window_id(self._tenant, name, closed.sequence),
                session=name,
                user=closed.users[0],
                sequence=closed.sequence,
                closed_by=closed.closed_by,
                token_count=closed.tokens,
                first_offset=closed.first_offset,
                message_ids=closed.ids,
                texts=tuple(session.messages[each].text for each in closed.ids),
                event_times_ms=tuple(_milliseconds(session.messages[each]) for each in closed.ids),
                authors=closed.users,
            )
            for name, session in self._sessions.items()
            for closed in session.rules.closed
        ]

    def still_open(self) -> list[str]:
        """The ids of the messages in windows that have not closed."""
        return [said.id for session in self._sessions.values() for said in session.rules.open]

    def _message(self, record: LogRecord, message: Message) -> None:
        key = encode_key(message.tenant, message.session)
        is_home = record.key == key and partition_of(key, self._partitions) == record.partition
        if not is_home and record.header(FORWARDED) is None:
            return
        session = self._sessions.setdefault(message.session, _Session(ExpectedSession(self._limits)))
        assert record.offset > session.rules.newest_offset, "the log was read out of order"
        origin = origin_of(record.headers) or record.position
        identity = message.id or message_id(message.tenant, message.session, str(origin))
        session.messages.setdefault(identity, message)
        tokens, size = estimate_tokens(message.text), len(record.value or b"")
        session.rules.add(OracleMessage(identity, message.user, _milliseconds(message), tokens, size, record.offset))

    def _show(self, record: LogRecord, change: MessageChange) -> None:
        """A correction hides a message from recalls, or shows it again. That changes no window, but it makes an open timer void."""
        session = self._sessions.get(change.session)
        if session is not None and change.id in session.messages:
            session.rules.newest_offset = record.offset

    def _command(self, record: LogRecord, command: SessionCommand) -> None:
        if command.tenant not in (None, self._tenant) or command.command == "erase":
            # Who is erased is left out as a whole.
            return
        for name, session in self._sessions.items():
            home = partition_of(encode_key(self._tenant, name), self._partitions)
            if home != record.partition or command.session not in (None, name):
                continue
            if command.command == "flush":
                session.rules.flush(record.offset)
            else:
                sequence, last = (-1 if each is None else each for each in (command.window_sequence, command.last_offset))
                session.rules.timer(record.offset, sequence=sequence, last_offset=last)


def _milliseconds(message: Message) -> int:
    return int(message.event_time.timestamp() * 1000)
