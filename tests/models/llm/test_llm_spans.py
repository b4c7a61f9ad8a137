"""The spans of calls, by OpenTelemetry's conventions for generative AI."""

import pytest
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

from loadtest.profiles import Plan
from models.errors import TransientModelError
from runtime import tracing
from tests.models.llm.conftest import BuildLLM, BuildRequest, Serve
from tests.recorded_spans import recorded_spans

pytestmark = pytest.mark.integration


async def test_a_call_has_a_span_by_the_conventions(serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
    server = await serve(answer="a private answer")
    with recorded_spans() as exporter:
        with tracing.current(tracing.start_span("process windows")):
            answer = await llm_of(server).complete(ask())
        call, record = exporter.get_finished_spans()
    attributes = dict(call.attributes or {})
    assert call.parent == record.context
    assert (call.name, call.kind) == (f"chat {answer.model}", tracing.SpanKind.CLIENT)
    assert attributes["gen_ai.operation.name"] == "chat"
    assert attributes["gen_ai.request.model"] == attributes["gen_ai.response.model"] == answer.model
    assert attributes["gen_ai.usage.input_tokens"] == answer.usage.prompt_tokens > 0
    assert attributes["gen_ai.usage.output_tokens"] == answer.usage.completion_tokens > 0
    assert attributes["gen_ai.response.finish_reasons"] == ("stop",)
    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_") and isinstance(value, str)}
    assert {name for name in attributes if name.startswith("gen_ai.")} <= known
    assert "private" not in call.to_json()
    assert all(message.content not in call.to_json() for message in ask().messages)


async def test_the_span_of_a_failed_call_has_its_outcome(serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
    server = await serve(Plan(status=500))
    with recorded_spans() as exporter:
        with pytest.raises(TransientModelError):
            await llm_of(server).complete(ask())
        (call,) = exporter.get_finished_spans()
    attributes = dict(call.attributes or {})
    assert attributes["error.type"] == "failed"
    assert "gen_ai.usage.input_tokens" not in attributes


async def test_each_of_several_endpoints_has_a_span(serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
    first, second = await serve(Plan(status=500)), await serve()
    with recorded_spans() as exporter:
        await llm_of(first, second).complete(ask())
        spans = exporter.get_finished_spans()
    assert [(span.attributes or {}).get("error.type") for span in spans] == ["failed", None]
