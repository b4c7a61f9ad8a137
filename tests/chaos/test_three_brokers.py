"""The three brokers of the chaos suite form one cluster, and all of them list a new topic."""

import asyncio
from pathlib import Path

import pytest

from runtime.kafka.client import admin_client, partition_counts
from runtime.kafka.topics import create_topic
from runtime.settings import KafkaSettings, Settings
from tests.chaos.three_brokers import brokers_registered, three_brokers
from varve.embedded import jars
from varve.supervisor.process import ManagedProcess

pytestmark = pytest.mark.integration

_TOPICS = 10
"""Each broker learns of a topic at its own time, so one topic alone seldom shows a difference."""
_REQUESTS = 10
"""Each goes to a random broker."""


async def test_all_three_brokers_list_a_new_topic(tmp_path: Path) -> None:
    cache = Settings().cache_path
    jars.fetch(cache)
    nodes = three_brokers(tmp_path, cache=cache, logs=tmp_path)
    processes = [ManagedProcess(node.prepare()) for node in nodes]
    try:
        await asyncio.gather(*(process.start() for process in processes))
        kafka = KafkaSettings(bootstrap=nodes[0].bootstrap)
        await brokers_registered(kafka, 3)
        async with admin_client(kafka) as client:
            for topic in (f"topic-{number}" for number in range(_TOPICS)):
                await create_topic(topic, config={}, kafka=kafka)
                counts = [await partition_counts(client, [topic]) for _ in range(_REQUESTS)]
                assert counts == [{topic: kafka.partitions}] * _REQUESTS
    finally:
        await asyncio.gather(*(process.stop() for process in processes))
