"""All records that come of a message carry its trace context and production time."""

import pytest

from memory.topics import CONTRIBUTIONS, EXTRACTIONS, MEMORIES, WINDOWS
from runtime.kafka import read_topic
from runtime.settings import Settings
from runtime.tracing import PRODUCED_AT, TRACEPARENT
from tests.streams.flow import caught_up, send_sample, serving

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
