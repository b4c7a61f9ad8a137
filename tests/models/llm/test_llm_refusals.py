"""Refusals of endpoints, and the form of request that is learned from them: only as much as they prove."""

from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from models.errors import InputRefusedError, ModelConfigurationError, OverloadedError, TransientModelError
from models.llm.capabilities import Capabilities
from models.llm.gateway import LLMGateway
from tests.models.llm.conftest import BuildLLM, BuildRequest, UsageList
from tests.models.llm.raw_endpoint import Reply, chunk, refusal, replying_endpoint, stream_of, streamed

YES = stream_of(chunk("yes"), chunk(finish="stop"))
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
ANOTHER = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"], "additionalProperties": False}


def refusing(when: Callable[[dict[str, Any]], bool], status: int, body: Any) -> Reply:
    return lambda payload: refusal(status, body) if when(payload) else streamed(YES)


def wants_form(*forms: str) -> Callable[[dict[str, Any]], bool]:
    return lambda payload: (payload.get("response_format") or {}).get("type") in forms


def known(llm: LLMGateway) -> Capabilities:
    return llm._endpoints[0].endpoint.capabilities


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Unrecognized request argument supplied: stream_options", "type": "invalid_request_error"}},
        {"object": "error", "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options')}]", "code": 400},
        {"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]}},
        {"detail": [{"loc": ["body", "stream_options"], "msg": "extra fields not permitted"}]},
        {"error": "stream_options is not supported", "error_type": "validation"},
        [{"error": {"code": 400, "message": 'Unknown name "stream_options": Cannot find field.', "status": "INVALID_ARGUMENT"}}],
        {"detail": "stream_options is not supported"},
        "stream_options is not supported",
    ],
    ids=["openai", "vllm", "mistral", "fastapi", "tgi", "gemini", "a detail", "a text"],
)
@pytest.mark.parametrize("status", [400, 422])
async def test_refusals_are_understood_in_every_form(llm_of: BuildLLM, ask: BuildRequest, status: int, body: Any) -> None:
    async with replying_endpoint(refusing(lambda payload: "stream_options" in payload, status, body)) as (url, requests):
        llm = llm_of(url)
        for number in range(2):
            assert (await llm.complete(ask(str(number), json_schema=SCHEMA))).text == "yes"
    assert len(requests) == 3
    assert known(llm) == Capabilities(stream_usage=False)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'generation_config.response_schema'"),
        (400, "The specified schema produces a constraint that has too many states for serving."),
        (400, "JSON schema conversion failed: Unrecognized schema"),
        (400, "Invalid schema: anyOf is not supported"),
        (400, "Bad request"),
        (422, ""),
        (500, "Failed to create new sequence: unable to create sampling context"),
    ],
)
async def test_an_unsupported_response_format_is_tried_once(llm_of: BuildLLM, ask: BuildRequest, status: int, words: str) -> None:
    body = {"error": {"message": words}} if words else {}
    async with replying_endpoint(refusing(wants_form("json_schema"), status, body)) as (url, requests):
        llm = llm_of(url)
        for number in range(3):
            assert (await llm.complete(ask(str(number), json_schema=SCHEMA))).text == "yes"
    assert len(requests) == 4
    assert known(llm) == Capabilities(response_format="json_object")


async def test_a_too_complex_schema_downgrades_only_itself(llm_of: BuildLLM, ask: BuildRequest) -> None:
    def has_another(payload: dict[str, Any]) -> bool:
        return wants_form("json_schema")(payload) and payload["response_format"]["json_schema"]["schema"] == ANOTHER

    async with replying_endpoint(refusing(has_another, 400, {"error": {"message": "schema too complex"}})) as (url, requests):
        llm = llm_of(url)
        for number, schema in enumerate([SCHEMA, ANOTHER, ANOTHER, SCHEMA]):
            assert (await llm.complete(ask(str(number), json_schema=schema))).text == "yes"
    assert [each["response_format"]["type"] for each in requests] == ["json_schema"] * 2 + ["json_object"] * 2 + ["json_schema"]
    assert known(llm) == Capabilities()


async def test_a_refusal_echoing_the_request_downgrades_nothing(llm_of: BuildLLM, ask: BuildRequest) -> None:
    def reply(payload: dict[str, Any]) -> web.Response:
        if payload["messages"][1]["content"] == "bad":
            return refusal(400, {"object": "error", "message": f"Value error in this request, input: {payload!r}", "code": 400})
        return streamed(YES)

    async with replying_endpoint(reply) as (url, requests):
        llm = llm_of(url)
        for text in ("bad", "good", "bad"):
            if text == "good":
                await llm.complete(ask(text, json_schema=SCHEMA))
            else:
                with pytest.raises(InputRefusedError, match="Value error"):
                    await llm.complete(ask(text, json_schema=SCHEMA))
    assert known(llm) == Capabilities()
    assert len(requests) < 20


async def test_a_refused_text_is_not_retried_in_other_formats(llm_of: BuildLLM, ask: BuildRequest) -> None:
    too_long = {"error": {"message": "This model's maximum context length is 300 tokens"}}
    async with replying_endpoint(refusing(lambda payload: payload["messages"][1]["content"] == "long", 400, too_long)) as (url, requests):
        llm = llm_of(url)
        await llm.complete(ask("short", json_schema=SCHEMA))
        with pytest.raises(InputRefusedError, match="maximum context length"):
            await llm.complete(ask("long", json_schema=SCHEMA))
    assert len(requests) == 2


