"""Endpoints see no personal data of a tenant, and answers have the originals again. On real HTTP servers."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from extraction.build import build_extractor
from extraction.port import ExtractionContext
from memory.redaction import NO_REDACTION, RedactionPolicy
from memory.schema import scenario
from models.embedding.build import build_embedder
from models.llm.build import build_llm
from models.llm.port import LLM, ChatMessage, LLMRequest
from models.llm.telemetry import LLMMetrics
from models.redaction.windows import redacted_window
from runtime.settings import EmbeddingSettings, LLMSettings, Settings
from tests.extraction.windows import window_of
from tests.models.embedding import replying_endpoint as embeddings
from tests.models.llm.conftest import UsageList
from tests.models.llm.raw_endpoint import Reply, chunk, replying_endpoint, stream_of, streamed
from tests.models.redaction.personal_data import CORPUS, EVERY

DATA = [each for of_kind in CORPUS.values() for each in of_kind]
TEXT = " and ".join(DATA)
REQUEST = LLMRequest(messages=(ChatMessage("system", "Repeat."), ChatMessage("user", TEXT)), tenant="acme", stage="test")


def echo(body: dict[str, Any]) -> Any:
    """Streams the last message back, in pieces that end within placeholders."""
    said = body["messages"][-1]["content"]
    return streamed(stream_of(*(chunk(said[start : start + 5]) for start in range(0, len(said), 5)), chunk(finish="stop")))


@asynccontextmanager
async def redacting(reply: Reply, policy: RedactionPolicy = EVERY) -> AsyncIterator[tuple[LLM, list[dict[str, Any]], Settings]]:
    async with replying_endpoint(reply) as (address, requests):
        settings = Settings(llm=LLMSettings(base_url=address, model="m", response_format="none", max_completion_tokens=6000))
        policies = {"acme": policy}
        llm = build_llm(
            settings,
            redis=None,
            usage=UsageList(),
            metrics=LLMMetrics(CollectorRegistry()),
            redaction_of=lambda tenant: policies.get(tenant, NO_REDACTION),
        )
        assert llm is not None
        try:
            yield llm, requests, settings
        finally:
            await llm.close()


def assert_hidden(requests: list[dict[str, Any]]) -> None:
    sent = json.dumps(requests, ensure_ascii=False)
    assert requests
    assert [each for each in DATA if each in sent] == []


async def test_an_endpoint_sees_no_personal_data() -> None:
    async with redacting(echo) as (llm, requests, _):
        answer = await llm.complete(REQUEST)
        pieces = [piece async for piece in llm.stream(replace(REQUEST, attempt=1))]
    assert answer.text == "".join(pieces) == TEXT
    assert_hidden(requests)
    assert requests[0]["messages"][0]["content"] == "Repeat."


async def test_other_tenants_are_sent_as_they_are() -> None:
    async with redacting(echo) as (llm, requests, _):
        assert (await llm.complete(replace(REQUEST, tenant="globex"))).text == TEXT
    assert requests[0]["messages"][-1]["content"] == TEXT


def stating(body: dict[str, Any]) -> Any:
    """Answers an extraction with an event that has the first placeholder, and names the message with it as its evidence."""
    found = re.search(r"\[[A-Z_]+?(?:_\d+)?\]", body["messages"][-1]["content"])
    contact = "nothing" if found is None else found[0]
    event = {"type": "life_event", "msgs": [1], "content": f"Alice can be reached at {contact}."}
    return streamed(stream_of(chunk(json.dumps({"segments": [], "events": [event], "patches": []})), chunk(finish="stop")))


@pytest.mark.parametrize("restore", [True, False])
async def test_memories_have_originals_only_if_wanted(restore: bool, tmp_path: Path) -> None:
    policy = RedactionPolicy(kinds=("email",), restore=restore)
    window = window_of("Hello there.", "Write to ann@example.org, please.", speaker="Alice")
    embedder = build_embedder(EmbeddingSettings(), cache=Settings().cache_path)
    async with redacting(stating, policy) as (llm, requests, settings):
        extractor = build_extractor(settings, embedder=embedder, llm=llm)
        shown = window if restore else redacted_window(window, policy)
        extraction = await extractor.extract(shown, scenario("companion"), ExtractionContext())
    await embedder.close()
    assert "ann@example.org" not in json.dumps(requests)
    (event,) = extraction.events
    contact = "ann@example.org" if restore else "[EMAIL]"
    assert contact in event.content
    assert event.message_ids == ["m1"], "the evidence stays"
    assert contact in (event.said or "")
    assert restore == ("ann@example.org" in extraction.to_json().decode())


def test_a_redacted_window_keeps_everything_else() -> None:
    call = {"id": "c1", "name": "mail", "arguments": {"to": ["ann@example.org"], "tries": 3}, "result": "sent to ann@example.org"}
    window = window_of({"text": "Mail ann@example.org", "role": "assistant", "tool_call": call, "speaker": "Bot"})
    (message,) = redacted_window(window, EVERY).messages
    assert message.tool_call is not None
    assert message.tool_call.arguments == {"to": ["[EMAIL]"], "tries": 3}
    assert message.tool_call.result == "sent to [EMAIL]"
    before = window.messages[0]
    assert message.model_copy(update={"text": before.text, "tool_call": before.tool_call}) == before


async def test_an_embeddings_endpoint_sees_no_personal_data(tmp_path: Path) -> None:
    async with embeddings.replying_endpoint(embeddings.embedded) as (address, requests):
        settings = EmbeddingSettings(kind="openai", base_url=address, model="m", dimension=2, redact=tuple(CORPUS))
        embedder = build_embedder(settings, cache=tmp_path)
        await embedder.embed_documents([TEXT, "I like tea."])
        await embedder.embed_query(TEXT)
        await embedder.close()
    assert_hidden(requests)
    assert any("I like tea." in each["input"] for each in requests)
