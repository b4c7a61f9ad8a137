"""The checks of its topics that a worker makes before it joins its group."""

import asyncio
from pathlib import Path

import pytest

from runtime.errors import TopicMissingError
from runtime.kafka import create_topics
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.context import StageContext
from streams.engine.tasks.driver import Driver
from streams.engine.worker import Worker
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration


def _never(context: StageContext) -> Driver:
    raise AssertionError("a worker whose topics are not right must not begin")


def _worker(settings: Settings) -> Worker:
    return Worker(
        stage="sessions", source=settings.topic("messages"), has_table=True, settings=settings, metrics=Metrics(), new_driver=_never
    )


async def test_worker_refuses_topics_with_other_partition_counts(kafka: str, topic_prefix: str, tmp_path: Path) -> None:
    broker = one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2)
    settings = Settings(data=tmp_path, kafka=broker)
    with pytest.raises(TopicMissingError, match="run `varve topics create`"):
        await _worker(settings).run(asyncio.Event())
    await create_topics(settings)
    others = settings.model_copy(update={"kafka": broker.model_copy(update={"partitions": 3})})
    with pytest.raises(TopicMissingError, match=r"have 2 partitions and the settings say 3: .* set VARVE_KAFKA__PARTITIONS=2"):
        await _worker(others).run(asyncio.Event())
