"""The messages of a chaos run, drawn from a seed."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from memory.keys import encode_key
from memory.records import Message
from tests.chaos.utterances import utterance

START = datetime(2025, 3, 1, 8, tzinfo=UTC)
LONG_PAUSE = timedelta(minutes=3)
SILENCE = timedelta(minutes=45)
LEAP_DAYS = (2.0, 6.0)
_RELATIONS = 3
"""Weight of messages that state a relation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficProfile:
    """How users send messages in a run."""

    sessions: int = 32
    users: int = 8
    hot_key_share: float = 0.0
    """Share of all messages that goes into one session."""
    clock_jump_share: float = 0.0
    """Share of the messages whose session's clock jumps by days, back or ahead."""
    user_change_share: float = 0.0
    """Share of the messages in which another user takes over the session."""
    leap_every: int = 30
    """After so many messages the clocks of all sessions leap ahead by some days, so that timelines age."""
    methods: bool = False
    """Whether the tenant has the operators of the memory methods, and users also state relations."""
    misrouted_share: float = 0.0
    """Share of the messages that a foreign producer puts into another partition than their key's."""


class MessageGenerator:
    """Makes message after message.

    Args:
        tenant: The sender.
        seed: The seed of all draws.
        traffic: How users send.
        first: The number before its first message's: what else writes for the tenant has others.
    """

    def __init__(self, *, tenant: str, seed: int, traffic: TrafficProfile, first: int = 0) -> None:
        self._name = f"{seed}/{tenant}"
        self._rng = Random(f"{self._name}/messages")
        self._tenant = tenant
        self._traffic = traffic
        self._clocks = [START + timedelta(seconds=self._rng.uniform(0, 600)) for _ in range(traffic.sessions)]
        self._count = first

    def next(self) -> Message:
        """The next message, with its own id."""
        rng, traffic = self._rng, self._traffic
        index = 0 if rng.random() < traffic.hot_key_share else rng.randrange(traffic.sessions)
        if self._count % traffic.leap_every == traffic.leap_every - 1:
            leap = timedelta(days=rng.uniform(*LEAP_DAYS))
            self._clocks = [each + leap for each in self._clocks]
        self._clocks[index] += self._step()
        user = (index + (rng.random() < traffic.user_change_share)) % traffic.users
        self._count += 1
        return Message(
            tenant=self._tenant,
            user=f"user-{user}",
            session=f"session-{index}",
            id=f"m{self._count:06d}",
            text=utterance(rng, self._count, relations=_RELATIONS if traffic.methods else 0),
            event_time=self._clocks[index],
        )

    def is_misrouted(self, message: Message) -> bool:
        """Whether a message goes to a wrong partition, however often it is sent."""
        return Random(f"{self._name}/{message.id}/misrouted").random() < self._traffic.misrouted_share

    def _step(self) -> timedelta:
        if self._rng.random() < self._traffic.clock_jump_share:
            return timedelta(days=self._rng.choice((-200, -30, -1, 1, 30)), seconds=self._rng.uniform(0, 86400))
        return self._rng.choices((timedelta(seconds=self._rng.uniform(1, 30)), LONG_PAUSE, SILENCE), (30, 2, 1))[0]


def key_of(message: Message) -> bytes:
    """The key of a message's record."""
    return encode_key(message.tenant, message.session)
