"""The sessions for the prompt of the proxy model, and a selection if not all fit (MemSifter 3.2, and appendix A: coarse filtering).

A session's text consists of its memories and does not depend on the query, so the prompts of one user's queries have a common prefix.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory.fencing import one_line
from memory.records import Memory
from memory.records.wording import attributed_text
from memory.text import estimate_tokens
from retrieval.request import RecallHit

_BEST_OF_SESSION: Final = 3
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
    """One for each memory, oldest first."""
    tokens: int
    score: float
    """Relevance to the query: the mean of the scores of its best three memories."""


def sessions_of(hits: Iterable[RecallHit]) -> list[SessionText]:
    """The sessions of memories, the oldest first. Memories without a session are left out.

    Args:
        hits: The memories, in any order.
    """
    by_session: dict[SessionKey, list[RecallHit]] = defaultdict(list)
    for hit in hits:
        if hit.memory.session is not None:
            by_session[SessionKey(hit.memory.user, hit.memory.session)].append(hit)
    for of_session in by_session.values():
        of_session.sort(key=lambda hit: _order(hit.memory))
    begun = sorted(by_session, key=lambda key: (_order(by_session[key][0].memory), key.user or "", key.session))
    return [_session(key, by_session[key]) for key in begun]


def within_budget(sessions: Sequence[SessionText], tokens: int) -> list[SessionText]:
    """All sessions if they fit, else the most relevant ones that fit, in the same order. Sessions that are too long are skipped.

    Args:
        sessions: The oldest first.
        tokens: Most tokens of all sessions together.
    """
    if sum(each.tokens for each in sessions) <= tokens:
        return list(sessions)
    kept: set[SessionKey] = set()
    for each in nearest(sessions, len(sessions)):
        if each.tokens <= tokens:
            kept.add(each.key)
            tokens -= each.tokens
    return [each for each in sessions if each.key in kept]


def nearest(sessions: Iterable[SessionText], number: int) -> list[SessionText]:
    """The most relevant sessions, best first."""
    return sorted(sessions, key=lambda each: -each.score)[:number]


def _session(key: SessionKey, hits: Sequence[RecallHit]) -> SessionText:
    lines = tuple(f"{hit.memory.event_time.date().isoformat()} {one_line(attributed_text(hit.memory))}" for hit in hits)
    best = sorted((hit.score for hit in hits), reverse=True)[:_BEST_OF_SESSION]
    return SessionText(key, lines, _TAG_TOKENS + sum(estimate_tokens(f"{each}\n") for each in lines), sum(best) / len(best))


def _order(memory: Memory) -> tuple[object, ...]:
    return memory.event_time, memory.turn or 0, memory.id
