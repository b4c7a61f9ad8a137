"""Rates and concurrency of whoever shares a limit: one rule, kept in Redis by all processes, or by one process alone.

A rate is kept by the generic cell rate algorithm (ITU-T I.371): each unit takes its share of time, and what has been taken may lie ahead of
the clock by the burst. So a rate is one number, however much it counts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

SATURATED_WAIT_S: Final = 1.0
"""The wait while all slots are taken: any may become free at any time, so it is only a guess."""

_MOST_KEPT: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """So much a second, and at once what so many seconds allow."""

    name: str
    per_second: float
    burst_s: float

    def __post_init__(self) -> None:
        if not (self.per_second > 0 and self.burst_s > 0):
            raise ValueError(f"a rate and its burst are above 0, got {self}")

    @property
    def capacity(self) -> float:
        """What may come at once."""
        return self.per_second * self.burst_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What one request takes of a rate."""

    rate: Rate
    amount: float
    """A request that takes more than may come at once is admitted once all of that is free, and its whole amount counts."""

    @property
    def cost_ms(self) -> float:
        """The time that it takes at this rate."""
        return self.amount * 1000 / self.rate.per_second

    @property
    def burst_ms(self) -> float:
        """How far what was taken may lie ahead of the clock."""
        return self.rate.burst_s * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RateState:
    """How a request stands to one rate."""

    rate: Rate
    wait_ms: float
    """0: the rate admits it. Otherwise how long until it does, if nothing else comes."""
    backlog_ms: float
    """How far what was taken lies ahead of the clock, this request included if it was admitted."""

    @property
    def remaining(self) -> int:
        """What may come at once now."""
        return max(0, math.floor((self.rate.burst_s - self.backlog_ms / 1000) * self.rate.per_second))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of a request. It is admitted as a whole or not at all: what is refused takes nothing."""

    rates: tuple[RateState, ...]
    slot_wait_ms: float = 0.0
    """0, or how long to wait for a slot."""
    free_slots: int = 0
    """How many are left."""
    lease: str | None = None
    """The slot that it holds, to be given back."""
    is_shared: bool = False
    """Kept by Redis; otherwise by this process."""

    @property
    def is_admitted(self) -> bool:
        """Whether it may go on."""
        return self.wait_s == 0

    @property
    def wait_s(self) -> float:
        """0, or after how many seconds to ask again."""
        return max(self.slot_wait_ms, *(each.wait_ms for each in self.rates), 0.0) / 1000


@dataclass(slots=True)
class LocalRateLimits:
    """The limits as one process keeps them by itself. Time is a number of milliseconds on any steady clock."""

    _taken_until: dict[tuple[str, str], float] = field(default_factory=dict)
    _leases: dict[str, set[str]] = field(default_factory=dict)

    def admit(self, subject: str, demands: Sequence[Demand], now_ms: float, *, slots: int | None = None) -> Verdict:
        """Admits a request if all its limits allow it now.

        Args:
            subject: Whose limits.
            demands: What it takes of which rates.
            now_ms: The time.
            slots: How many of its kind may be under way at once; None: any number.
        """
        leases = self._leases.setdefault(subject, set()) if slots is not None else set()
        starts = [max(self._taken_until.get((subject, demand.rate.name), 0.0), now_ms) for demand in demands]
        waits = [
            max(start + min(demand.cost_ms, demand.burst_ms) - demand.burst_ms - now_ms, 0.0)
            for demand, start in zip(demands, starts, strict=True)
        ]
        slot_wait_ms = SATURATED_WAIT_S * 1000 if slots is not None and len(leases) >= slots else 0.0
        lease = None
        if not any(waits) and not slot_wait_ms:
            for index, demand in enumerate(demands):
                starts[index] += demand.cost_ms
                self._taken_until[subject, demand.rate.name] = starts[index]
            if slots is not None:
                lease = uuid4().hex
                leases.add(lease)
        self._forget_past(now_ms)
        return Verdict(
            rates=tuple(
                RateState(rate=demand.rate, wait_ms=wait, backlog_ms=start - now_ms)
                for demand, wait, start in zip(demands, waits, starts, strict=True)
            ),
            slot_wait_ms=slot_wait_ms,
            free_slots=0 if slots is None else max(0, slots - len(leases)),
            lease=lease,
        )

    def release(self, subject: str, lease: str) -> None:
        """Gives a slot back."""
        leases = self._leases.get(subject, set())
        leases.discard(lease)
        if not leases:
            self._leases.pop(subject, None)

    def _forget_past(self, now_ms: float) -> None:
        if len(self._taken_until) > _MOST_KEPT:
            self._taken_until = {key: until for key, until in self._taken_until.items() if until > now_ms}
