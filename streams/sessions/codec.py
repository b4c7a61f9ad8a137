"""The stage's rows as bytes.

A session's: a JSON head, a zero byte, then the open window's messages as they lie in the log. A page's and the log time's begin with a byte
that no JSON begins with.
"""

from typing import Final

import orjson

from streams.sessions.known_ids import IdPage, LogTime
from streams.sessions.windows import SessionState

SessionsRow = SessionState | IdPage | LogTime

_PAGE: Final = b"\x01"
_LOG_TIME: Final = b"\x02"
_MINUTE_BYTES: Final = 8


class SessionCodec:
    """Writes and reads sessions, the pages of their known ids, and the log's time."""

    def encode(self, state: SessionsRow) -> bytes:
        """The row's bytes."""
        match state:
            case IdPage():
                return _PAGE + state.minute.to_bytes(_MINUTE_BYTES, "big", signed=True) + state.digests
            case LogTime():
                return _LOG_TIME + state.minute.to_bytes(_MINUTE_BYTES, "big", signed=True)
            case SessionState():
                return self._encode_session(state)

    def decode(self, raw: bytes) -> SessionsRow:
        """The row that :meth:`encode` wrote."""
        kind = raw[:1]
        if kind not in (_PAGE, _LOG_TIME):
            return self._decode_session(raw)
        minute = int.from_bytes(raw[1 : 1 + _MINUTE_BYTES], "big", signed=True)
        return LogTime(minute) if kind == _LOG_TIME else IdPage(minute, raw[1 + _MINUTE_BYTES :])

    def _encode_session(self, state: SessionState) -> bytes:
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
            "remembered": state.recent_ids,
            "pages": [state.oldest_page, state.newest_page],
            "redriven": state.redriven_origins,
            "lengths": [len(raw) for raw in state.raw_messages],
        }
        if state.traces:
            head["traces"] = state.traces
        return b"\0".join((orjson.dumps(head), b"".join(state.raw_messages)))

    def _decode_session(self, raw: bytes) -> SessionState:
        packed, _, messages = raw.partition(b"\0")
        head = orjson.loads(packed)
        oldest_page, newest_page = head.get("pages", (0, -1))  # A row of a version without pages has none.
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
            recent_ids=head["remembered"],
            oldest_page=oldest_page,
            newest_page=newest_page,
            redriven_origins=head["redriven"],
            traces=head.get("traces", []),
        )
