"""All records made from a message carry its trace context and production time, and their spans are one trace."""

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from loadtest.llm_simulator import LLMSimulator
from memory.schema import sample_conversation
from memory.topics import CONTRIBUTIONS, EXTRACTIONS, MEMORIES, WINDOWS
from runtime.kafka import read_topic
from runtime.settings import LLMSettings, Settings
from runtime.tracing import PRODUCED_AT, TRACEPARENT
from tests.api.running_service import bearer
from tests.api.running_service import serving as serving_http
from tests.control_log import add_key
from tests.recorded_spans import ancestors, recorded_spans
from tests.streams.flow import TENANT, caught_up, send_sample, serving

pytestmark = pytest.mark.integration

CONTEXT = ((TRACEPARENT, b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), (PRODUCED_AT, b"1714521600000"))


async def test_every_record_keeps_its_messages_trace_context(flow: Settings) -> None:
    await send_sample(flow, headers=CONTEXT)
    async with serving(flow):
        await caught_up(flow)
    for topic in (WINDOWS, EXTRACTIONS, CONTRIBUTIONS, MEMORIES):
        headers = [tuple(record.headers) async for record in read_topic(flow.topic(topic.name), flow.kafka)]
        assert headers, f"nothing came to {topic.name}"
        assert all(each == CONTEXT for each in headers), topic.name


async def test_one_trace_leads_from_the_post_to_upserts(flow: Settings) -> None:
    auth = bearer(await add_key(flow, TENANT))
    messages = [{"user": "ada", "session": "s-1", "text": turn["text"]} for turn in sample_conversation("companion")]
    async with LLMSimulator() as llm:
        settings = flow.model_copy(update={"llm": LLMSettings(base_url=llm.base_url, model="simulated")})
        with recorded_spans() as exporter:
            async with serving(settings), serving_http(settings) as http:
                for half in (messages[:5], messages[5:]):
                    (await http.post("/v1/messages", json=half, headers=auth)).raise_for_status()
                (await http.post("/v1/flush", headers=auth)).raise_for_status()
                await caught_up(settings)
            spans = exporter.get_finished_spans()
    prefix = flow.kafka.topic_prefix
    upserts = [ancestors(span, spans) for span in spans if span.name == "upsert memory"]
    assert upserts
    for names in upserts:
        assert names[:2] == ["upsert memory", f"process {prefix}memories"]
        assert names[-5:] == [
            f"process {prefix}extractions",
            f"process {prefix}windows",
            "close window",
            f"process {prefix}messages",
            "POST /v1/messages",
        ]
    assert any(f"process {prefix}contributions" in names for names in upserts)
    calls = [ancestors(span, spans) for span in spans if span.name == "chat simulated"]
    assert calls
    assert all(names[1] == f"process {prefix}windows" for names in calls)
    assert _links_of_windows(spans) == {f"process {prefix}messages"}
    texts = [message["text"] for message in messages]
    assert not [span.name for span in spans if any(text in span.to_json() for text in texts)]


def _links_of_windows(spans: tuple[ReadableSpan, ...]) -> set[str]:
    names = {span.context.span_id: span.name for span in spans if span.context is not None}
    return {names[link.context.span_id] for span in spans if span.name == "close window" for link in span.links}
