"""A session's state as bytes: a JSON head, a zero byte, then the open window's messages as they lie in the log."""

from collections import deque

import orjson

from streams.sessions.windows import MAX_RECENT_IDS, SessionState


class SessionCodec:
    """Writes and reads :class:`SessionState`."""

    def encode(self, state: SessionState) -> bytes:
        """The state's bytes."""
        head = {
            "tenant": state.tenant,
            "session": state.session,
            "sequence": state.sequence,
            "user": state.user,
            "ids": state.ids,
            "tokens": state.tokens,
            "first": state.first_offset,
            "last": state.last_offset,
            "event": state.last_event_ms,
            "remembered": list(state.recent_ids),
            "redriven": state.redriven_origins,
            "lengths": [len(raw) for raw in state.raw_messages],
        }
        return b"\0".join((orjson.dumps(head), b"".join(state.raw_messages)))

    def decode(self, raw: bytes) -> SessionState:
        """The state that :meth:`encode` wrote."""
        packed, _, messages = raw.partition(b"\0")
        head = orjson.loads(packed)
        raw_messages, start = [], 0
        for length in head["lengths"]:
            raw_messages.append(messages[start : start + length])
            start += length
        return SessionState(
            tenant=head["tenant"],
            session=head["session"],
            sequence=head["sequence"],
            user=head["user"],
            raw_messages=raw_messages,
            ids=head["ids"],
            tokens=head["tokens"],
            size=len(messages) + len(raw_messages),
            first_offset=head["first"],
            last_offset=head["last"],
            last_event_ms=head["event"],
            recent_ids=deque(head["remembered"], maxlen=MAX_RECENT_IDS),
            redriven_origins=head["redriven"],
        )
