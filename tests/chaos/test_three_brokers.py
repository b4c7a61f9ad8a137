"""The three brokers of the chaos suite form one cluster."""

import asyncio
from pathlib import Path

import pytest

from runtime.settings import KafkaSettings, Settings
from tests.chaos.three_brokers import brokers_registered, three_brokers
from varve.embedded import jars
from varve.supervisor.process import ManagedProcess

pytestmark = pytest.mark.integration


async def test_three_brokers_with_new_storage_form_a_cluster(tmp_path: Path) -> None:
    cache = Settings().cache_path
    jars.fetch(cache)
    nodes = three_brokers(tmp_path, cache=cache, logs=tmp_path)
    processes = [ManagedProcess(node.prepare()) for node in nodes]
    try:
        await asyncio.gather(*(process.start() for process in processes))
        await brokers_registered(KafkaSettings(bootstrap=nodes[0].bootstrap), 3)
    finally:
        await asyncio.gather(*(process.stop() for process in processes))
