"""A session's state as bytes: a JSON head, a zero byte, then the open window's messages as they lie in the log."""

from collections import deque

import orjson

from streams.sessions.windows import REMEMBERED_IDS, SessionState


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
            "remembered": list(state.remembered),
            "redriven": state.redriven,
            "lengths": [len(raw) for raw in state.raws],
        }
        return b"\0".join((orjson.dumps(head), b"".join(state.raws)))

    def decode(self, raw: bytes) -> SessionState:
        """The state that :meth:`encode` wrote."""
        packed, _, messages = raw.partition(b"\0")
        head = orjson.loads(packed)
        raws, start = [], 0
        for length in head["lengths"]:
            raws.append(messages[start : start + length])
            start += length
        return SessionState(
            tenant=head["tenant"],
            session=head["session"],
            sequence=head["sequence"],
            user=head["user"],
            raws=raws,
            ids=head["ids"],
            tokens=head["tokens"],
            size=len(messages) + len(raws),
            first_offset=head["first"],
            last_offset=head["last"],
            last_event_ms=head["event"],
            remembered=deque(head["remembered"], maxlen=REMEMBERED_IDS),
            redriven=head["redriven"],
        )