async def test_a_failed_json_generation_is_transient(llm_of: BuildLLM, ask: BuildRequest) -> None:
    failed = {"error": {"message": "Failed to generate JSON.", "code": "json_validate_failed", "failed_generation": "the temperature"}}
    async with replying_endpoint(refusing(lambda _: True, 400, failed)) as (url, _):
        with pytest.raises(TransientModelError, match="Failed to generate JSON"):
            await llm_of(url, response_format="json_object").complete(ask(json_schema=SCHEMA))


@pytest.mark.parametrize("retry_after", ["Wed, 21 Oct 2099 07:28:00 GMT", "1767225600", "86400"])
async def test_a_pause_lasts_a_minute_at_most(llm_of: BuildLLM, ask: BuildRequest, retry_after: str) -> None:
    async with replying_endpoint(lambda _: refusal(429, {}, **{"Retry-After": retry_after})) as (url, requests):
        llm = llm_of(url, queue_timeout_s=1)
        with pytest.raises(OverloadedError):
            await llm.complete(ask())
        with pytest.raises(TransientModelError) as meanwhile:
            await llm.complete(ask())
    assert 50 < (meanwhile.value.retry_after_s or 0) <= 60
    assert len(requests) == 1


async def test_retry_after_in_milliseconds_is_read(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with replying_endpoint(lambda _: refusal(429, {}, **{"retry-after-ms": "1500", "retry-after": "2"})) as (url, _):
        with pytest.raises(OverloadedError) as refused:
            await llm_of(url).complete(ask())
    assert refused.value.retry_after_s == 1.5


@pytest.mark.parametrize(
    ("code", "expected"), [(400, InputRefusedError), ("401", ModelConfigurationError), (429, OverloadedError), (None, TransientModelError)]
)
@pytest.mark.parametrize("envelope", ["error", "object"])
async def test_an_error_inside_a_stream_maps_by_status(
    llm_of: BuildLLM, ask: BuildRequest, code: object, expected: type[Exception], envelope: str
) -> None:
    error = {"message": "that is too long", "code": code}
    body = {"error": error} if envelope == "error" else {"object": "error", **error}
    async with replying_endpoint(lambda _: streamed(stream_of(body))) as (url, _):
        with pytest.raises(expected, match="too long"):
            await llm_of(url).complete(ask())


FILTERED = {"error": {"message": "The response was filtered by our content management policy.", "code": "content_filter", "status": 400}}


def is_knife(payload: dict[str, Any]) -> bool:
    return "knife" in payload["messages"][1]["content"]


async def test_a_refused_input_is_probed_with_one_word(llm_of: BuildLLM, ask: BuildRequest, usages: UsageList) -> None:
    async with replying_endpoint(refusing(is_knife, 400, FILTERED)) as (url, requests):
        llm = llm_of(url, response_format="json_schema")
        for number in (1, 2):
            with pytest.raises(InputRefusedError, match="filtered"):
                await llm.complete(ask("the knife", json_schema=SCHEMA, probes_refusals=True, purpose="merge"))
            assert len(requests) == 2 * number, "what was accepted before the refusal proves nothing, nor does an answer kept"
    refused, probe = requests[:2]
    assert probe["messages"] == [refused["messages"][0], {"role": "user", "content": "ping"}]
    assert {**probe, "messages": refused["messages"]} == refused
    assert [(each.tenant, each.purpose, each.completion_tokens <= 5) for each in usages.records] == [("acme", "merge", True)] * 2


async def test_an_endpoint_refusing_everything_refuses_no_input(llm_of: BuildLLM, ask: BuildRequest, usages: UsageList) -> None:
    async with replying_endpoint(lambda _: refusal(400, {"error": {"message": "your credit is used up"}})) as (url, _):
        with pytest.raises(ModelConfigurationError, match="credit") as refused:
            await llm_of(url).complete(ask(probes_refusals=True))
    assert not isinstance(refused.value, InputRefusedError)
    assert usages.records == []


@pytest.mark.parametrize(("status", "expected"), [(429, OverloadedError), (503, TransientModelError)])
async def test_a_probe_unanswered_leaves_the_refusal_open(
    llm_of: BuildLLM, ask: BuildRequest, status: int, expected: type[Exception]
) -> None:
    async with replying_endpoint(lambda payload: refusal(400 if is_knife(payload) else status, FILTERED)) as (url, _):
        with pytest.raises(expected, match=str(status)):
            await llm_of(url, response_format="none").complete(ask("the knife", probes_refusals=True))


async def test_any_endpoint_that_takes_the_probe_proves_it(llm_of: BuildLLM, ask: BuildRequest) -> None:
    without_credit = replying_endpoint(lambda _: refusal(400, {"error": {"message": "your credit is used up"}}))
    async with without_credit as (first, _), replying_endpoint(refusing(is_knife, 400, FILTERED)) as (second, requests):
        llm = llm_of(first, second, response_format="none")
        with pytest.raises(InputRefusedError):
            await llm.complete(ask("the knife", probes_refusals=True))
        assert (await llm.complete(ask("a spoon", probes_refusals=True))).text == "yes"
    assert len(requests) == 3


async def test_no_endpoint_is_probed_without_a_request(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with replying_endpoint(refusing(is_knife, 400, FILTERED)) as (url, requests):
        with pytest.raises(InputRefusedError):
            await llm_of(url, response_format="none").complete(ask("the knife"))
    assert len(requests) == 1
