"""A second generation of a tenant's memories is built while the first is live, switched to, and the old one dropped."""

import asyncio

import orjson
import pytest

from control import read_control
from control.errors import ChangeRefusedError, GenerationIncompleteError
from control.generations.dropping import drop
from control.generations.switching import switch
from control.tenant_changes import add_generation
from memory.headers import GENERATION_DROP, KIND
from memory.records import Extraction
from runtime.errors import GroupInUseError
from runtime.kafka import OutgoingRecord, Producer, read_topic
from runtime.settings import ControlSettings, Settings
from stores.build import build_store
from streams.operations.rebuild import snapshot
from streams.run import serve_stage
from tests.control_log import write
from tests.streams.flow import TENANT, caught_up, followed, send_sample, serving

pytestmark = pytest.mark.integration

NEW = "v2"
BY = "a test"


@pytest.fixture
def flow(flow: Settings) -> Settings:
    """The flow, in which a switch holds everywhere sooner."""
    return flow.model_copy(update={"control": ControlSettings(lease_s=3.0)})


async def test_a_generation_replaces_the_live_one(flow: Settings) -> None:
    await send_sample(flow, session="s-1")
    async with serving(flow):
        await caught_up(flow)
        first = await _state(flow)
        assert set(first) == {""}
        await write(flow, lambda draft: add_generation(draft, TENANT, NEW, schema="meetings"))
        with pytest.raises(GenerationIncompleteError, match=r"lacks up to \d+ windows of the live one"):
            await switch(flow, TENANT, NEW, by=BY)

        stop = asyncio.Event()
        second = asyncio.create_task(serve_stage("extraction", flow, stop, generation=NEW))
        await followed(flow, NEW)
        await caught_up(flow)
        both = await _state(flow)
        assert both[""] == first[""], "the live generation is not touched"
        assert _types(both[NEW]) != _types(both[""]), "the new one is made under its own schema"
        assert not _ids(both[""]) & _ids(both[NEW])
        with pytest.raises(ChangeRefusedError, match="is live"):
            await drop(flow, TENANT, "", by=BY)
        with pytest.raises(GroupInUseError):
            await drop(flow, TENANT, NEW, by=BY)

        await switch(flow, TENANT, NEW, by=BY)
        assert (await read_control(flow)).tenants[TENANT].generation == NEW
        stop.set()
        await second
        await send_sample(flow, session="s-2")
        await caught_up(flow)
        later = await _state(flow)
        assert later[""] == first[""], "from now on nothing is added to the old one"
        assert len(_ids(later[NEW])) > len(_ids(both[NEW]))

        assert await drop(flow, TENANT, "", by=BY) > 0
        await caught_up(flow)
        assert await _state(flow) == {NEW: later[NEW]}
        assert await drop(flow, TENANT, "", by=BY) == 0

        late = await _extractions(flow, "")
        assert late
        async with Producer(kafka=flow.kafka) as producer:
            await producer.send_many(late)
        await caught_up(flow)
        assert await _state(flow) == {NEW: later[NEW]}, "a call that was out during the drop adds nothing"


async def _extractions(settings: Settings, generation: str) -> list[OutgoingRecord]:
    """A generation's records in the log, to be delivered once more."""
    topic = settings.topic("extractions")
    found = [record async for record in read_topic(topic, settings.kafka) if (KIND, GENERATION_DROP) not in record.headers]
    return [
        OutgoingRecord(topic, record.key, record.value, partition=record.partition)
        for record in found
        if Extraction.from_json(record.value or b"").generation == generation and Extraction.from_json(record.value or b"").events
    ]


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
