"""A real LLM in the loop: llama.cpp's server with Gemma 3 270M, a base model that proves the path, not the quality."""

import pytest
from prometheus_client import CollectorRegistry

from memory.records import Extraction
from memory.schema import MemorySchema, coerce_properties
from models.embedding.port import Embedder
from models.errors import ModelAnswerError
from models.extraction.build import build_extractor
from models.extraction.port import ExtractionContext
from models.llm.build import build_llm
from models.llm.metrics import LLMMetrics
from runtime.settings import ExtractionSettings, LLMSettings, Settings
from tests.models.extraction.conftest import BuildWindow, UsageList

pytestmark = [pytest.mark.integration, pytest.mark.local_llm]

CONVERSATION = [
    ["I moved to Oslo yesterday.", "How do you like it?", "The flat is small, but I like the park."],
    ["My brother Bob visits me next week.", "Where will he sleep?", "On the sofa. He brings his two dogs."],
]


@pytest.mark.timeout(1800)
async def test_a_whole_conversation_is_extracted_or_kept_with_its_raw_answers(
    local_llm: dict[str, str], embedder: Embedder, schema: MemorySchema, window_of: BuildWindow
) -> None:
    llm_settings = LLMSettings(
        base_url=local_llm["base_url"],
        model=local_llm["model"],
        context_tokens=6144,
        max_completion_tokens=96,
        first_token_timeout_s=400,
        timeout_s=500,
    )
    settings = Settings(llm=llm_settings, extraction=ExtractionSettings(window_tokens=1000))
    usages = UsageList()
    llm = build_llm(settings, redis=None, usage=usages, metrics=LLMMetrics(CollectorRegistry()))
    extractor = build_extractor(settings, embedder=embedder, llm=llm)
    windows = [window_of(*texts).model_copy(update={"id": f"w{place}", "sequence": place}) for place, texts in enumerate(CONVERSATION)]
    extractions: list[Extraction] = []
    kept_raw: list[str] = []
    try:
        for window in windows:
            try:
                extractions.append(await extractor.extract(window, schema, ExtractionContext()))
            except ModelAnswerError as error:
                kept_raw.append(error.raw)
    finally:
        await extractor.close()

    assert len(extractions) + len(kept_raw) == len(windows)
    assert all(raw.strip() for raw in kept_raw)
    for extraction in extractions:
        assert extraction.extractor == f"llm:{local_llm['model']}"
        for event in extraction.events:
            event_type = schema.event_type(event.type)
            assert event_type is not None
            assert coerce_properties(event_type, event.properties).properties == event.properties
            assert set(event.message_ids) <= set(extraction.message_ids)
        assert Extraction.from_json(extraction.to_json()) == extraction
    assert len(usages.records) >= len(windows)
    later = [usage for usage in usages.records if usage.subject == "w1"]
    assert later[0].cached_tokens > 500, "the prefix is the same bytes for every window, so the cache holds it"
