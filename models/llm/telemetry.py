"""Metrics and spans of LLM calls. Spans follow OpenTelemetry's conventions for generative AI (version of 2026, with ``provider.name``).

It has only numbers and names: no prompt and no answer.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from models.llm.account import CallUsage
from models.llm.port import LLMRequest
from runtime import tracing
from runtime.metrics import FirstTenants, metrics
from runtime.tracing import Span, SpanKind

if TYPE_CHECKING:
    from models.llm.endpoint import Endpoint  # it imports the OpenAI library

_SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300)

_PROVIDER: Final = "openai"
"""The conventions' name for an endpoint with OpenAI's API; ``server.address`` identifies the provider."""
_SUCCESSES: Final = frozenset({"answered", "cut_short"})


class LLMMetrics:
    """Metrics of LLM calls. Only one has a tenant label, because its values are unbounded; the ``usage`` topic has tokens by tenant.

    Args:
        first_tenants: The tenants that a label may name. Default: none.
    """

    def __init__(self, registry: CollectorRegistry, first_tenants: FirstTenants | None = None) -> None:
        self.first_tenants = first_tenants or FirstTenants()
        self.tenant_tokens = Counter("varve_tenant_llm_tokens", "Tokens, of prompts and completions.", ("tenant",), registry=registry)
        self.calls = Counter("varve_llm_calls", "Calls to endpoints, by outcome.", ("endpoint", "outcome"), registry=registry)
        self.tokens = Counter(
            "varve_llm_tokens",
            "Tokens: prompt (fresh), cached (prompt tokens from a prefix cache), completion.",
            ("stage", "model", "kind"),
            registry=registry,
        )
        self.cost = Counter("varve_llm_cost", "Cost, in the price table's currency.", ("stage", "model"), registry=registry)
        self.first_token_seconds = Histogram(
            "varve_llm_first_token_seconds",
            "Time from sending the request to the first token.",
            ("endpoint",),
            registry=registry,
            buckets=_SECONDS,
        )
        self.call_seconds = Histogram(
            "varve_llm_call_seconds",
            "Time from sending the request to the end of the answer.",
            ("endpoint",),
            registry=registry,
            buckets=_SECONDS,
        )
        self.queue_seconds = Histogram(
            "varve_llm_queue_seconds",
            "Time that a call waited for a lease under the limits.",
            ("endpoint",),
            registry=registry,
            buckets=_SECONDS,
        )
        self.breaker_open = Gauge(
            "varve_llm_breaker_open", "1 while an endpoint's circuit breaker is open.", ("endpoint",), registry=registry
        )
        self.answers = Counter("varve_llm_answers", "Answers, by source.", ("source",), registry=registry)
        self.refused = Counter(
            "varve_llm_budget_refusals",
            "Calls that a tenant's budget, or that of a re-extraction, did not allow.",
            ("budget",),
            registry=registry,
        )
        self.unrecorded = Counter(
            "varve_llm_usage_unrecorded", "Usage records that could not be written to the usage topic.", registry=registry
        )


@lru_cache(maxsize=1)
def llm_metrics() -> LLMMetrics:
    """The metrics of this process."""
    return LLMMetrics(metrics().registry, metrics().first_tenants)


def start_call_span(endpoint: "Endpoint", request: LLMRequest, *, max_tokens: int) -> Span:
    """Starts the span of a call that is about to be sent, as a child of the current one."""
    span = tracing.start_span(f"chat {endpoint.model}", kind=SpanKind.CLIENT)
    if span.is_recording():
        span.set_attributes(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": _PROVIDER,
                "gen_ai.request.model": endpoint.model,
                "gen_ai.request.max_tokens": max_tokens,
                "gen_ai.request.stream": True,
                "gen_ai.output.type": "text" if request.json_schema is None else "json",
                "server.address": endpoint.host,
                "server.port": endpoint.port,
                "varve.purpose": request.purpose,
            }
        )
    return span


def end_call_span(span: Span, *, outcome: str, finish_reason: str | None, usage: CallUsage | None, first_token_s: float | None) -> None:
    """Ends the span of a call. The outcome is that of ``varve_llm_calls``; a refused call has no usage."""
    if span.is_recording():
        if finish_reason is not None:
            span.set_attribute("gen_ai.response.finish_reasons", [finish_reason])
        if first_token_s is not None:
            span.set_attribute("gen_ai.response.time_to_first_chunk", first_token_s)
        if usage is not None:
            span.set_attributes(
                {
                    "gen_ai.response.model": usage.model,
                    "gen_ai.usage.input_tokens": usage.tokens.prompt_tokens,
                    "gen_ai.usage.output_tokens": usage.tokens.completion_tokens,
                    "gen_ai.usage.cache_read.input_tokens": usage.tokens.cached_tokens,
                    "varve.usage.estimated": usage.is_estimated,
                }
            )
        if outcome not in _SUCCESSES:
            tracing.fail(span, outcome)
    span.end()
