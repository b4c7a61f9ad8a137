"""The span of one call to an endpoint, by OpenTelemetry's conventions for generative AI (their version of 2026, with ``provider.name``).

It has only numbers and names: no prompt and no answer.
"""

from typing import Final

from models.llm.budget import CallUsage
from models.llm.endpoint import Endpoint
from models.llm.port import LLMRequest
from runtime import tracing
from runtime.tracing import Span, SpanKind

_PROVIDER: Final = "openai"
"""The conventions' name for an endpoint with OpenAI's API; ``server.address`` identifies the provider."""
_SUCCESSES: Final = frozenset({"answered", "cut_short"})


def start_call_span(endpoint: Endpoint, request: LLMRequest, *, max_tokens: int) -> Span:
    """Starts the span of a call that is about to be sent, as a child of the current one.

    Args:
        endpoint: Who is asked.
        request: What is asked.
        max_tokens: The longest answer.
    """
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
    """Ends it.

    Args:
        span: As :func:`start_call_span` gave it.
        outcome: How the call ended, as ``varve_llm_calls`` counts it.
        finish_reason: Why the answer ended.
        usage: What the call used; None: nothing, it was refused.
        first_token_s: Seconds from the sending to the first token, if one came.
    """
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
