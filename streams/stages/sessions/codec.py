"""Serialization of the stage's rows.

A session is a JSON head, a zero byte, then the open window's messages as in the log. Other rows begin with a byte that no JSON begins with.
-
"""

from typing import Final

import orjson

from streams.stages.sessions.closed_windows import ClosedWindow, PlacesPage, WindowOfUser, cut
from streams.stages.sessions.known_ids import DedupPage
from streams.stages.sessions.partition_rows import LogTime, OpenWindowMark
from streams.stages.sessions.windows import SessionState

SessionsRow = SessionState | DedupPage | LogTime | OpenWindowMark | ClosedWindow | PlacesPage | WindowOfUser

_PAGE: Final = b"\x01"
_LOG_TIME: Final = b"\x02"
_OPEN: Final = b"\x03"
_CLOSED: Final = b"\x04"
_PLACES: Final = b"\x05"
_OF_USER: Final = b"\x06"
_TIME_BYTES: Final = 8


class SessionCodec:
    """Serializes sessions, closed windows, pages of known ids, marks, and the log's time."""

    def encode(self, state: SessionsRow) -> bytes:
        """The row's bytes."""
        match state:
            case DedupPage():
                return _PAGE + _time(state.minute) + state.digests
            case LogTime():
                return _LOG_TIME + _time(state.minute) + (b"" if state.newest_ms is None else _time(state.newest_ms))
            case OpenWindowMark():
                return _OPEN
            case ClosedWindow():
                return _CLOSED + state.encode()
            case PlacesPage():
                return _PLACES + state.entries
            case WindowOfUser():
                return _OF_USER + _time(state.sequence) + state.session_key
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
            return OpenWindowMark()
        if kind == _CLOSED:
            return ClosedWindow.decode(raw[1:])
        if kind == _PLACES:
            return PlacesPage(raw[1:])
        if kind == _OF_USER:
            return WindowOfUser(times[_TIME_BYTES:], _read_time(times))
        return self._decode_session(raw)

    def _encode_session(self, state: SessionState) -> bytes:
        users = list(dict.fromkeys(state.authors))
        head = {
            "tenant": state.tenant,
            "session": state.session,
            "sequence": state.sequence,
            "users": users,
            "ids": state.ids,
            "tokens": state.tokens,
            "first": state.first_offset,
            "last": state.last_offset,
            "event": state.last_event_ms,
            "pages": [state.oldest_page, state.newest_page],
            "redriven": state.redriven_origins,
            "lengths": [len(raw) for raw in state.raw_messages],
        }
        if len(users) > 1:
            head["authors"] = [users.index(each) for each in state.authors]
        if state.hidden:
            head["hidden"] = sorted(state.hidden)
        if state.traces:
            head["traces"] = state.traces
        return b"\0".join((orjson.dumps(head), b"".join(state.raw_messages)))

    def _decode_session(self, raw: bytes) -> SessionState:
        packed, _, messages = raw.partition(b"\0")
        head = orjson.loads(packed)
        oldest_page, newest_page = head["pages"]
        raw_messages = list(cut(messages, head["lengths"]))
        users = head["users"]
        authors = [users[each] for each in head["authors"]] if "authors" in head else users * len(raw_messages)
        return SessionState(
            tenant=head["tenant"],
            session=head["session"],
            sequence=head["sequence"],
            raw_messages=raw_messages,
            ids=head["ids"],
            authors=authors,
            hidden=set(head.get("hidden", ())),
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
