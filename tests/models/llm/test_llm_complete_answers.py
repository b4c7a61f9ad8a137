"""A request may say when its answer is complete: the call ends there, and thoughts in a separate field are returned."""

import asyncio
import gc
from dataclasses import replace
from types import AsyncGeneratorType
from typing import Any

import pytest

from loadtest.profiles import Plan
from tests.models.llm.conftest import BuildLLM, BuildRequest, Serve, Until, UsageList
from tests.models.llm.raw_endpoint import chunk, raw_endpoint, stream_of
from tests.models.llm.thoughts import thought


def end_of(text: str) -> int | None:
    place = text.find("</ranking>")
    return None if place < 0 else place + len("</ranking>")


async def test_a_call_ends_where_its_answer_is_complete(
    serve: Serve, until: Until, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList
) -> None:
    endpoint = await serve(Plan(token_s=0.001), answer="<ranking>1,0</ranking> and " + "so on " * 20_000)
    answer = await llm_of(endpoint, max_completion_tokens=20_000).complete(ask(complete_at=end_of))
    await until(lambda: endpoint.outcomes["hung_up"] == 1, "the endpoint is hung up on")
    assert (answer.text, answer.finish_reason, answer.is_estimated) == ("<ranking>1,0</ranking>", "stop", True)
    assert usages.records[0].completion_tokens < 100


async def test_a_call_that_ends_early_leaves_no_generators(serve: Serve, until: Until, llm_of: BuildLLM, ask: BuildRequest) -> None:
    endpoint = await serve(Plan(token_s=0.001), answer="<ranking>1,0</ranking> and " + "so on " * 20_000)
    gc.collect()
    gc.disable()
    try:
        await llm_of(endpoint, max_completion_tokens=20_000).complete(ask(complete_at=end_of))
        await until(lambda: not open_generators_of("openai", "httpx", "httpx2"), "the client's generators end without a garbage collection")
    finally:
        gc.enable()


def open_generators_of(*packages: str) -> list[AsyncGeneratorType[Any, Any]]:
    found = [each for each in gc.get_objects() if isinstance(each, AsyncGeneratorType) and each.ag_frame is not None]
    return [each for each in found if any(f"/{package}/" in each.ag_code.co_filename for package in packages)]


async def test_the_endpoints_own_count_is_awaited(serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
    endpoint = await serve(answer="<ranking>1,0</ranking>\n")
    answer = await llm_of(endpoint).complete(ask(complete_at=end_of))
    assert (answer.text, answer.finish_reason, answer.is_estimated) == ("<ranking>1,0</ranking>", "stop", False)
    assert endpoint.outcomes["stop"] == 1


async def test_an_endpoint_that_does_not_end_is_left(serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
    endpoint = await serve(Plan(silent_after=0.99), answer="<ranking>1,0</ranking>  ")
    async with asyncio.timeout(60):
        answer = await llm_of(endpoint).complete(ask(complete_at=end_of))
    assert (answer.text, answer.finish_reason) == ("<ranking>1,0</ranking>", "stop")


async def test_an_incomplete_answer_ends_as_before(serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
    endpoint = await serve(answer="<ranking>1,0")
    answer = await llm_of(endpoint).complete(ask(complete_at=end_of))
    assert (answer.text, answer.finish_reason) == ("<ranking>1,0", "stop")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_separate_thoughts_are_returned(llm_of: BuildLLM, ask: BuildRequest, name: str) -> None:
    body = stream_of(thought("The first ", name), thought("is red.", name), chunk("<ranking>0</ranking>"), chunk(finish="stop"))
    async with raw_endpoint(body) as url:
        answer = await llm_of(url).complete(replace(ask(), complete_at=end_of))
    assert (answer.thoughts, answer.text) == ("The first is red.", "<ranking>0</ranking>")
