"""Serialization of the stage's rows.

A session is a JSON head, a zero byte, then the open window's messages as in the log. Other rows begin with a byte that no JSON begins with.
-
"""

from typing import Final

import orjson

from streams.stages.sessions.known_ids import DedupPage
from streams.stages.sessions.marks import LogTime, OpenWindowIndex
from streams.stages.sessions.windows import SessionState

SessionsRow = SessionState | DedupPage | LogTime | OpenWindowIndex

_PAGE: Final = b"\x01"
_LOG_TIME: Final = b"\x02"
_OPEN: Final = b"\x03"
_TIME_BYTES: Final = 8


class SessionCodec:
    """Serializes sessions, pages of known ids, marks of open windows, and the log's time."""

    def encode(self, state: SessionsRow) -> bytes:
        """The row's bytes."""
        match state:
            case DedupPage():
                return _PAGE + _time(state.minute) + state.digests
            case LogTime():
                return _LOG_TIME + _time(state.minute) + (b"" if state.newest_ms is None else _time(state.newest_ms))
            case OpenWindowIndex():
                return _OPEN
            case SessionState():
                return self._encode_session(state)

    def decode(self, raw: bytes) -> SessionsRow:
        """The row that :meth:`encode` wrote."""
        kind, times = raw[:1], raw[1:]
        if kind == _PAGE:
            return DedupPage(_read_time(times), times[_TIME_BYTES:])
        if kind == _LOG_TIME:
            newest = times[_TIME_BYTES:]
            return LogTime(_read_time(times), _read_time(newest) if newest else None)
        if kind == _OPEN:
            return OpenWindowIndex()
        return self._decode_session(raw)

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
        oldest_page, newest_page = head["pages"]
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
            oldest_page=oldest_page,
            newest_page=newest_page,
            redriven_origins=head["redriven"],
            traces=head.get("traces", []),
        )


def _time(number: int) -> bytes:
    return number.to_bytes(_TIME_BYTES, "big", signed=True)


def _read_time(raw: bytes) -> int:
    return int.from_bytes(raw[:_TIME_BYTES], "big", signed=True)
