"""Endpoints that deviate from the form: what can be read is read, and any other answer is a fault that another endpoint may repair."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from models.errors import TransientModelError
from models.llm.port import LLMUsage
from models.llm.streaming import read_chunk
from runtime.settings import BudgetSettings, DeliverySettings
from tests.models.llm.conftest import BuildLLM, BuildRequest, Serve, UsageList
from tests.models.llm.raw_endpoint import chunk, raw_endpoint, stream_of

YES, END = chunk("yes"), chunk(finish="stop")
COUNTS = {"prompt_tokens": 9, "completion_tokens": 4}
COMPLETION = b'{"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": {"content": "yes"}, "finish_reason": "stop"}]}'
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "content",
                    "finish_reason",
                    "usage",
                    "prompt_tokens",
                    "completion_tokens",
                    "prompt_tokens_details",
                    "type",
                    "text",
                ]
            )
            | st.text(max_size=3),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


def choice(**fields: Any) -> dict[str, Any]:
    return {**chunk(), "choices": [{"index": 0, **fields}]}


@pytest.mark.parametrize(
    "odd",
    [
        choice(delta=None, finish_reason=None),
        choice(finish_reason=None),
        choice(delta="x"),
        choice(delta={"content": None}),
        choice(delta={"content": {"text": 3}}),
        choice(delta={"content": []}),
        {**chunk(), "choices": None},
        {**chunk(), "choices": []},
        {**chunk(), "choices": [None]},
        {**chunk(), "choices": {"0": {}}},
        {"ping": 1},
        {},
        42,
        "keep-alive",
        None,
        [],
        [1, {"choices": []}],
    ],
    ids=repr,
)
async def test_an_empty_or_odd_chunk_is_skipped(llm_of: BuildLLM, ask: BuildRequest, odd: Any) -> None:
    async with raw_endpoint(stream_of(odd, YES, odd, END, odd)) as url:
        assert (await llm_of(url).complete(ask())).text == "yes"


async def test_a_finish_reason_without_a_delta_counts(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with raw_endpoint(stream_of(YES, choice(delta=None, finish_reason="length"))) as url:
        assert (await llm_of(url).complete(ask())).finish_reason == "length"


@pytest.mark.parametrize("pieces", [1, 40])
async def test_an_endless_answer_is_cut(llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, pieces: int) -> None:
    text = "yes " * (40_000 // pieces)
    async with raw_endpoint(stream_of(*[chunk(text)] * pieces, END)) as url:
        answer = await llm_of(url, max_completion_tokens=2000).complete(ask())

    assert (answer.text, answer.finish_reason) == (("yes " * 8000), "length")
    assert len(usages.records) == 1


async def test_text_parts_are_joined_without_reasoning(llm_of: BuildLLM, ask: BuildRequest) -> None:
    parts = [{"type": "text", "text": "Anna "}, {"type": "thinking", "text": "Hm."}, {"type": "text", "text": None}, "moved"]
    thought = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]
    async with raw_endpoint(stream_of(chunk(thought), chunk(parts), chunk([{"text": "."}]), END)) as url:
        assert (await llm_of(url).complete(ask())).text == "Anna moved."


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
        {"prompt_tokens": 9},
        {"completion_tokens": 4},
        {"prompt_tokens": "nine", "completion_tokens": 4},
        {"prompt_tokens": 10**400, "completion_tokens": 4},
        {"prompt_tokens": True, "completion_tokens": []},
        {"prompt_tokens": -9, "completion_tokens": 4},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {},
        [],
        7,
    ],
    ids=lambda usage: repr(usage)[:60],
)
async def test_incomplete_usage_is_estimated(llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, usage: Any) -> None:
    async with raw_endpoint(stream_of(YES, END, {**chunk(), "choices": [], "usage": usage})) as url:
        answer = await llm_of(url).complete(ask())
    assert [each.estimated for each in usages.records] == [True]
    assert answer.usage.prompt_tokens > 0
    assert answer.usage.completion_tokens > 0


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 50}}, LLMUsage(prompt_tokens=9, cached_tokens=9, completion_tokens=4)),
        ({"prompt_tokens_details": {"cached_tokens": -3}}, LLMUsage(prompt_tokens=9, completion_tokens=4)),
        ({"prompt_tokens_details": {"cached_tokens": None}}, LLMUsage(prompt_tokens=9, completion_tokens=4)),
        ({"prompt_tokens_details": 5}, LLMUsage(prompt_tokens=9, completion_tokens=4)),
        ({"completion_tokens": -4}, LLMUsage(prompt_tokens=9)),
        ({"cached_tokens": 5}, LLMUsage(prompt_tokens=9, cached_tokens=5, completion_tokens=4)),
        ({"prompt_cache_hit_tokens": 6, "prompt_cache_miss_tokens": 3}, LLMUsage(prompt_tokens=9, cached_tokens=6, completion_tokens=4)),
        ({"total_tokens": 13}, LLMUsage(prompt_tokens=9, completion_tokens=4)),
        ({"total_tokens": 73, "completion_tokens_details": {"reasoning_tokens": 60}}, LLMUsage(prompt_tokens=9, completion_tokens=64)),
    ],
    ids=repr,
)
async def test_usage_counts_are_clamped(llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, more: Any, expected: LLMUsage) -> None:
    async with raw_endpoint(stream_of(YES, END, {**chunk(), "choices": [], "usage": {**COUNTS, **more}})) as url:
        assert (await llm_of(url).complete(ask())).usage == expected
    assert [each.estimated for each in usages.records] == [False]


UNREADABLE = {
    "no utf-8": stream_of(YES, b'{"choices": [{"delta": {"content": "\xff\xfe"}}]}', END),
    "no utf-8 at once": stream_of(b"\xff"),
    "no json": stream_of(YES, b"{", END),
    "too deep": stream_of(YES, b"[" * 100_000, END),
    "an error": stream_of(YES, {"error": {"message": "out of memory"}}),
    "an error that is a text": stream_of({"error": "out of memory"}),
    "an error without an envelope": stream_of({"object": "error", "message": "out of memory", "code": 500}),
    "an error instead of a stream": b'{"error": {"message": "no credits", "code": 503}}',
    "no answer instead of a stream": b'{"id": "c", "object": "chat.completion", "choices": []}',
    "json that is cut": COMPLETION[:-9],
    "nothing": b"",
    "no end": stream_of(YES),
    "html": b"<html>\n\n<body>data: none</body>\n\n</html>",
}


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE)
async def test_an_unreadable_stream_falls_back_and_trips_the_breaker(
    llm_of: BuildLLM, ask: BuildRequest, serve: Serve, body: bytes
) -> None:
    second = await serve()
    delivery = DeliverySettings(breaker_failures=1)
    async with raw_endpoint(body, content_type="application/json") as url:
        alone = llm_of(url, delivery=delivery)
        with pytest.raises(TransientModelError):
            await alone.complete(ask())
        with pytest.raises(TransientModelError, match="circuit breaker"):
            await alone.complete(ask())
        assert (await llm_of(url, second).complete(ask())).model == "fallback"


@pytest.mark.parametrize("body", [COMPLETION, COMPLETION.replace(b", ", b",\n\n")], ids=["in one line", "in lines"])
async def test_an_unstreamed_answer_is_read_and_booked(llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, body: bytes) -> None:
    counted = body[:-1] + b', "usage": {"prompt_tokens": 9, "completion_tokens": 4}}'
    async with raw_endpoint(counted, content_type="application/json; charset=utf-8") as url:
        answer = await llm_of(url).complete(ask())
    assert (answer.text, answer.finish_reason, answer.usage) == ("yes", "stop", LLMUsage(prompt_tokens=9, completion_tokens=4))
    assert len(usages.records) == 1


@pytest.mark.parametrize("reason", ["insufficient_system_resource", "abort", "error"])
@pytest.mark.parametrize("text", [None, '{"segments": []'])
async def test_an_aborted_answer_falls_back(llm_of: BuildLLM, ask: BuildRequest, serve: Serve, reason: str, text: str | None) -> None:
    second = await serve()
    async with raw_endpoint(stream_of(chunk(text), chunk(finish=reason))) as url:
        assert (await llm_of(url, second).complete(ask())).model == "fallback"
        with pytest.raises(TransientModelError, match=reason):
            await llm_of(url).complete(ask())


async def test_a_models_refusal_is_its_answer(llm_of: BuildLLM, ask: BuildRequest) -> None:
    refused = {"choices": [{"index": 0, "delta": {"refusal": "I cannot help."}, "finish_reason": "content_filter"}]}
    async with raw_endpoint(stream_of({**chunk(), **refused})) as url:
        answer = await llm_of(url).complete(ask())
    assert (answer.text, answer.finish_reason) == ("I cannot help.", "other")


@pytest.mark.parametrize(
    "where",
    [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": None, "usage": COUNTS}]},
        {"x_groq": {"id": "r", "usage": COUNTS}},
        {"choices": [], "usage": COUNTS},
    ],
    ids=["in a choice", "of groq", "last"],
)
async def test_usage_is_found_wherever_endpoints_put_it(llm_of: BuildLLM, ask: BuildRequest, where: Any) -> None:
    nothing = {**chunk(), "choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}
    async with raw_endpoint(stream_of(YES, {**chunk(), **where}, END, nothing)) as url:
        assert (await llm_of(url).complete(ask())).usage == LLMUsage(prompt_tokens=9, completion_tokens=4)


async def test_usage_counted_before_a_failure_is_booked(llm_of: BuildLLM, ask: BuildRequest, usages: UsageList) -> None:
    async with raw_endpoint(stream_of({**YES, "usage": {"prompt_tokens": 1500, "completion_tokens": 2000}}, b"\xff")) as url:
        with pytest.raises(TransientModelError):
            await llm_of(url).complete(ask())
    assert [(each.prompt_tokens, each.completion_tokens, each.estimated) for each in usages.records] == [(1500, 2000, False)]


@pytest.mark.parametrize(
    ("body", "content_type", "problem"),
    [
        (
            b"<html>Sign in</html>",
            "text/html; charset=utf-8",
            "it sent a web page and no completion, '<html>Sign in</html>': is the address",
        ),
        (b'{"detail": "Not Found"}', "application/json", """it sent JSON without choices and no completion, '{"detail": "Not Found"}'"""),
        (b"[]", "application/json", "it sent JSON without choices"),
        (b'{"error": {"message": "loading"}}', "application/json", "broke its answer off: loading"),
        (b"", "application/json", "sent nothing of a stream"),
        (b'{"done": true}', "application/x-ndjson", "sent nothing of a stream"),
        (b'data: {"error": {"message": "half \\ud83d"}}\n\n', "text/event-stream", "broke its answer off: half \N{REPLACEMENT CHARACTER}"),
    ],
)
async def test_an_answer_without_completion_is_described(
    llm_of: BuildLLM, ask: BuildRequest, body: bytes, content_type: str, problem: str
) -> None:
    async with raw_endpoint(body, content_type=content_type) as url:
        with pytest.raises(TransientModelError, match=re.escape(problem)):
            await llm_of(url).complete(ask())


async def test_garbage_after_the_end_is_ignored(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with raw_endpoint(stream_of(YES, END, b"\xff")) as url:
        assert (await llm_of(url).complete(ask())).text == "yes"


@pytest.mark.parametrize("usage", [{**COUNTS, "prompt_tokens_details": {"cached_tokens": 99}}, {"prompt_tokens": None}], ids=repr)
async def test_odd_usage_still_settles_the_budget(llm_of: BuildLLM, ask: BuildRequest, registry: CollectorRegistry, usage: Any) -> None:
    async with raw_endpoint(stream_of(YES, END, {**chunk(), "choices": [], "usage": usage})) as url:
        # Each call sets its longest answer (200 tokens) aside: were that kept, the second would be refused.
        llm = llm_of(url, budget=BudgetSettings(hard_tokens=300), max_completion_tokens=200)
        for index in range(5):
            await llm.complete(ask(str(index)))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(JSON_VALUES)
def test_no_chunk_raises(value: Any) -> None:
    usage = read_chunk(value).usage
    assert usage is None or 0 <= usage.cached_tokens <= usage.prompt_tokens
