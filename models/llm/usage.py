"""Usage of LLM calls: token prices, the port that receives each call's usage, and sums over calls."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from memory.records import Usage
from models.errors import ModelConfigurationError
from models.llm.port import LLMRequest, LLMUsage

_PER = 1_000_000


class Price(BaseModel):
    """The price of a million tokens, in whatever currency the table is kept in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    """Prompt tokens out of the provider's prefix cache; as ``prompt`` where unset."""
    completion: float = Field(ge=0)


class PriceTable:
    """Prices by model. In an empty table every model costs nothing."""

    def __init__(self, prices: dict[str, Price] | None = None) -> None:
        self._prices = prices or {}

    @classmethod
    def load(cls, path: Path | None) -> Self:
        """Reads ``{model: {prompt, cached, completion}}`` from a JSON file.

        Args:
            path: The file. None: an empty table.

        Raises:
            ModelConfigurationError: If the file cannot be read, or a price is wrong; says which.
        """
        if path is None:
            return cls()
        try:
            return cls(TypeAdapter(dict[str, Price]).validate_python(orjson.loads(path.read_bytes())))
        except OSError as error:
            raise ModelConfigurationError(f"the price table {path} (VARVE_LLM__PRICE_TABLE) cannot be read: {error}") from error
        except orjson.JSONDecodeError as error:
            raise ModelConfigurationError(f"the price table {path} is not JSON: {error}") from error
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
            raise ModelConfigurationError(f"the price table {path}: {faults}") from error

    def require(self, model: str) -> None:
        """Checks that a model has a price, if any has.

        Raises:
            ModelConfigurationError: If the table has prices, but none for this model.
        """
        if self._prices and model not in self._prices:
            raise ModelConfigurationError(f"the price table has no price for the model {model!r}; add it, or unset VARVE_LLM__PRICE_TABLE")

    def __bool__(self) -> bool:
        return bool(self._prices)

    def has(self, model: str) -> bool:
        """Whether the table has a price for the model."""
        return model in self._prices

    def cost(self, model: str, usage: LLMUsage) -> float:
        """The cost of a call with this usage."""
        price = self._prices.get(model)
        if price is None:
            return 0.0
        cached = price.prompt if price.cached is None else price.cached
        fresh_tokens = usage.prompt_tokens - usage.cached_tokens
        return (fresh_tokens * price.prompt + usage.cached_tokens * cached + usage.completion_tokens * price.completion) / _PER


def usage_record(
    request: LLMRequest, *, model: str, tokens: LLMUsage, cost: float, latency_ms: float, is_estimated: bool, time: datetime
) -> Usage:
    """The record of one call's usage.

    Args:
        request: The request of the call.
        model: The model that answered.
        tokens: The tokens of the call.
        cost: Their cost.
        latency_ms: How long the call took, in milliseconds.
        is_estimated: Whether the endpoint did not count the tokens.
        time: When the call ended.
    """
    return Usage(
        tenant=request.tenant,
        stage=request.stage,
        model=model,
        purpose=request.purpose,
        prompt_tokens=tokens.prompt_tokens,
        cached_tokens=tokens.cached_tokens,
        completion_tokens=tokens.completion_tokens,
        cost=cost,
        latency_ms=latency_ms,
        estimated=is_estimated,
        time=time,
        subject=request.subject,
    )


class UsageSink(Protocol):
    """Receiver of every call's usage: the ``usage`` topic."""

    async def record(self, usage: Usage) -> None:
        """Records one call's usage."""
        ...


class DiscardedUsage:
    """Discards what calls use, for callers that have it from the answers, or do not need it."""

    async def record(self, usage: Usage) -> None:
        """See :meth:`UsageSink.record`."""


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
