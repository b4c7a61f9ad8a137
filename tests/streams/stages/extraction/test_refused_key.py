"""A live worker whose endpoint answers 401 reports it, loses nothing, and continues when the key is accepted."""

import contextlib
from collections import Counter

import httpx
import pytest

from loadtest.answers import extraction_answer
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan
from memory.records import Extraction, Window
from runtime.kafka import read_topic
from runtime.settings import DeliverySettings, LLMSettings, Settings
from tests.streams.flow import caught_up, flush, send_sample, serving
from tests.streams.harness import until_true
from varve.embedded.ports import free_port
from varve.stage_status import StageStatusReader

pytestmark = pytest.mark.integration

EARLY = ("sessions",)


async def values(settings: Settings, topic: str) -> list[bytes]:
    return [record.value or b"" async for record in read_topic(settings.topic(topic), settings.kafka)]


async def test_a_refused_key_is_reported_and_loses_nothing(flow: Settings) -> None:
    statuses = [401]
    async with LLMSimulator(answer=extraction_answer, planner=lambda *_: Plan(status=statuses[-1])) as endpoint:
        often = DeliverySettings(batch_interval_s=0.0, breaker_reset_s=0.2, retry_initial_interval_s=0.1, retry_maximum_interval_s=0.2)
        llm = LLMSettings(base_url=endpoint.base_url, model="simulated")
        settings = flow.model_copy(update={"llm": llm, "delivery": often, "metrics_port": free_port()})
        url = f"http://127.0.0.1:{settings.metrics_port}"
        async with serving(flow, EARLY):
            await send_sample(flow)
            await flush(flow)
            await caught_up(flow, EARLY)
        windows = {Window.from_json(value).id for value in await values(flow, "windows")}
        async with serving(settings, ["extraction"]), httpx.AsyncClient(base_url=url) as probe:

            async def refused() -> bool:
                with contextlib.suppress(httpx.TransportError):
                    page = await probe.get("/readyz")
                    is_known = page.json()["checks"].get("llm_credentials", {}).get("ok") is False
                    return is_known and page.status_code == 200  # a restart would not correct the key
                return False

            await until_true(refused)
            refusals = endpoint.outcomes["401"]
            ready = await probe.get("/readyz")
            problem = ready.json()["checks"]["llm_credentials"]["problem"]
            assert "401" in problem
            assert "VARVE_LLM__API_KEY" in problem
            assert refusals < 50, "a few attempts are enough to know"
            assert _sample((await probe.get("/metrics")).text) == 0.0, "the alert VarveAPIKeyRefused reads it"
            async with StageStatusReader(settings=settings, probes={"extraction": url}) as reader:
                (shown,) = [each for each in await reader.read() if each.name == "extraction"]
            assert any("llm_credentials" in each and "401" in each for each in shown.problems)
            assert shown.lag > 0
            assert await values(settings, "extractions") == []

            statuses.append(200)
            await caught_up(settings, ["extraction"])

            async def accepted() -> bool:
                checks = (await probe.get("/readyz")).json()["checks"]
                return bool(checks["llm_credentials"]["ok"])

            await until_true(accepted)  # the page is checked at intervals
            assert _sample((await probe.get("/metrics")).text) == 1.0
    extracted = Counter(Extraction.from_json(value).window_id for value in await values(settings, "extractions"))
    assert extracted == dict.fromkeys(windows, 1)
    assert await values(settings, "dead-letters") == []


def _sample(page: str) -> float:
    """The value that the alert reads."""
    (line,) = [each for each in page.splitlines() if each.startswith("varve_ready{") and 'check="llm_credentials"' in each]
    return float(line.rpartition(" ")[2])
