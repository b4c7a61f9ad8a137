"""The messages of a chaos run, drawn from a seed."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from memory.keys import encode_key
from memory.records import Message
from tests.chaos.utterances import utterance

START = datetime(2025, 3, 1, 8, tzinfo=UTC)
PAUSE = timedelta(minutes=3)
SILENCE = timedelta(minutes=45)


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How people talk in a run."""

    sessions: int = 32
    users: int = 8
    hot_share: float = 0.0
    """Part of all messages that goes into one session."""
    jumps: float = 0.0
    """Part of the messages whose session's clock jumps by days, back or ahead."""
    strangers: float = 0.0
    """Part of the messages in which another user takes over the session."""
    astray: float = 0.0
    """Part of the messages that a foreign producer puts into another partition than their key says."""


class Script:
    """Gives message after message.

    Args:
        tenant: Whose messages they are.
        seed: What they are drawn from.
        habits: How people talk.
    """

    def __init__(self, *, tenant: str, seed: int, habits: Habits) -> None:
        self._name = f"{seed}/{tenant}"
        self._rng = Random(f"{self._name}/script")
        self._tenant = tenant
        self._habits = habits
        self._clocks = [START + timedelta(seconds=self._rng.uniform(0, 600)) for _ in range(habits.sessions)]
        self._count = 0

    def next(self) -> Message:
        """The next message, with an id of its own."""
        rng, habits = self._rng, self._habits
        place = 0 if rng.random() < habits.hot_share else rng.randrange(habits.sessions)
        self._clocks[place] += self._step()
        user = (place + (rng.random() < habits.strangers)) % habits.users
        self._count += 1
        return Message(
            tenant=self._tenant,
            user=f"user-{user}",
            session=f"session-{place}",
            id=f"m{self._count:06d}",
            text=utterance(rng, self._count),
            event_time=self._clocks[place],
        )

    def goes_astray(self, message: Message) -> bool:
        """Whether a message is put into a wrong partition, however often it is sent."""
        return Random(f"{self._name}/{message.id}/astray").random() < self._habits.astray

    def _step(self) -> timedelta:
        if self._rng.random() < self._habits.jumps:
            return timedelta(days=self._rng.choice((-200, -30, -1, 1, 30)), seconds=self._rng.uniform(0, 86400))
        return self._rng.choices((timedelta(seconds=self._rng.uniform(1, 30)), PAUSE, SILENCE), (30, 2, 1))[0]


def key_of(message: Message) -> bytes:
    """The key under which a message lies in its log."""
    return encode_key(message.tenant, message.session)
