"""Estimates the size of a re-extraction from its windows and from earlier model calls. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from control.reextraction import Estimate
from extraction.one_pass.prompt.preview import preview_prompt
from memory.records import Usage, Window
from memory.schema.model import MemorySchema
from memory.texts.text import estimate_tokens
from models.llm.port import LLMUsage
from models.llm.usage import PriceTable, UsageTotal
from runtime.settings import BudgetSettings, Settings

PREVIEWED: Final = 200
"""Windows of a schema whose prompts are made; the overhead of the others is the mean of theirs."""
ENOUGH_CALLS: Final = 20
"""Earlier calls from which an average is taken."""
_ANSWER_BASE: Final = 60.0
_ANSWER_SHARE: Final = 0.5
"""Assumed tokens of an answer without earlier calls: a base, and a share of the tokens of the window's messages."""
_DAY_S: Final = 86400.0
_LEAST_FACTOR, _MOST_FACTOR = 0.7, 3.0


@dataclass(slots=True)
class EarlierCalls:
    """Sums over the extraction calls of a tenant, from the topic ``usage``."""

    firsts: int = 0
    """Calls that ask for the extraction of a window."""
    total: UsageTotal = field(default_factory=UsageTotal)
    """All calls, including repairs and comparisons."""

    def add(self, usage: Usage) -> None:
        """Adds a call."""
        self.firsts += usage.calls if usage.purpose == "extraction" else 0
        self.total = self.total.plus(usage)

    @property
    def is_enough(self) -> bool:
        """Whether there are enough calls for averages."""
        return self.firsts >= ENOUGH_CALLS


@dataclass(slots=True)
class PromptOverhead:
    """Tokens of the prompts of a schema, without those of the messages' texts, from the first windows."""

    schema: MemorySchema
    windows: int = 0
    tokens: int = 0

    def add(self, window: Window, text_tokens: int, settings: Settings) -> None:
        """Adds a window, unless there are enough."""
        if self.windows < PREVIEWED:
            self.windows += 1
            self.tokens += preview_prompt(self.schema, settings=settings, window=window).tokens - text_tokens

    @property
    def mean(self) -> float:
        """Mean tokens of a prompt; 0 without windows."""
        return self.tokens / max(1, self.windows)


