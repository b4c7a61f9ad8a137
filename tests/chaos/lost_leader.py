"""The loss of a broker that leads, where each record lies on three."""

import asyncio
from typing import Final

from runtime.errors import KafkaUnavailableError
from runtime.kafka.client import admin_client
from runtime.settings import KafkaSettings
from tests.chaos.run import FaultContext, Injection
from tests.chaos.waiting import until

_DOWN_S: Final = 8.0
"""Longer than the 3 s after which a broker counts as gone: another leads meanwhile."""


def kill_leader(*, times: int = 3) -> Injection:
    """Kills the broker that leads some partition of the messages, several times, each time with all replicas in sync before."""

    async def inject(context: FaultContext) -> None:
        kafka = context.cluster.settings.kafka
        for _ in range(times):
            await until(lambda: _is_in_sync(kafka), "all replicas are in sync")
            await asyncio.sleep(context.rng.uniform(0.5, 3.0))
            number = await _leader(kafka, context.cluster.settings.topic("messages"), context.rng.randrange(kafka.partitions))
            async with context.cluster.brokers[number - 1].held_down():
                await asyncio.sleep(_DOWN_S)
        await until(lambda: _is_in_sync(kafka), "all replicas are in sync")

    return inject


async def _leader(kafka: KafkaSettings, topic: str, partition: int) -> int:
    async with admin_client(kafka) as admin:
        (described,) = await admin.describe_topics([topic])
    return next(int(each["leader"]) for each in described["partitions"] if each["partition"] == partition)


async def _is_in_sync(kafka: KafkaSettings) -> bool:
    """Whether every partition of every topic has all its replicas in sync."""
    try:
        async with admin_client(kafka) as admin:
            topics = await admin.describe_topics()
    except KafkaUnavailableError:
        return False
    partitions = [partition for topic in topics for partition in topic["partitions"]]
    return bool(partitions) and all(len(each["isr"]) == len(each["replicas"]) for each in partitions)
