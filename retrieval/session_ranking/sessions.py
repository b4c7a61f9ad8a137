"""The sessions that the proxy model ranks (MemSifter 3.2): whole, with their turns, oldest first.

A session's text consists of its memories and does not depend on the query, so the prompts of one user's queries have a common prefix.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory.records import Memory
from memory.schema.method import SEGMENT, TURN
from memory.texts.fencing import one_line
from memory.texts.text import estimate_tokens
from retrieval.context_lines import dated_text
from retrieval.request import HistoryContent
from runtime.pieces import map_in_pieces

_TAG_TOKENS: Final = 12
"""Tokens of the two lines around a session."""


@dataclass(frozen=True, slots=True)
class SessionKey:
    """The user and the name of a session."""

    user: str | None
    session: str


@dataclass(frozen=True, slots=True)
class SessionText:
    """One session in the prompt."""

    key: SessionKey
    lines: tuple[str, ...]
    """One for each turn or event, oldest first."""
    tokens: int
    contents: frozenset[HistoryContent] = frozenset()
    """The content of the lines: both if a part of its windows has no archived messages."""


@dataclass(frozen=True, slots=True)
class Line:
    """A turn or event in the prompt."""

    text: str
    tokens: int


def line_of(memory: Memory) -> Line:
    """The line of a memory: its date, its speaker and its text, which can neither close a tag nor begin another line."""
    text = one_line(dated_text(memory))
    return Line(text, estimate_tokens(f"{text}\n"))


async def read_sessions(memories: Sequence[Memory], content: HistoryContent) -> list[SessionText]:
    """As :func:`sessions_of`; the event loop runs other tasks in between."""
    lines = await map_in_pieces(line_of, memories)
    by_id = {memory.id: line for memory, line in zip(memories, lines, strict=True)}
    return sessions_of(memories, content, line=lambda memory: by_id[memory.id])


def sessions_of(
    memories: Iterable[Memory], content: HistoryContent = "events", *, line: Callable[[Memory], Line] = line_of
) -> list[SessionText]:
    """The sessions of memories, the oldest first. Memories without a session are left out.

    Args:
        memories: Events, in any order.
        content: The content to show.
        line: Makes the line of a memory.
    """
    windows: dict[SessionKey, dict[str | None, list[Memory]]] = defaultdict(lambda: defaultdict(list))
    for memory in memories:
        if memory.session is not None:
            windows[SessionKey(memory.user, memory.session)][memory.window_id].append(memory)
    shown = {key: [each for window in of_session.values() for each in _shown(window, content)] for key, of_session in windows.items()}
    for of_session in shown.values():
        of_session.sort(key=_order)
    begun = sorted((key for key in shown if shown[key]), key=lambda key: (_order(shown[key][0]), key.user or "", key.session))
    return [_session(key, shown[key], [line(each) for each in shown[key]]) for key in begun]


def session_key(memory: Memory) -> SessionKey | None:
    """The session of a memory. None: it belongs to none."""
    return None if memory.session is None else SessionKey(memory.user, memory.session)


def _shown(window: Sequence[Memory], content: HistoryContent) -> list[Memory]:
    """The memories of a window that are shown: one kind only, since turns, segments and events repeat each other."""
    turns = [each for each in window if each.type == TURN]
    segments = [each for each in window if each.type == SEGMENT]
    events = [each for each in window if each.type not in (TURN, SEGMENT)]
    return (turns if content == "turns" else []) or events or segments


def _session(key: SessionKey, memories: Sequence[Memory], lines: Sequence[Line]) -> SessionText:
    contents: frozenset[HistoryContent] = frozenset("turns" if each.type == TURN else "events" for each in memories)
    return SessionText(key, tuple(each.text for each in lines), _TAG_TOKENS + sum(each.tokens for each in lines), contents)


def _order(memory: Memory) -> tuple[object, ...]:
    return memory.said_at or memory.event_time, memory.turn or 0, memory.id