@dataclass(slots=True)
class TenantSize:
    """The windows of one tenant, and the tokens of their prompts."""

    overhead: PromptOverhead
    windows: int = 0
    messages: int = 0
    asked: int = 0
    """Windows with messages: each needs a call."""
    text_tokens: int = 0

    def add(self, window: Window, settings: Settings, *, asks_model: bool) -> None:
        """Adds a window."""
        self.windows += 1
        self.messages += len(window.messages)
        if not window.messages or not asks_model:
            return
        tokens = sum(estimate_tokens(each.text) for each in window.messages)
        self.asked += 1
        self.text_tokens += tokens
        self.overhead.add(window, tokens, settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeReport:
    """The estimate of a re-extraction."""

    total: Estimate
    by_tenant: Mapping[str, Estimate]
    model: str | None
    """The model. None: rules extract, and no model is called."""
    basis: str
    """Basis of the estimated tokens."""

    def as_json(self) -> dict[str, Any]:
        """The fields for an API and for ``--json``."""
        return {
            "model": self.model,
            "basis": self.basis,
            **self.total.model_dump(mode="json"),
            "tenants": {name: each.model_dump(mode="json") for name, each in self.by_tenant.items()},
        }


@dataclass(slots=True, kw_only=True)
class Sizing:
    """Collects windows and earlier calls, and estimates.

    Args:
        settings: The settings of the re-extraction's worker.
        prices: The price table.
        schemas: The schema of the new generation, by tenant.
        daily: The daily budget of re-extractions, by tenant. Default: no limit.
    """

    settings: Settings
    prices: PriceTable
    schemas: Mapping[str, MemorySchema]
    daily: Mapping[str, BudgetSettings] = field(default_factory=dict)
    earlier: dict[str, EarlierCalls] = field(default_factory=dict)
    """By tenant."""
    every: EarlierCalls = field(default_factory=EarlierCalls)
    """Sums over all tenants."""
    _sizes: dict[str, TenantSize] = field(default_factory=dict)
    _overheads: dict[int, PromptOverhead] = field(default_factory=dict)
    """By the identity of the schema: tenants with the same schema share the object."""

    @property
    def model(self) -> str | None:
        """The model that is asked; None: none."""
        return self.settings.llm.model if self.settings.llm.base_url is not None else None

    def add_window(self, window: Window) -> None:
        """Adds a window of one of the tenants."""
        size = self._sizes.get(window.tenant)
        if size is None:
            schema = self.schemas[window.tenant]
            size = self._sizes[window.tenant] = TenantSize(self._overheads.setdefault(id(schema), PromptOverhead(schema)))
        size.add(window, self.settings, asks_model=self.model is not None)

    def add_call(self, usage: Usage) -> None:
        """Adds an earlier call of one of the tenants; only those of the extraction stage count."""
        if usage.stage == "extraction" and usage.tenant in self.schemas:
            self.earlier.setdefault(usage.tenant, EarlierCalls()).add(usage)
            self.every.add(usage)

    def report(self, *, calls_per_minute: int | None) -> SizeReport:
        """The estimate.

        Args:
            calls_per_minute: The limit of the re-extraction. None: no limit.
        """
        every = self.every
        known = {name: each if each.is_enough else every for name, each in self.earlier.items()}
        by_tenant = {
            name: self._estimate(name, size, known.get(name, every), calls_per_minute) for name, size in sorted(self._sizes.items())
        }
        priced = self.model is None or bool(self.prices)
        total = Estimate(
            windows=sum(each.windows for each in by_tenant.values()),
            messages=sum(each.messages for each in by_tenant.values()),
            calls=sum(each.calls for each in by_tenant.values()),
            prompt_tokens=sum(each.prompt_tokens for each in by_tenant.values()),
            cached_tokens=sum(each.cached_tokens for each in by_tenant.values()),
            completion_tokens=sum(each.completion_tokens for each in by_tenant.values()),
            cost=sum(each.cost or 0.0 for each in by_tenant.values()) if priced else None,
            duration_s=_longest(
                self._duration_s(
                    sum(each.windows if self.model is None else each.calls for each in by_tenant.values()), every, calls_per_minute
                ),
                *(self._days_s(name, each.tokens, each.cost) for name, each in by_tenant.items()),
            ),
        )
        basis = "no model is called"
        if self.model is not None:
            basis = (
                f"the averages of {every.total.calls:,} earlier calls"
                if every.is_enough
                else "assumed lengths of answers: no earlier calls"
            )
        return SizeReport(total=total, by_tenant=by_tenant, model=self.model, basis=basis)

    def _estimate(self, tenant: str, size: TenantSize, earlier: EarlierCalls, calls_per_minute: int | None) -> Estimate:
        prompt = size.text_tokens + size.overhead.mean * size.asked
        completion = _ANSWER_BASE * size.asked + _ANSWER_SHARE * size.text_tokens
        calls, cached = float(size.asked), 0.0
        if earlier.is_enough and size.asked:
            # Entities in prompts, the model's own tokenizer, repairs: all that a preview cannot know.
            mean = prompt / size.asked
            factor = min(_MOST_FACTOR, max(_LEAST_FACTOR, earlier.total.prompt_tokens / earlier.firsts / mean))
            prompt *= factor
            completion = earlier.total.completion_tokens / earlier.firsts * size.asked
            calls *= earlier.total.calls / earlier.firsts
            cached = prompt * earlier.total.cached_share
        tokens = LLMUsage(prompt_tokens=round(prompt), cached_tokens=round(cached), completion_tokens=round(completion))
        model = self.model
        amount = size.windows if model is None else round(calls)
        cost = 0.0 if model is None else self.prices.cost(model, tokens) if self.prices else None
        return Estimate(
            windows=size.windows,
            messages=size.messages,
            calls=round(calls),
            prompt_tokens=tokens.prompt_tokens,
            cached_tokens=tokens.cached_tokens,
            completion_tokens=tokens.completion_tokens,
            cost=cost,
            duration_s=_longest(
                self._duration_s(amount, earlier, calls_per_minute),
                self._days_s(tenant, tokens.prompt_tokens + tokens.completion_tokens, cost),
            ),
        )

    def _duration_s(self, calls: int, earlier: EarlierCalls, calls_per_minute: int | None) -> float | None:
        """Duration of calls, at the slowest of the known rates, in seconds."""
        rates = [] if calls_per_minute is None else [calls_per_minute / 60]
        if self.model is not None and earlier.is_enough and earlier.total.latency_ms:
            slots = shared_limit(self.settings.llm.concurrency)
            rates.append(slots * earlier.total.calls * 1000 / earlier.total.latency_ms)
        if self.model is not None and self.settings.llm.requests_per_minute is not None:
            rates.append(shared_limit(self.settings.llm.requests_per_minute) / 60)
        return calls / min(rates) if rates else None

    def _days_s(self, tenant: str, tokens: int, cost: float | None) -> float | None:
        """Duration in seconds if the tenant's calls need the daily budget of several days; None if one day is enough."""
        budget = self.daily.get(tenant)
        if budget is None or self.model is None:
            return None
        days = [tokens / budget.hard_tokens] if budget.hard_tokens else []
        days += [cost / budget.hard_cost] if budget.hard_cost and cost is not None else []
        return _DAY_S * max(days) if days and max(days) > 1 else None


def _longest(*durations_s: float | None) -> float | None:
    return max((each for each in durations_s if each is not None), default=None)


def shared_limit(limit: int) -> int:
    """The share of an endpoint's limit that re-extractions may use: half of it. The rest is for live calls."""
    return max(1, limit // 2)
