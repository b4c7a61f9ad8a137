"""Changed entities reach the view at once, the newest state of each, however long Redis is unavailable."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from runtime.background import BackgroundWorks
from runtime.errors import RedisUnavailableError
from runtime.metrics import Metrics
from runtime.redis.entity_view import EntityAsOf, EntityUpdate
from streams.stages.entities.view_writer import BATCH_SIZE, MAX_PENDING, ViewWriter
from tests.streams.harness import until


@dataclass
class Views:
    """The written entities; ``failures`` is the number of initial failures of Redis."""

    failures: int = 0
    by_id: dict[str, int] = field(default_factory=dict)
    writes: int = 0
    broken: set[str] = field(default_factory=set)
    """The entities that cannot be written."""

    async def write(self, updates: list[EntityUpdate]) -> None:
        self.writes += 1
        if self.failures:
            self.failures -= 1
            raise RedisUnavailableError("away")
        if self.broken & {each.memory_id for each in updates}:
            raise RuntimeError("unforeseen")
        self.by_id.update((each.memory_id, each.entity.version) for each in updates)


@pytest.fixture
def views() -> Views:
    return Views()


@pytest.fixture
def writer(views: Views) -> ViewWriter:
    return ViewWriter(write=views.write, metrics=Metrics())


@asynccontextmanager
async def running(writer: ViewWriter) -> AsyncIterator[None]:
    works = BackgroundWorks()
    works.add("entity-view", writer.run)
    async with works.running():
        yield


def update(memory_id: str, version: int) -> EntityUpdate:
    return EntityUpdate("acme", memory_id, EntityAsOf(version, None), 0, version)


async def test_the_newest_state_of_each_is_written(views: Views, writer: ViewWriter) -> None:
    for version in range(1, 4):
        writer.changed(update("a", version))
    writer.changed(update("b", 1))
    async with running(writer):
        await until(lambda: views.by_id == {"a": 3, "b": 1})
    assert views.writes == 1


async def test_views_missed_by_redis_are_written_later(views: Views, writer: ViewWriter) -> None:
    views.failures = 1
    async with running(writer):
        writer.changed(update("a", 1))
        await until(lambda: views.writes == 1)
        writer.changed(update("a", 2))
        await until(lambda: views.by_id == {"a": 2})


async def test_an_unwritable_view_does_not_block_permanently(views: Views, writer: ViewWriter) -> None:
    views.broken = {"a"}
    async with running(writer):
        for number in range(BATCH_SIZE):
            writer.changed(update("a" if number == 0 else str(number), 1))
        await until(lambda: views.writes == 1)
        writer.changed(update("b", 1))
        await until(lambda: views.by_id == {"b": 1})


async def test_pending_views_are_bounded(views: Views, writer: ViewWriter) -> None:
    for number in range(MAX_PENDING + 3):
        writer.changed(update(str(number), 1))
    async with running(writer):
        await until(lambda: len(views.by_id) == MAX_PENDING)
    assert not {"0", "1", "2"} & views.by_id.keys(), "those that have waited longest are left to the index"
