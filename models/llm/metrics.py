"""Metrics of a process's LLM calls."""

from functools import lru_cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from runtime.metrics import FirstTenants, metrics

_SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300)


class LLMMetrics:
    """Metrics of LLM calls. Only one has a tenant label, because its values are unbounded; the ``usage`` topic has tokens by tenant.

    Args:
        registry: Where they are registered.
        first_tenants: The tenants that a label may name; none unless given.
    """

    def __init__(self, registry: CollectorRegistry, first_tenants: FirstTenants | None = None) -> None:
        self.first_tenants = first_tenants or FirstTenants()
        self.tenant_tokens = Counter("varve_tenant_llm_tokens", "Tokens, of prompts and completions.", ("tenant",), registry=registry)
        self.calls = Counter("varve_llm_calls", "Calls to endpoints, by outcome.", ("endpoint", "outcome"), registry=registry)
        self.tokens = Counter(
            "varve_llm_tokens",
            "Tokens: prompt (fresh), cached (prompt tokens out of a prefix cache), completion.",
            ("stage", "model", "kind"),
            registry=registry,
        )
        self.cost = Counter("varve_llm_cost", "Cost, in the price table's currency.", ("stage", "model"), registry=registry)
        self.first_token_seconds = Histogram(
            "varve_llm_first_token_seconds", "From the sending to the first token.", ("endpoint",), registry=registry, buckets=_SECONDS
        )
        self.call_seconds = Histogram(
            "varve_llm_call_seconds", "From the sending to the end of the answer.", ("endpoint",), registry=registry, buckets=_SECONDS
        )
        self.queue_seconds = Histogram(
            "varve_llm_queue_seconds", "Waiting for a lease under the limits.", ("endpoint",), registry=registry, buckets=_SECONDS
        )
        self.breaker_open = Gauge(
            "varve_llm_breaker_open", "1 while an endpoint's circuit breaker is open.", ("endpoint",), registry=registry
        )
        self.answers = Counter("varve_llm_answers", "Answers, by source.", ("source",), registry=registry)
        self.refused = Counter("varve_llm_budget_refusals", "Calls not made for a tenant's budget.", ("budget",), registry=registry)
        self.unrecorded = Counter("varve_llm_usage_unrecorded", "Usage records that the usage topic did not take.", registry=registry)


@lru_cache(maxsize=1)
def llm_metrics() -> LLMMetrics:
    """Those of this process."""
    return LLMMetrics(metrics().registry, metrics().first_tenants)
