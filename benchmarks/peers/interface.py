"""The interface of a measured system, and the data that the worker and the command exchange."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

LIMIT = 10
"""Number of results that a search requests."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation."""

    id: str
    """Unique among all conversations."""
    user: str
    """The conversation: each system keeps the conversations apart as it keeps users apart."""
    session: str
    role: str
    speaker: str
    text: str
    event_time: str
    """In ISO 8601, with an offset."""

    @property
    def with_speaker(self) -> str:
        """The text after the speaker's name, for systems that have no field for the speaker."""
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class Query:
    """A question to one conversation."""

    user: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A search result."""

    turn_ids: tuple[str, ...]
    """The messages that the result contains, or from which the system derived it."""
    text: str


class MemorySystem(Protocol):
    """A running system."""

    async def add(self, turns: Sequence[Turn]) -> float:
        """Stores messages.

        Returns:
            Seconds until a search can find all of them.
        """
        ...

    async def search(self, query: Query) -> list[Found]:
        """The :data:`LIMIT` best results, best first. Several callers may search at the same time."""
        ...


def by_session(turns: Sequence[Turn]) -> list[list[Turn]]:
    """The messages of each session, in order."""
    sessions: dict[tuple[str, str], list[Turn]] = {}
    for turn in turns:
        sessions.setdefault((turn.user, turn.session), []).append(turn)
    return list(sessions.values())
