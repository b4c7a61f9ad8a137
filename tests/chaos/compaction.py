"""Compaction that runs all the time: of what is compacted, changelogs included, while readers and writers are killed."""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from memory.topics import EXTRACTIONS, MEMORIES, MERGED, WINDOWS
from runtime.kafka.client import admin_client
from runtime.settings import Settings
from streams.stages.catalog import STAGES
from tests.chaos.run import FaultContext, Injection
from tests.streams.harness import remove_tables

_EAGER: Final = {"segment.ms": "500", "min.cleanable.dirty.ratio": "0.01", "max.compaction.lag.ms": "1000"}
_WITH_ROWS: Final = ("sessions", "events", "entities")
"""The stages whose tables have rows in every run; those of the others hold what is parked."""
_OF_THE_TOPIC: Final = 1
"""Kafka's number for a setting of the topic itself."""
_CLEANED: Final = "cleaner-offset-checkpoint"
"""The broker's note of how far each partition is compacted."""


def compaction_under(part: Injection) -> Injection:
    """Compacts what is compacted at all, every second, while a fault is injected; then the stages recover from what is left of it alone."""

    async def inject(context: FaultContext) -> None:
        settings = context.cluster.settings
        prefix = settings.kafka.topic_prefix
        compacted = [settings.topic(each.name) for each in (MEMORIES, MERGED, WINDOWS, EXTRACTIONS)]
        topics = [*compacted, *(STAGES[name].changelog(prefix) for name in _WITH_ROWS)]
        async with compacting(settings, topics):
            await part(context)
            for stage in _WITH_ROWS:
                await _lose_tables(context, stage)
            cleaned = await asyncio.to_thread(_cleaned, context.cluster.folder)
        for topic in topics:
            context.expect(cleaned.get(topic, 0) > 0, f"{topic} was never compacted")

    return inject


async def _lose_tables(context: FaultContext, stage: str) -> None:
    worker = context.cluster.workers[stage][0]
    async with worker.held_down(signal.SIGKILL):
        context.expect(remove_tables(context.cluster.settings.data, stage) > 0, f"{stage} had no tables")


@asynccontextmanager
async def compacting(settings: Settings, topics: list[str]) -> AsyncIterator[None]:
    """Has the broker compact topics every second for the length of a block.

    Args:
        settings: Where it is.
        topics: Their names on the broker.
    """
    async with admin_client(settings.kafka) as admin:
        before = await _own_settings(admin, topics)
        await _configure(admin, {topic: {**own, **_EAGER} for topic, own in before.items()})
        try:
            yield
        finally:
            await _configure(admin, before)


async def _own_settings(admin: AIOKafkaAdminClient, topics: list[str]) -> dict[str, dict[str, str]]:
    (response,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic) for topic in topics])
    return {name: {entry[0]: entry[1] for entry in entries if entry[3] == _OF_THE_TOPIC} for _, _, _, name, entries in response.resources}


async def _configure(admin: AIOKafkaAdminClient, wanted: Mapping[str, Mapping[str, str]]) -> None:
    """Gives topics these settings and no others."""
    responses = await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, dict(own)) for topic, own in wanted.items()])
    refused = [resource for response in responses for resource in response.resources if resource[0]]
    if refused:
        raise RuntimeError(f"the broker refuses settings: {refused}")


def _cleaned(folder: Path) -> dict[str, int]:
    """How far each topic is compacted, summed over its partitions."""
    cleaned: dict[str, int] = {}
    for path in folder.glob(f"kafka*/logs/{_CLEANED}"):
        for line in path.read_text().splitlines()[2:]:
            topic, _, offset = line.split()
            cleaned[topic] = cleaned.get(topic, 0) + int(offset)
    return cleaned
