"""A kept connection that the endpoint closes in the moment in which it is used again is no failed call."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from models.errors import TransientModelError
from tests.http_server import serving_posts
from tests.models.llm.conftest import BuildLLM, BuildRequest
from tests.models.llm.raw_endpoint import chunk, stream_of, streamed

YES = stream_of(chunk("yes"), chunk(finish="stop"))


@asynccontextmanager
async def hanging_up(when: Callable[[int], bool]) -> AsyncIterator[tuple[str, list[int]]]:
    """The address of an endpoint that closes the connection on some of the requests, by number, and the numbers that reached it."""
    numbers: list[int] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        numbers.append(len(numbers))
        if when(numbers[-1]) and request.transport is not None:
            request.transport.close()
        return streamed(YES)

    async with serving_posts("/v1/chat/completions", answer) as address:
        yield f"{address}/v1", numbers


async def test_a_closed_kept_connection_fails_no_call(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with hanging_up(lambda number: number == 1) as (url, numbers):
        llm = llm_of(url)
        assert [(await llm.complete(ask(f"question {number}"))).text for number in range(2)] == ["yes", "yes"]
    assert numbers == [0, 1, 2]


async def test_an_endpoint_that_always_hangs_up_fails(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with hanging_up(lambda _: True) as (url, numbers):
        with pytest.raises(TransientModelError, match=r"the connection to .* failed"):
            await llm_of(url).complete(ask())
    assert numbers == [0, 1]
