"""Load profiles, and schedules of arrivals drawn from a seed. No arrival waits for an answer, so a stall of Varve delays none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from random import Random
from typing import Final, Literal

_AS_FAR_AS_WINDOWS: Final = ("sessions",)


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run with constant rates."""

    seconds: float
    factor: float = 1.0
    """Multiplier of the profile's rates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProfile:
    """Rates of arrivals per second, over all tenants."""

    phases: tuple[Phase, ...]
    messages: float
    direct_share: float
    """Part of the messages that goes to Kafka directly, not over HTTP."""
    recalls: float
    probes: float
    """Freshness probes: a message, its window closed, recalls until it is found."""
    tenants: int
    drained: tuple[str, ...] | None = None
    """The stages that must have no lag in the end; None: all. If messages arrive faster than they can be extracted, only the windows are
    drained."""
    freshness_limit_s: float | None = None
    """The run fails if the freshness probes' p95 is longer."""

    @property
    def seconds(self) -> float:
        """Duration of the load."""
        return sum(phase.seconds for phase in self.phases)

    def lasting(self, seconds: float | None) -> "LoadProfile":
        """The same rates for another duration; each phase keeps its share.

        Args:
            seconds: Total duration. None: the profile's.
        """
        share = 1.0 if seconds is None else seconds / self.seconds
        return replace(self, phases=tuple(Phase(phase.seconds * share, phase.factor) for phase in self.phases))


LOAD_PROFILES: Final[Mapping[str, LoadProfile]] = {
    "smoke": LoadProfile(phases=(Phase(30),), messages=10, direct_share=0.5, recalls=2, probes=0.3, tenants=3),
    # A tenth of the rate that two cores embed, so that nothing queues.
    "freshness": LoadProfile(phases=(Phase(120),), messages=10, direct_share=0.5, recalls=1, probes=0.5, tenants=3, freshness_limit_s=1.0),
    "steady": LoadProfile(
        phases=(Phase(300),), messages=400, direct_share=0.95, recalls=1, probes=0.05, tenants=20, drained=_AS_FAR_AS_WINDOWS
    ),
    "spike": LoadProfile(phases=(Phase(60), Phase(30, 10), Phase(60)), messages=20, direct_share=0.8, recalls=2, probes=0.2, tenants=20),
    "soak": LoadProfile(phases=(Phase(4 * 3600),), messages=40, direct_share=0.5, recalls=2, probes=0.1, tenants=100),
    # A billion tokens a day of one tenant: about 400 messages a second of 29 tokens each.
    "billion": LoadProfile(
        phases=(Phase(600),), messages=400, direct_share=0.95, recalls=1, probes=0.05, tenants=1, drained=_AS_FAR_AS_WINDOWS
    ),
}


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
    """One action of a user."""

    at_s: float
    """Seconds since the start of the run."""
    kind: Kind
    tenant: int
    user: str
    session: str
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Texts:
    """The source of texts. Texts of probes are always generated, so that they are unique."""

    said: Sequence[str] = ()
    """Texts of a conversation: each session is a part of it, with a random start. Empty: generated messages."""
    asked: Sequence[str] = ()
    """Queries of recalls; empty: taken from ``said``, or generated."""
    _places: dict[tuple[int, str], int] = field(default_factory=dict)
    """Each session's position in ``said``."""

    def of(self, kind: Kind, tenant: int, session: str, rng: Random) -> str:
        """The text of the next arrival."""
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
        profile: The rates.
        seed: The same seed gives the same run.
        texts: The texts. None: generated texts.
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
