"""Builds the LLM that the settings name."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memory.redaction import RedactionPolicy
from models.errors import ModelConfigurationError
from models.llm.budget import Budget
from models.llm.cache import AnswerCache
from models.llm.daily_budget import DAILY, BudgetLedger
from models.llm.limiter import Limiter
from models.llm.limits import Limits
from models.llm.port import LLM
from models.llm.telemetry import LLMMetrics, llm_metrics
from models.llm.usage import PriceTable, UsageSink
from runtime.clocks import Clock, SystemClock
from runtime.redis.client import GuardedRedis
from runtime.resilience import CircuitBreaker
from runtime.settings import BudgetSettings, EndpointSettings, Settings

if TYPE_CHECKING:
    from models.llm.guarded_endpoint import GuardedEndpoint


def build_llm(
    settings: Settings,
    *,
    redis: GuardedRedis | None,
    usage: UsageSink,
    budget_of: Callable[[str], BudgetSettings] | None = None,
    clock: Clock | None = None,
    metrics: LLMMetrics | None = None,
    redaction_of: Callable[[str], RedactionPolicy] | None = None,
    budget_name: str = DAILY,
    budget: Budget | None = None,
    key_variable: str = "VARVE_LLM__API_KEY",
) -> LLM | None:
    """The LLM of the settings, or None where they name no endpoint. Nothing is sent yet.

    Args:
        settings: Endpoints, limits, budget, price table.
        redis: For what all workers share; without it each process limits, caches and budgets alone. It stays open when the LLM is closed.
        usage: Where usage records go.
        budget_of: A tenant's own budget; the settings' unless given.
        clock: The machine's unless given.
        metrics: The process's unless given.
        redaction_of: A tenant's policy for personal data in prompts. Default: nothing is redacted.
        budget_name: See :class:`models.llm.daily_budget.BudgetLedger`.
        budget: The budget of all calls, in place of the tenants' daily ones. Default: the daily ones.
        key_variable: The environment variable that sets the first endpoint's key.

    Raises:
        ModelConfigurationError: If an endpoint or the price table is wrong, or a budget is a cost without a price table.
    """
    llm = settings.llm
    if llm.base_url is None:
        return None
    # The library takes half a second of computing to import: a process that asks no model starts without it.
    from models.llm.gateway import LLMGateway

    clock = clock or SystemClock()
    prices = PriceTable.load(llm.price_table)
    if not prices and settings.budget.is_a_cost:
        raise ModelConfigurationError(
            "a budget as a cost (VARVE_BUDGET__SOFT_COST, __HARD_COST) needs a price table (VARVE_LLM__PRICE_TABLE)"
        )
    redis = redis or GuardedRedis(client=None, prefix=settings.redis.prefix)
    primary = EndpointSettings(base_url=llm.base_url, api_key=llm.api_key, model=llm.model)
    gateway = LLMGateway(
        endpoints=[
            _guarded(each, settings, redis, clock, key_variable=variable)
            for each, variable in [(primary, key_variable), *((each, "api_key in VARVE_LLM__FALLBACKS") for each in llm.fallbacks)]
        ],
        cache=AnswerCache(redis=redis, ttl_s=llm.cache_ttl_s),
        budget=budget or BudgetLedger(budget_of=budget_of or (lambda _: settings.budget), redis=redis, name=budget_name),
        prices=prices,
        sink=usage,
        metrics=metrics or llm_metrics(),
        clock=clock,
        hedge_after_s=llm.hedge_after_s,
    )
    if redaction_of is None:
        return gateway
    from models.redaction.llm import RedactingLLM

    return RedactingLLM(gateway, policy_of=redaction_of)


def _guarded(address: EndpointSettings, settings: Settings, redis: GuardedRedis, clock: Clock, *, key_variable: str) -> "GuardedEndpoint":
    from models.llm.endpoint import Endpoint
    from models.llm.guarded_endpoint import GuardedEndpoint

    llm, delivery = settings.llm, settings.delivery

    def setting(name: str) -> Any:
        value = getattr(address, name)
        return getattr(llm, name) if value is None else value

    endpoint = Endpoint(
        base_url=address.base_url,
        model=address.model,
        api_key=address.api_key.get_secret_value() if address.api_key else None,
        response_format=setting("response_format"),
        temperature=setting("temperature"),
        max_completion_tokens=setting("max_completion_tokens"),
        first_token_timeout_s=setting("first_token_timeout_s"),
        timeout_s=setting("timeout_s"),
        clock=clock,
        key_variable=key_variable,
    )
    limits = Limits(
        concurrency=setting("concurrency"),
        requests_per_minute=setting("requests_per_minute"),
        tokens_per_minute=setting("tokens_per_minute"),
    )
    return GuardedEndpoint(
        endpoint=endpoint,
        limiter=Limiter(endpoint=endpoint.name, limits=limits, redis=redis, queue_timeout_s=llm.queue_timeout_s, lease_s=llm.lease_s),
        breaker=CircuitBreaker(failures=delivery.breaker_failures, reset_s=delivery.breaker_reset_s),
    )
