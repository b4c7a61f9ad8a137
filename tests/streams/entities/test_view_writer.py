"""Changed entities reach the view at once, the newest state of each, and however long Redis is away."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from runtime.entity_view import EntityAsOf, EntityUpdate
from runtime.errors import RedisUnavailableError
from runtime.metrics import Metrics
from streams.entities.view_writer import MAX_PENDING, ViewWriter
from tests.streams.harness import until


@dataclass
class Views:
    """What was written, by entity; ``failures`` says how often Redis is away first."""

    failures: int = 0
    by_id: dict[str, int] = field(default_factory=dict)
    writes: int = 0

    async def write(self, updates: list[EntityUpdate]) -> None:
        self.writes += 1
        if self.failures:
            self.failures -= 1
            raise RedisUnavailableError("away")
        self.by_id.update((each.memory_id, each.entity.version) for each in updates)


@pytest.fixture
def views() -> Views:
    return Views()


@pytest.fixture
async def writer(views: Views) -> AsyncIterator[ViewWriter]:
    writer = ViewWriter(view=views, metrics=Metrics())
    yield writer
    await writer.stop()


def update(memory_id: str, version: int) -> EntityUpdate:
    return EntityUpdate("acme", memory_id, EntityAsOf(version, None), 0, version)


async def test_the_newest_state_of_each_is_written(views: Views, writer: ViewWriter) -> None:
    for version in range(1, 4):
        writer.changed(update("a", version))
    writer.changed(update("b", 1))
    writer.start()
    await until(lambda: views.by_id == {"a": 3, "b": 1})
    assert views.writes == 1


async def test_what_redis_misses_is_written_later(views: Views, writer: ViewWriter) -> None:
    views.failures = 1
    writer.start()
    writer.changed(update("a", 1))
    await until(lambda: views.writes == 1)
    writer.changed(update("a", 2))
    await until(lambda: views.by_id == {"a": 2})


async def test_what_waits_is_bounded(views: Views, writer: ViewWriter) -> None:
    for number in range(MAX_PENDING + 3):
        writer.changed(update(str(number), 1))
    writer.start()
    await until(lambda: len(views.by_id) == MAX_PENDING)
    assert not {"0", "1", "2"} & views.by_id.keys(), "those that have waited longest are left to the index"
