"""A tenant's memories extracted anew beside the live ones, switched to, and the old ones dropped."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from retrieval.stores.build import build_store
from runtime.errors import GroupInUseError
from runtime.kafka import KafkaOffsets, create_topics
from runtime.settings import Settings
from runtime.tenants import TenantDirectory, add_tenant
from runtime.tenants_file import add_generation
from streams.errors import ReplayRefusedError
from streams.generations import drop, switch
from streams.run import serve_stage
from streams.snapshot import snapshot
from streams.stages import STAGES
from tests.retrieval.edge_process import EdgeProcess
from tests.streams.flow import DEADLINE_S, POLL_S, TENANT, caught_up, flow_settings, send_sample, serving

pytestmark = pytest.mark.integration

NEW = "v2"


@pytest.fixture
async def settings(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Settings]:
    with EdgeProcess(tmp_path / "edge") as edge:
        settings = flow_settings(kafka=kafka, topic_prefix=topic_prefix, redis_url=redis_url, data=tmp_path / "data", socket=edge.socket)
        add_tenant(settings.tenants_path, TENANT, schema="companion")
        await create_topics(settings)
        yield settings


async def test_a_generation_grows_beside_the_live_one_takes_its_place_and_the_old_one_goes(settings: Settings) -> None:
    await send_sample(settings, session="s-1")
    async with serving(settings):
        await caught_up(settings)
        first = await _state(settings)
        assert set(first) == {""}
        add_generation(settings.tenants_path, TENANT, NEW, schema="meetings")
        with pytest.raises(ReplayRefusedError, match="windows less"):
            await switch(settings, TENANT, NEW)

        stop = asyncio.Event()
        second = asyncio.create_task(serve_stage("extraction", settings, stop, generation=NEW))
        await _followed(settings)
        both = await _state(settings)
        assert both[""] == first[""], "the live generation is not touched"
        assert _types(both[NEW]) - _types(both[""]), "the new one is made under its own schema"
        assert not _ids(both[""]) & _ids(both[NEW])
        with pytest.raises(ReplayRefusedError, match="is live"):
            await drop(settings, TENANT, "", live="")
        with pytest.raises(GroupInUseError):
            await drop(settings, TENANT, NEW, live="")

        await switch(settings, TENANT, NEW)
        assert TenantDirectory(path=settings.tenants_path).get(TENANT).generation == NEW
        stop.set()
        await second
        await send_sample(settings, session="s-2")
        await caught_up(settings)
        later = await _state(settings)
        assert later[""] == first[""], "from now on nothing is added to the old one"
        assert len(_ids(later[NEW])) > len(_ids(both[NEW]))

        assert await drop(settings, TENANT, "", live=NEW) > 0
        await caught_up(settings)
        assert await _state(settings) == {NEW: later[NEW]}
        assert await drop(settings, TENANT, "", live=NEW) == 0


async def _followed(settings: Settings) -> None:
    """Returns when the second worker has done all windows, and the stages what came of them."""
    group = STAGES["extraction"].group(settings.kafka.topic_prefix, instance=NEW)
    async with asyncio.timeout(DEADLINE_S), KafkaOffsets(kafka=settings.kafka) as offsets:
        while True:
            if not sum((await offsets.lag(group, [settings.topic("windows")])).values()):
                break
            await asyncio.sleep(POLL_S)
    await caught_up(settings)


async def _state(settings: Settings) -> dict[str, list[dict[str, object]]]:
    store = build_store(settings)
    by_generation: dict[str, list[dict[str, object]]] = {}
    try:
        async for line in snapshot(store, TENANT):
            memory = orjson.loads(line)
            by_generation.setdefault(memory["generation"], []).append(memory)
    finally:
        await store.close()
    return by_generation


def _ids(memories: list[dict[str, object]]) -> set[object]:
    return {memory["id"] for memory in memories}


def _types(memories: list[dict[str, object]]) -> set[object]:
    return {memory["type"] for memory in memories}
