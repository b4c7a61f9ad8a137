"""A real LLM in the loop: llama.cpp's server with Gemma 3 270M, a base model that proves the path, not the quality."""

import pytest

from memory.records import Extraction, Usage, Window
from memory.schema import coerce_properties, scenario
from runtime.dead_letters import PREFIX
from runtime.dead_letters.metadata import ANSWER
from runtime.kafka import read_topic
from runtime.settings import ExtractionSettings, LLMSettings, SessionSettings, Settings
from tests.streams.flow import caught_up, flush, send_sample, serving

pytestmark = [pytest.mark.integration, pytest.mark.local_llm]

STAGES = ("sessions", "extraction", "events")


@pytest.mark.timeout(1800)
async def test_a_conversation_is_extracted_or_dead_lettered_with_answers(flow: Settings, local_llm: dict[str, str]) -> None:
    llm = LLMSettings(
        base_url=local_llm["base_url"],
        model=local_llm["model"],
        concurrency=1,
        context_tokens=6144,
        max_completion_tokens=64,
        first_token_timeout_s=400,
        timeout_s=500,
    )
    settings = flow.model_copy(
        update={
            "llm": llm,
            "kafka": flow.kafka.model_copy(update={"session_timeout_s": 60.0, "request_timeout_s": 60.0}),
            "extraction": ExtractionSettings(attempts=1, window_tokens=1000),
            "sessions": SessionSettings(message_count=5, message_cap=6, idle_partition_s=86400.0),
        }
    )
    sent = await send_sample(settings, most=10)
    async with serving(settings, STAGES):
        await caught_up(settings, ["sessions"])
        await flush(settings)
        await caught_up(settings, STAGES, deadline_s=1500)

    windows = [Window.from_json(value) for value in await _values(settings, "windows")]
    assert sorted(message.id or "" for window in windows for message in window.messages) == sorted(
        f"s-1-m{number}" for number in range(sent)
    )
    extractions = [Extraction.from_json(value) for value in await _values(settings, "extractions")]
    letters = [dict(record.headers) async for record in read_topic(settings.topic("dead-letters"), settings.kafka)]
    assert all(letter[f"{PREFIX}reason"] == b"bad_answer" and letter[ANSWER].strip() for letter in letters)
    assert len({each.window_id for each in extractions}) + len(letters) == len(windows)
    _assert_valid(extractions, model=local_llm["model"])
    usages = [Usage.from_json(value) for value in await _values(settings, "usage")]
    assert {each.subject for each in usages} == {window.id for window in windows}
    later = next(each for each in usages if each.subject != usages[0].subject)
    assert later.cached_tokens > 500, "the prefix is the same bytes for every window, so the cache holds it"


async def _values(settings: Settings, topic: str) -> list[bytes]:
    return [record.value or b"" async for record in read_topic(settings.topic(topic), settings.kafka)]


def _assert_valid(extractions: list[Extraction], *, model: str) -> None:
    schema = scenario("companion")
    for extraction in extractions:
        assert extraction.extractor == f"llm:{model}"
        for event in extraction.events:
            event_type = schema.event_type(event.type)
            assert event_type is not None
            assert coerce_properties(event_type, event.properties).properties == event.properties
            assert set(event.message_ids) <= set(extraction.message_ids)
