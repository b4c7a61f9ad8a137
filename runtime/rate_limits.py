"""Rate and concurrency limits, shared by all processes in Redis or kept by one process.

Rates use the generic cell rate algorithm (ITU-T I.371): each unit takes its share of time, and the time taken may be ahead of the clock by
at most the burst. Therefore the state of a rate is one number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

SATURATED_WAIT_S: Final = 1.0
"""The suggested wait while all slots are taken; only an estimate, because a slot may become free at any time."""

_MOST_KEPT: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A rate with the burst that accumulates in ``burst_s`` seconds."""

    name: str
    per_second: float
    burst_s: float

    def __post_init__(self) -> None:
        if not (self.per_second > 0 and self.burst_s > 0):
            raise ValueError(f"a rate and its burst must be above 0, got {self}")

    @property
    def capacity(self) -> float:
        """Largest amount at once."""
        return self.per_second * self.burst_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Amount that one request takes of a rate."""

    rate: Rate
    amount: float
    """A request above the rate's capacity is admitted once the whole capacity is free, and its whole amount counts."""

    @property
    def cost_ms(self) -> float:
        """The amount as time at this rate."""
        return self.amount * 1000 / self.rate.per_second

    @property
    def burst_ms(self) -> float:
        """Limit by which the time taken may be ahead of the clock."""
        return self.rate.burst_s * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RateState:
    """Result of a request for one rate."""

    rate: Rate
    wait_ms: float
    """0: the rate admits it. Otherwise the time until it does, if no other request comes."""
    backlog_ms: float
    """How far the time taken is ahead of the clock, including this request if it was admitted."""

    @property
    def remaining(self) -> int:
        """Amount that is available now."""
        return max(0, math.floor((self.rate.burst_s - self.backlog_ms / 1000) * self.rate.per_second))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Result of a request. It is admitted as a whole or not at all: a rejected request takes nothing."""

    rates: tuple[RateState, ...]
    slot_wait_ms: float = 0.0
    """Time to wait for a slot; 0 if there is one."""
    free_slots: int = 0
    """Number of free slots."""
    lease: str | None = None
    """The slot that the request holds and has to release."""
    is_shared: bool = False
    """Whether Redis keeps the limits; otherwise this process does."""

    @property
    def is_admitted(self) -> bool:
        """Whether the request is admitted."""
        return self.wait_s == 0

    @property
    def wait_s(self) -> float:
        """Seconds until a retry; 0 if admitted."""
        return max(self.slot_wait_ms, *(each.wait_ms for each in self.rates), 0.0) / 1000


@dataclass(slots=True)
class LocalRateLimits:
    """The limits of a single process. Times are milliseconds of any monotonic clock."""

    _taken_until: dict[tuple[str, str], float] = field(default_factory=dict)
    _leases: dict[str, set[str]] = field(default_factory=dict)

    def admit(self, subject: str, demands: Sequence[Demand], now_ms: float, *, slots: int | None = None) -> Verdict:
        """Admits a request if all its limits allow it now.

        Args:
            subject: The owner of the limits.
            demands: The amounts of the rates.
            now_ms: The time.
            slots: Limit for concurrent requests of this kind. Default: no limit.
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
        """Releases a slot."""
        leases = self._leases.get(subject, set())
        leases.discard(lease)
        if not leases:
            self._leases.pop(subject, None)

    def _forget_past(self, now_ms: float) -> None:
        if len(self._taken_until) > _MOST_KEPT:
            self._taken_until = {key: until for key, until in self._taken_until.items() if until > now_ms}
