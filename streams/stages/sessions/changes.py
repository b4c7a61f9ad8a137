"""Changes of messages that a session has already: edits, deletions, and whether the session's newest messages show them.

A change of a closed window publishes the window again with its next revision. Results that are based on the changed messages are
retracted at once, by a record of the extractions log, since the extraction of the new revision may take long or fail.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import orjson

from memory.headers import KIND, RETRACTION
from memory.keys import distinct_key, encode_key
from memory.records import MessageChange, MessageRetraction
from memory.records.limits import check_message_size, max_messages_bytes
from memory.records.message_change import is_message_change
from runtime.kafka import OutgoingRecord
from runtime.pieces import Yielder
from runtime.redis.message_outcomes import Outcome
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.errors import PoisonRecordError
from streams.stages.sessions.closed_windows import DELETED, ClosedWindow, ClosedWindows
from streams.stages.sessions.windows import SessionState, tokens_of

_MESSAGES_OF_A_RETRACTION: Final = 500
"""A retraction must fit into a record."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The result of a change."""

    outcome: Outcome
    window: ClosedWindow | None = None
    """The closed window that it changed; None: it changed the open window, or nothing."""


class MessageChanger:
    """Applies changes to the windows of one partition.

    Args:
        windows_topic: Receives the next revisions of closed windows.
    """

    def __init__(
        self, *, partition: int, closed_windows: ClosedWindows, windows_topic: str, extractions_topic: str, max_record_bytes: int
    ) -> None:
        self._partition = partition
        self._closed_windows = closed_windows
        self._windows_topic = windows_topic
        self._extractions_topic = extractions_topic
        self._max_record_bytes = max_record_bytes
        self._max_window_bytes = max_messages_bytes(max_record_bytes)

    def change(self, batch: Batch, record: ConsumedRecord, change: MessageChange, state: SessionState | None, digest: bytes) -> Changed:
        """Applies a change to the window that has the message.

        Args:
            batch: The current batch.
            record: The record of the change.
            change: The change.
            state: The session; its open window is changed in place. None: the session is unknown.
            digest: The digest of the message's id (:func:`streams.stages.sessions.known_ids.digest_of`).
        """
        if state is None:
            return Changed("unknown")
        index = state.index_of(change.user, change.id)
        if index is not None:
            return Changed(self._change_open(state, index, change, record)) if state.raw_messages[index] else Changed("unknown")
        key = encode_key(change.tenant, change.session)
        window = self._closed_windows.find(batch.state, key, digest, sequence=state.sequence)
        index = None if window is None else window.index_of(change.user, change.id)
        if window is None or index is None:
            return Changed("unknown")
        if change.command in ("hide", "show"):
            hidden = window.hidden | {index} if change.command == "hide" else window.hidden - {index}
            window = replace(window, hidden=hidden)
            self._closed_windows.put(batch.state, key, window, offset=record.offset)
            return Changed("unchanged", window)
        raw = self._raw_after(change, window.messages[index], record)
        if raw == window.messages[index]:
            return Changed("unchanged")
        size = sum(len(each) + 1 for each in window.messages) + len(raw) - len(window.messages[index])
        if size > self._max_window_bytes:
            return Changed("too_large")
        tokens = window.tokens + tokens_of(raw) - tokens_of(window.messages[index])
        window = window.changed({index: raw}, tokens=tokens)
        self.publish_again(batch, record, key, window, [change.id])
        return Changed("edited" if raw else "deleted", window)

    def publish_again(
        self,
        batch: Batch,
        record: ConsumedRecord,
        key: bytes,
        window: ClosedWindow,
        message_ids: Sequence[str],
        *,
        is_erasure: bool = False,
    ) -> None:
        """Stores and publishes the next revision of a window, and retracts the results that are based on the changed messages.

        Args:
            batch: The current batch.
            record: The record of the change.
            key: The session's key.
            window: The next revision.
            message_ids: The changed messages.
            is_erasure: Whether the window lost the messages of an erased user.
        """
        self._closed_windows.put(batch.state, key, window, offset=record.offset)
        batch.emit(OutgoingRecord(self._windows_topic, window.key, window.record(partition=self._partition)), record)
        for user in window.users:
            for start in range(0, len(message_ids), _MESSAGES_OF_A_RETRACTION):
                retraction = MessageRetraction(
                    tenant=window.tenant,
                    user=user,
                    window_id=window.part_id(user),
                    revision=window.revision,
                    message_ids=list(message_ids[start : start + _MESSAGES_OF_A_RETRACTION]),
                    is_erasure=is_erasure,
                )
                key_of_user = distinct_key(window.tenant, user)
                batch.emit(OutgoingRecord(self._extractions_topic, key_of_user, retraction.to_json(), ((KIND, RETRACTION),)), record)

    async def erase(self, batch: Batch, record: ConsumedRecord, tenant: str, user: str) -> AsyncIterator[tuple[bytes, ClosedWindow]]:
        """Removes an erased user from the closed windows.

        Yields:
            The windows that other users share, with the session's key. They are published again without the user's messages.
        """
        yielder = Yielder()
        for key, window in self._closed_windows.take(batch.state, tenant, user, offset=record.offset):
            await yielder.maybe_yield()
            if set(window.users) <= {user}:
                if window.is_shared:
                    # Its key does not name the user, so the erasure itself finds no record to remove.
                    batch.emit(OutgoingRecord(self._windows_topic, window.key, None), record)
                continue
            ids = [each for each, author in zip(window.ids, window.authors, strict=True) if author == user]
            tokens = sum(tokens_of(raw) for raw, author in zip(window.messages, window.authors, strict=True) if author != user)
            shared = window.without_user(user, tokens=tokens)
            self.publish_again(batch, record, key, shared, ids, is_erasure=True)
            yield key, shared

    def _change_open(self, state: SessionState, index: int, change: MessageChange, record: ConsumedRecord) -> Outcome:
        match change.command:
            case "hide":
                state.hidden.add(index)
                return "unchanged"
            case "show":
                state.hidden.discard(index)
                return "unchanged"
        before = state.raw_messages[index]
        raw = self._raw_after(change, before, record)
        if raw == before:
            return "unchanged"
        if state.size + len(raw) - len(before) > self._max_window_bytes:
            return "too_large"
        state.replace(index, raw)
        return "edited" if raw else "deleted"

    def _raw_after(self, change: MessageChange, raw: bytes, record: ConsumedRecord) -> bytes:
        """The message after the change; the same bytes if it has the text already.

        Raises:
            RecordTooLargeError: If it is too large for a window.
        """
        if change.command == "delete":
            return DELETED
        fields = orjson.loads(raw)
        if fields.get("text") == change.text:
            return raw
        edited = orjson.dumps({**fields, "text": change.text, "edited_at": (change.edited_at or record.appended_at).isoformat()})
        check_message_size(edited, self._max_record_bytes)
        return edited


def is_text_changed(sent: bytes, known: bytes) -> bool:
    """Whether a message that was sent again has another text than the known one, which was neither edited nor deleted since."""
    if not known:
        return False
    before, again = orjson.loads(known), orjson.loads(sent)
    return "edited_at" not in before and any((before.get(name) or None) != (again.get(name) or None) for name in ("text", "tool_call"))


def is_change(value: bytes) -> bool:
    """Whether a record's value is a change of a message."""
    try:
        return is_message_change(orjson.loads(value))
    except orjson.JSONDecodeError:
        return False


def refusal_of(change: MessageChange, outcome: str) -> PoisonRecordError:
    """The error for a change that had no effect, and whose outcome no request waits for."""
    message = f"message {change.id!r} of user {change.user!r} in session {change.session!r}"
    if outcome == "unknown":
        return PoisonRecordError("unknown_message", f"there is no {message}, or it was deleted before")
    return PoisonRecordError("too_large", f"with the new text of {message}, its window would exceed the limit of a record")
