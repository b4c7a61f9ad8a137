"""Load profiles: how much of what arrives, and when."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

_AS_FAR_AS_WINDOWS: Final = ("sessions",)


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run in which the rates stay as they are."""

    seconds: float
    factor: float = 1.0
    """Multiplier of the profile's rates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProfile:
    """Rates are arrivals a second, over all tenants."""

    phases: tuple[Phase, ...]
    messages: float
    direct_share: float
    """Part of the messages that goes to Kafka directly, not over HTTP."""
    recalls: float
    probes: float
    """Freshness probes: a message, its window closed, recalls until it is found."""
    tenants: int
    drained: tuple[str, ...] | None = None
    """The stages that must have no lag in the end; None: all. What arrives faster than it can be extracted is drained as far as windows."""
    freshness_limit_s: float | None = None
    """The run fails if the freshness probes' p95 is longer."""

    @property
    def seconds(self) -> float:
        """How long arrivals come."""
        return sum(phase.seconds for phase in self.phases)

    def lasting(self, seconds: float | None) -> "LoadProfile":
        """The same arrivals a second for another time; each phase keeps its share of it.

        Args:
            seconds: In all; None: the profile's own.
        """
        share = 1.0 if seconds is None else seconds / self.seconds
        return replace(self, phases=tuple(Phase(phase.seconds * share, phase.factor) for phase in self.phases))


LOAD_PROFILES: Final[Mapping[str, LoadProfile]] = {
    "smoke": LoadProfile(phases=(Phase(30),), messages=10, direct_share=0.5, recalls=2, probes=0.3, tenants=3),
    # A tenth of what two cores embed: what there is to wait for is then the way itself.
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
