"""The stages from events to the index, with the merging stage, for tests that send extractions and compare memories."""

from typing import Final

from memory.records import Extraction
from runtime.kafka import Producer
from runtime.redis.client import open_redis
from runtime.settings import Settings
from stores.build import build_store
from streams.operations.rebuild import rebuild, snapshot
from tests.streams.flow import caught_up, serving
from tests.streams.merged_remarks import TENANT, extraction_record

STAGES: Final = ("events", "entities", "merging", "index")


async def process(settings: Settings, *extractions: Extraction) -> None:
    """Brings extractions, one after the other, through all stages."""
    async with Producer(kafka=settings.kafka) as producer, serving(settings, STAGES):
        for extraction in extractions:
            await producer.send_many([extraction_record(settings.topic("extractions"), extraction)])
            await caught_up(settings, STAGES)


async def memory_lines(settings: Settings, tenant: str = TENANT) -> list[bytes]:
    """The tenant's memories as a snapshot has them, a line each."""
    store = build_store(settings)
    try:
        return [line async for line in snapshot(store, tenant)]
    finally:
        await store.close()


async def rebuild_and_catch_up(settings: Settings) -> None:
    """Rebuilds all memories from the log."""
    store = build_store(settings)
    async with open_redis(settings.redis) as redis:
        await rebuild(settings, store=store, redis=redis)
    await store.close()
    async with serving(settings, STAGES):
        await caught_up(settings, STAGES)
