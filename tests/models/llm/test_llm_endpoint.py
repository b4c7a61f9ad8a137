"""One endpoint, a real HTTP server: its requests, its responses, and the meaning of each failure."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import PROFILES, Plan, Profile
from models.errors import ModelConfigurationError, ModelTimeoutError, OverloadedError, TransientModelError
from models.llm.build import build_llm
from runtime.settings import LLMSettings, Settings
from tests.models.llm.conftest import BuildLLM, BuildRequest, UsageList

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def answering(text: str, **options: Any) -> LLMSimulator:
    return LLMSimulator(answer=lambda _: text, **options)


def failing(status: int, **plan: Any) -> LLMSimulator:
    return LLMSimulator(planner=lambda *_: Plan(status=status, **plan))


async def test_an_answer_has_text_usage_and_finish_reason(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with answering("Anna moved to Oslo in May.") as simulator:
        answer = await llm_of(simulator).complete(ask("Where is Anna?"))
    assert answer.text == "Anna moved to Oslo in May."
    assert answer.finish_reason == "stop"
    assert answer.model == "simulated"
    assert answer.usage.prompt_tokens > 0
    assert answer.usage.completion_tokens > 0
    assert answer.latency_ms > 0
    assert not answer.from_cache


async def test_an_answer_at_the_token_limit_reports_length(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with answering("word " * 500) as simulator:
        answer = await llm_of(simulator).complete(ask(max_tokens=7))
    assert answer.finish_reason == "length"
    assert answer.usage.completion_tokens == 7


async def test_the_text_streams_in_pieces(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with answering("Anna moved to Oslo.") as simulator:
        pieces = [piece async for piece in llm_of(simulator).stream(ask())]
    assert len(pieces) > 3
    assert "".join(pieces) == "Anna moved to Oslo."


async def test_capabilities_are_discovered_once(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with LLMSimulator(profile=Profile(json_schema=False, stream_options=False, max_tokens=False), answer=lambda _: "{}") as simulator:
        llm = llm_of(simulator)
        await llm.complete(ask("one", json_schema=SCHEMA))
        refused = simulator.outcomes["400"]
        await llm.complete(ask("two", json_schema=SCHEMA))
        assert refused == 3
        assert simulator.outcomes["400"] == refused, "what was found out is remembered"
        body = simulator.requests[-1].body
        assert body["response_format"] == {"type": "json_object"}
        assert "stream_options" not in body
        assert body["max_completion_tokens"] == 200


async def test_concurrent_refusals_downgrade_once(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with LLMSimulator(profile=Profile(json_schema=False), answer=lambda _: "{}") as simulator:
        llm = llm_of(simulator)
        await asyncio.gather(*(llm.complete(ask(str(number), json_schema=SCHEMA)) for number in range(8)))
        forms = Counter(each.body["response_format"]["type"] for each in simulator.requests)
        assert forms["json_object"] == 8
        assert forms.keys() == {"json_schema", "json_object"}


async def test_missing_usage_is_estimated(llm_of: BuildLLM, ask: BuildRequest, usages: UsageList) -> None:
    async with LLMSimulator(profile=PROFILES["plain"], answer=lambda _: "Anna moved to Oslo.") as simulator:
        answer = await llm_of(simulator).complete(ask())
    assert answer.usage.prompt_tokens > 0
    assert answer.is_estimated, "the extraction's own record says so too"
    assert [each.estimated for each in usages.records] == [True]


@pytest.mark.parametrize("form", ["json_schema", "json_object", "none"])
async def test_the_configured_response_format_is_sent(llm_of: BuildLLM, ask: BuildRequest, form: str) -> None:
    async with answering("{}") as simulator:
        await llm_of(simulator, response_format=form).complete(ask(json_schema=SCHEMA))
        assert simulator.requests[0].body.get("response_format", {"type": "none"})["type"] == form


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, ModelConfigurationError),
        (401, ModelConfigurationError),
        (404, ModelConfigurationError),
        (408, TransientModelError),
        (429, OverloadedError),
        (500, TransientModelError),
        (503, TransientModelError),
    ],
)
async def test_statuses_map_to_transient_or_permanent_errors(
    llm_of: BuildLLM, ask: BuildRequest, status: int, expected: type[Exception], usages: UsageList
) -> None:
    async with failing(status) as simulator:
        with pytest.raises(expected, match=str(status)):
            await llm_of(simulator).complete(ask())
        assert len(simulator.requests) == 1, "retrying is the caller's"
    assert usages.records == [], "a refused call costs nothing"


async def test_retry_after_is_reported_and_obeyed(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with failing(429, retry_after_s=30.0) as simulator:
        llm = llm_of(simulator, queue_timeout_s=5)
        with pytest.raises(OverloadedError) as refused:
            await llm.complete(ask())
        assert refused.value.retry_after_s == 30
        with pytest.raises(TransientModelError) as meanwhile:
            await llm.complete(ask())
        assert 25 < (meanwhile.value.retry_after_s or 0) <= 30
        assert len(simulator.requests) == 1, "nobody asks before the time is over"


@pytest.mark.parametrize(("silent_after", "what"), [(0.0, "first token"), (0.5, "whole answer")])
async def test_a_silent_endpoint_times_out(llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, silent_after: float, what: str) -> None:
    async with LLMSimulator(answer=lambda _: "word " * 20, planner=lambda *_: Plan(silent_after=silent_after)) as simulator:
        llm = llm_of(simulator, first_token_timeout_s=0.2 if silent_after == 0 else 30, timeout_s=2)
        with pytest.raises(ModelTimeoutError, match=what):
            await llm.complete(ask())
    assert [each.estimated for each in usages.records] == [True], "its provider may charge for it"
    assert (usages.records[0].completion_tokens > 0) == (silent_after > 0)


async def test_a_broken_connection_is_transient(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with LLMSimulator(answer=lambda _: "word " * 20, planner=lambda *_: Plan(cut_after=0.5)) as simulator:
        with pytest.raises(TransientModelError):
            await llm_of(simulator).complete(ask())


async def test_an_unreachable_address_is_transient(llm_of: BuildLLM, ask: BuildRequest, unused_address: str) -> None:
    with pytest.raises(TransientModelError, match=r"the connection to .* failed"):
        await llm_of(unused_address).complete(ask())


@pytest.mark.parametrize("llm", [{"base_url": "localhost:80", "model": "m"}, {"base_url": "http://localhost/v1"}])
def test_a_wrong_address_or_missing_model_is_refused(llm: dict[str, str], usages: UsageList) -> None:
    with pytest.raises(ModelConfigurationError, match="LLM endpoint"):
        build_llm(Settings(llm=LLMSettings(**llm)), redis=None, usage=usages)


def test_without_an_endpoint_no_llm_is_built(usages: UsageList) -> None:
    assert build_llm(Settings(llm=LLMSettings()), redis=None, usage=usages) is None
