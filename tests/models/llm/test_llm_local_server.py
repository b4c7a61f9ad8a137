"""The chain against a real LLM: llama.cpp's server with Gemma 3 270M."""

import json

import pytest

from models.llm.port import ChatMessage
from tests.models.llm.conftest import BuildLLM, BuildRequest, UsageList

pytestmark = [pytest.mark.integration, pytest.mark.local_llm]

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 0, "maximum": 150}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def about(person: str) -> tuple[ChatMessage, ...]:
    rules = "You read one sentence and answer with a JSON object that holds the name and the age of the person in it. " * 6
    return ChatMessage("system", rules), ChatMessage("user", person)


@pytest.mark.timeout(240)
async def test_a_real_endpoint_keeps_schema_and_token_limit(
    local_llm: dict[str, str], llm_of: BuildLLM, ask: BuildRequest, usages: UsageList
) -> None:
    llm = llm_of(local_llm["base_url"], model=local_llm["model"], first_token_timeout_s=100, timeout_s=100)

    first = await llm.complete(ask(messages=about("Anna is 31 years old."), json_schema=SCHEMA, max_tokens=80))
    assert first.finish_reason == "stop"
    answer = json.loads(first.text)
    assert set(answer) == {"name", "age"}
    assert isinstance(answer["age"], int)
    assert first.usage.prompt_tokens > 100
    assert first.usage.completion_tokens > 0

    second = await llm.complete(ask(messages=about("Ben is 29 years old."), json_schema=SCHEMA, max_tokens=80))
    assert second.usage.cached_tokens > 100, "the prompts begin alike"
    assert set(json.loads(second.text)) == {"name", "age"}

    cut = await llm.complete(ask(messages=about("Carl is 90 years old."), json_schema=SCHEMA, max_tokens=3))
    assert cut.finish_reason == "length"
    assert cut.usage.completion_tokens == 3

    assert [(each.model, each.estimated) for each in usages.records] == [(local_llm["model"], False)] * 3
    assert usages.records[1].cached_tokens == second.usage.cached_tokens
