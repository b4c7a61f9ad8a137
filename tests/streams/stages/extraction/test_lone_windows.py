"""A window on which an endpoint fails, without any other window: driver, handler and gateway before a real HTTP server."""

from dataclasses import replace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from control.tenants import TenantDirectory
from extraction.build import build_extractor
from models.llm.build import build_llm
from models.llm.telemetry import LLMMetrics
from models.llm.usage import DiscardedUsage
from runtime.settings import DeliverySettings, LLMSettings, Settings
from streams.stages.model_calls import llm_serves
from tests.models.llm.raw_endpoint import chunk, refusal, replying_endpoint, stream_of, streamed
from tests.stores.factories import BagOfWordsEmbedder
from tests.streams.engine.keyed_harness import DriverHarness, reasons
from tests.streams.stages.extraction.doubles import new_handler, window_record

NOTHING = stream_of(chunk('{"segments": [], "events": []}'), chunk(finish="stop"))
QUICK = DeliverySettings(breaker_failures=4, breaker_reset_s=0.01)


@pytest.mark.parametrize(("status", "reason"), [(500, b"gave_up"), (400, b"input_refused")])
async def test_a_users_next_window_is_extracted(settings: Settings, tenants: TenantDirectory, status: int, reason: bytes) -> None:
    def reply(payload: dict[str, Any]) -> Any:
        is_knife = "knife" in payload["messages"][-1]["content"]
        return refusal(status, {"error": {"message": "no"}}) if is_knife else streamed(NOTHING)

    async with replying_endpoint(reply) as (url, requests):
        with_llm = settings.model_copy(update={"llm": LLMSettings(base_url=url, model="gpt"), "delivery": QUICK})
        llm = build_llm(with_llm, redis=None, usage=DiscardedUsage(), metrics=LLMMetrics(CollectorRegistry()))
        extractor = build_extractor(with_llm, embedder=BagOfWordsEmbedder(), llm=llm)
        harness = DriverHarness(serves=llm_serves(llm, stage="extraction"))
        harness.handle = new_handler(settings, tenants, extractor).handle  # type: ignore[method-assign]
        dependencies = harness.context.task.dependencies
        dependencies.retry_policy = replace(dependencies.retry_policy, maximum_attempts=QUICK.retry_maximum_attempts)
        await harness.assign(0)
        try:
            for offset, text in enumerate(("the knife", "hello")):
                await harness.put(offset, value=window_record(text=text).value or b"")
            await harness.drained()
        finally:
            await harness.driver.stop()
            await extractor.close()
        assert reasons(harness.sent) == [reason]
        assert [each.topic for each in harness.sent] == ["varve.dead-letters", "varve.extractions"]
        assert sum(each["messages"][-1]["content"] == "ping" for each in requests) == (6 if status == 500 else 1)
