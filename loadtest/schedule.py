"""A schedule of arrivals: an open loop, drawn from a seed. No arrival waits for an answer, so a stall of Varve delays none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from typing import Final, Literal

from loadtest.load_profiles import LoadProfile

Kind = Literal["http", "kafka", "recall", "probe"]

_OPEN_SESSIONS: Final = 20
"""Open sessions of a tenant."""
_SESSION_MESSAGES: Final = 12
"""Mean of a session's length, which is geometric."""
_ZIPF: Final = 1.1
_PEOPLE: Final = ("Ann", "Bo", "Chidi", "Dana", "Emre", "Fay", "Goro", "Hannah", "Ines", "Jun")
_PLACES: Final = ("Oslo", "Bergen", "Porto", "Lima", "Kyoto", "Tartu", "Graz", "Cork", "Accra", "Quito")
_DEEDS: Final = (
    "{person} moved to house number {number} in {place} last week.",
    "I paid {number} euros for the train to {place}, and {person} laughed about it.",
    "{person} likes the bakery in {place} more than ours, it opens at {hour}.",
    "Please remember that {person}'s flight from {place} lands at {hour}.",
    "We ran {number} kilometres along the river in {place}, {person} was faster than me.",
    "The doctor in {place} told {person} to drink less coffee than {number} cups a day.",
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One thing that somebody does."""

    at_s: float
    """Since the run began."""
    kind: Kind
    tenant: int
    user: str
    session: str
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Texts:
    """Where texts come from. Those of probes are made up in any case: nobody else says the same."""

    said: Sequence[str] = ()
    """Texts of a conversation: each session is a part of it, with a random start. Empty: messages are made up."""
    asked: Sequence[str] = ()
    """Queries of recalls; empty: taken from ``said``, or made up."""
    _places: dict[tuple[int, str], int] = field(default_factory=dict)
    """How far each session has come in ``said``."""

    def of(self, kind: Kind, tenant: int, session: str, rng: Random) -> str:
        """The text of the next arrival.

        Args:
            kind: What arrives.
            tenant: Whose.
            session: The tenant's session.
            rng: Draws it.
        """
        if kind == "recall" and (self.asked or self.said):
            return rng.choice(self.asked or self.said)
        if kind == "probe" or not self.said:
            return _text(rng)
        place = self._places.get((tenant, session))
        place = rng.randrange(len(self.said)) if place is None else (place + 1) % len(self.said)
        self._places[tenant, session] = place
        return self.said[place]


def arrivals(profile: LoadProfile, *, seed: int, texts: Texts | None = None) -> Iterator[Arrival]:
    """All arrivals of a run in their order: Poisson, tenants by Zipf, messages in sessions of a few.

    Args:
        profile: How much of what.
        seed: The same seed gives the same run.
        texts: What is said and asked; None: it is made up.
    """
    rng, texts = Random(seed), texts or Texts()
    kinds: tuple[tuple[Kind, float], ...] = (
        ("http", profile.messages * (1 - profile.direct_share)),
        ("kafka", profile.messages * profile.direct_share),
        ("recall", profile.recalls),
        ("probe", profile.probes),
    )
    total = sum(rate for _, rate in kinds)
    zipf = list(accumulate(1 / rank**_ZIPF for rank in range(1, profile.tenants + 1)))
    sessions: dict[int, list[str]] = {}
    begun = now = 0.0
    number = 0
    for phase in profile.phases:
        end = begun + phase.seconds
        # Arrivals are memoryless: at a phase's beginning the wait is drawn again.
        now = begun + rng.expovariate(total * phase.factor)
        while now < end:
            number += 1
            kind = rng.choices([kind for kind, _ in kinds], [rate for _, rate in kinds])[0]
            tenant = rng.choices(range(profile.tenants), cum_weights=zipf)[0]
            session = f"probe-{number}" if kind == "probe" else _session(sessions.setdefault(tenant, []), number, rng)
            text = texts.of(kind, tenant, session, rng)
            yield Arrival(now, kind, tenant, f"user-{session}", session, f"{kind}-{number}", text)
            now += rng.expovariate(total * phase.factor)
        begun = end


def _session(open_sessions: list[str], number: int, rng: Random) -> str:
    if len(open_sessions) < _OPEN_SESSIONS:
        open_sessions.append(f"session-{number}")
        return open_sessions[-1]
    place = rng.randrange(_OPEN_SESSIONS)
    if rng.random() < 1 / _SESSION_MESSAGES:
        open_sessions[place] = f"session-{number}"
    return open_sessions[place]


def _text(rng: Random) -> str:
    deed = rng.choice(_DEEDS)
    return deed.format(person=rng.choice(_PEOPLE), place=rng.choice(_PLACES), number=rng.randint(2, 400), hour=f"{rng.randint(0, 23)}:30")
