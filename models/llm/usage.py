"""Usage of calls: the port that receives each, and the sums over many."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from memory.records import Usage


class UsageSink(Protocol):
    """Where every call's usage goes: the ``usage`` topic."""

    async def record(self, usage: Usage) -> None:
        """Records one call's usage."""
        ...


class UsageKey(NamedTuple):
    """The dimensions by which usage is summed."""

    tenant: str
    stage: str
    model: str


class UsageTotal(NamedTuple):
    """The sums over calls."""

    calls: int = 0
    estimated_calls: int = 0
    """Calls whose tokens the endpoint did not count."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    latency_ms: float = 0.0
    """The sum; divide by ``calls`` for the mean."""

    @property
    def cached_share(self) -> float:
        """The share of the prompt tokens that providers' prefix caches held, in [0, 1]."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0

    def plus(self, usage: Usage) -> "UsageTotal":
        """The sums with one more record."""
        return UsageTotal(
            calls=self.calls + usage.calls,
            estimated_calls=self.estimated_calls + (usage.calls if usage.estimated else 0),
            prompt_tokens=self.prompt_tokens + usage.prompt_tokens,
            cached_tokens=self.cached_tokens + usage.cached_tokens,
            completion_tokens=self.completion_tokens + usage.completion_tokens,
            cost=self.cost + usage.cost,
            latency_ms=self.latency_ms + usage.latency_ms,
        )


def sum_usage(records: Iterable[Usage]) -> dict[UsageKey, UsageTotal]:
    """Sums usage by tenant, stage and model, in the order of these names."""
    totals: dict[UsageKey, UsageTotal] = {}
    for usage in records:
        key = UsageKey(usage.tenant, usage.stage, usage.model)
        totals[key] = totals.get(key, UsageTotal()).plus(usage)
    return dict(sorted(totals.items()))
