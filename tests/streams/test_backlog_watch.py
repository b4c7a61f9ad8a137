"""A stage reports the age and the owner of its oldest record, and warns before the log deletes it."""

import asyncio
import contextlib
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiokafka import AIOKafkaProducer

from memory.keys import encode_key
from memory.topics import DAY_MS
from runtime.kafka import OutgoingRecord, Producer, client_options
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.errors import TransientError
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.streams.flow import TENANT, NewFlow, keyed_worker, serving
from tests.streams.harness import until_true
from varve.embedded.ports import free_port
from varve.stage_status import StageStatus, StageStatusReader, describe_holder

pytestmark = pytest.mark.integration

HALF_A_DAY_S = 43_200


@pytest.fixture
async def settings(new_flow: NewFlow, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr("streams.engine.backlog_watch._INTERVAL_S", 0.2)
    settings = await new_flow({})
    waiting_in_the_log = settings.delivery.model_copy(update={"park_after_s": 3600.0})
    return settings.model_copy(update={"metrics_port": free_port(), "delivery": waiting_in_the_log})


class WaitingHandler:
    """Waits for a budget until it is let."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        if not self.gate.is_set():
            raise TransientError("the budget is used up", dependency="budget", counts_as_attempt=False)
        return []


async def _send_aged(settings: Settings, topic: str, *, age_ms: int) -> None:
    producer = AIOKafkaProducer(**client_options(settings.kafka))
    await producer.start()
    try:
        key, written_ms = encode_key(TENANT, "s1"), round(time.time() * 1000) - age_ms
        await producer.send_and_wait(settings.topic(topic), b"v", key=key, partition=0, timestamp_ms=written_ms)
    finally:
        await producer.stop()


async def _page(probe: httpx.AsyncClient, path: str, *texts: str) -> httpx.Response:
    """A page of the worker's health server, once it holds the texts."""
    pages: list[httpx.Response] = []

    async def shows() -> bool:
        with contextlib.suppress(httpx.TransportError):
            pages[:] = [await probe.get(path)]
        return bool(pages) and all(text in pages[0].text for text in texts)

    try:
        await until_true(shows)
    except TimeoutError as error:
        raise AssertionError(f"{path} lacks one of {texts}: {[page.text for page in pages]}") from error
    return pages[0]


async def test_a_paused_tenant_is_named_in_time(settings: Settings) -> None:
    await _send_aged(settings, "merges", age_ms=7 * DAY_MS - HALF_A_DAY_S * 1000)
    handler, stop = WaitingHandler(), asyncio.Event()
    running = asyncio.create_task(keyed_worker(settings, handler, max_span=20, stage="merging").run(stop))
    url = f"http://127.0.0.1:{settings.metrics_port}"
    async with httpx.AsyncClient(base_url=url) as probe:
        status = await _page(probe, "/status", '"state":"paused"')
        partition: dict[str, Any] = status.json()["partitions"]["0"]
        assert partition["held_by"]["offset"] == 0
        assert partition["held_by"]["tenant"] == TENANT
        metrics = (await _page(probe, "/metrics", 'varve_retention_left_seconds{partition="0",stage="merging"')).text
        ages = {line.split("{")[0]: float(line.split()[-1]) for line in metrics.splitlines() if 'partition="0",stage="merging"' in line}
        assert HALF_A_DAY_S - 120 < ages["varve_retention_left_seconds"] <= HALF_A_DAY_S
        assert 0 <= ages["varve_oldest_unacknowledged_seconds"] - 6.5 * 86_400 < 120
        assert TENANT not in metrics
        warning = ('"far_from_retention":{"ok":false', "may lose what merging has to read next")
        ready = await _page(probe, "/readyz", '"ready":true', *warning)
        assert ready.status_code == 200, "it warns, and works on"

        async with StageStatusReader(settings=settings, probes={"merging": url}) as reader:

            async def merging() -> StageStatus:
                (found,) = [each for each in await reader.read() if each.name == "merging"]
                return found

            async def is_held() -> bool:
                return (await merging()).held_by is not None

            await until_true(is_held)  # a busy worker's page may not respond in time
            shown = await merging()
        assert shown.held_by is not None
        assert shown.held_by.startswith(f"0/0: {TENANT}, ")
        assert shown.retention_left_s is not None
        assert shown.oldest_s is not None
        assert shown.retention_left_s < HALF_A_DAY_S < shown.oldest_s

        handler.gate.set()
        await _page(probe, "/readyz", '"far_from_retention":{"ok":true')
        assert "varve_retention_left_seconds{" not in (await probe.get("/metrics")).text
        assert describe_holder((await probe.get("/status")).json()) is None
    stop.set()
    await running


async def test_an_unavailable_store_blocks_the_index(settings: Settings, tmp_path: Path) -> None:
    with EdgeOwnerProcess(tmp_path / "edge") as owner:
        settings = settings.model_copy(update={"store": settings.store.model_copy(update={"socket": owner.socket})})
        async with serving(settings, ["index"]), httpx.AsyncClient(base_url=f"http://127.0.0.1:{settings.metrics_port}") as probe:
            await _page(probe, "/readyz", '"recovered":true')
            owner.stop(signal.SIGTERM)
            async with Producer(kafka=settings.kafka) as producer:
                await producer.send(settings.topic("memories"), key=encode_key(TENANT, "m1"), value=None, partition=1)
            status = await _page(probe, "/status", '"tenant":"acme","state":"retrying"')
            assert describe_holder(status.json()) is not None
            assert (await probe.get("/readyz")).json()["checks"]["far_from_retention"]["ok"]
