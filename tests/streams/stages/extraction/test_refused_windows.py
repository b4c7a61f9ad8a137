"""Windows that an LLM endpoint refuses: the real handler and gateway, and a simulated endpoint, a real HTTP server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from prometheus_client import CollectorRegistry

from control.tenants import TenantDirectory
from extraction.build import build_extractor
from models.llm.build import build_llm
from models.llm.telemetry import LLMMetrics
from models.llm.usage import DiscardedUsage
from runtime.settings import LLMSettings, Settings
from streams.errors import PoisonRecordError, TransientError
from streams.stages.extraction.handler import ExtractionHandler
from tests.models.llm.raw_endpoint import Reply, chunk, refusal, replying_endpoint, stream_of, streamed
from tests.stores.factories import BagOfWordsEmbedder
from tests.streams.stages.extraction.doubles import new_handler, window_record

NOTHING: Final = stream_of(chunk('{"segments": [], "events": []}'), chunk(finish="stop"))
FILTERED: Final = {"message": "The prompt triggered Azure OpenAI's content management policy.", "code": "content_filter", "status": 400}
TOO_LONG: Final = {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"}


@asynccontextmanager
async def stage_before(
    reply: Reply, settings: Settings, tenants: TenantDirectory, **llm: Any
) -> AsyncIterator[tuple[ExtractionHandler, list[dict[str, Any]]]]:
    """The stage's handler before an endpoint, and what was asked of that.

    Args:
        reply: What the endpoint answers.
        settings: The stage's settings.
        tenants: The known tenants.
        **llm: Settings of the endpoint.
    """
    async with replying_endpoint(reply) as (url, requests):
        with_llm = settings.model_copy(update={"llm": LLMSettings(base_url=url, model="gpt", **llm)})
        gateway = build_llm(with_llm, redis=None, usage=DiscardedUsage(), metrics=LLMMetrics(CollectorRegistry()))
        extractor = build_extractor(with_llm, embedder=BagOfWordsEmbedder(), llm=gateway)
        try:
            yield new_handler(settings, tenants, extractor), requests
        finally:
            await extractor.close()


@pytest.mark.parametrize("error", [FILTERED, TOO_LONG])
async def test_a_window_refused_for_its_content_is_poison(settings: Settings, tenants: TenantDirectory, error: object) -> None:
    def reply(payload: dict[str, Any]) -> Any:
        return refusal(400, {"error": error}) if "knife" in payload["messages"][1]["content"] else streamed(NOTHING)

    async with stage_before(reply, settings, tenants) as (stage, requests):
        assert len(await stage.handle(window_record(text="hello"))) == 1
        with pytest.raises(PoisonRecordError) as poison:
            await stage.handle(window_record(text="the knife"))
        assert len(await stage.handle(window_record(text="good morning"))) == 1
    assert (poison.value.reason, len(requests)) == ("input_refused", 4)


async def test_windows_wait_where_every_window_is_refused(settings: Settings, tenants: TenantDirectory) -> None:
    async with stage_before(lambda _: refusal(400, {"error": {"message": "no credit"}}), settings, tenants) as (stage, _):
        with pytest.raises(TransientError, match="no credit") as failure:
            await stage.handle(window_record())
    assert (failure.value.dependency, failure.value.concerns_record) == ("llm", True)


async def test_windows_wait_for_their_turn_untouched(settings: Settings, tenants: TenantDirectory) -> None:
    async with stage_before(lambda _: streamed(NOTHING), settings, tenants, requests_per_minute=1, queue_timeout_s=30) as (stage, _):
        await stage.handle(window_record(text="hello"))
        with pytest.raises(TransientError, match="no free lease") as failure:
            await stage.handle(window_record(text="good morning"))
    assert (failure.value.counts_as_attempt, failure.value.concerns_record) == (True, False)


async def test_an_overloaded_endpoint_has_looked_at_no_window(settings: Settings, tenants: TenantDirectory) -> None:
    async with stage_before(lambda _: refusal(429, {}, **{"Retry-After": "7"}), settings, tenants) as (stage, _):
        with pytest.raises(TransientError) as failure:
            await stage.handle(window_record())
    assert (failure.value.retry_after_s, failure.value.concerns_record) == (7.0, False)
