"""A real broker and Redis for the length of a benchmark."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from runtime.settings import Settings
from varve.embedded import jars
from varve.embedded.kafka import EmbeddedKafka
from varve.embedded.redis import EmbeddedRedis
from varve.supervisor.process import ManagedProcess, ProcessSpec


@asynccontextmanager
async def broker_and_redis(folder: Path) -> AsyncIterator[Settings]:
    """Starts both on free ports, their data under ``folder``, and gives the settings that reach them."""
    settings = Settings()
    jars.fetch(settings.cache_path)
    broker = EmbeddedKafka(data=folder / "kafka", cache=settings.cache_path)
    redis = EmbeddedRedis(data=folder / "redis")
    async with AsyncExitStack() as resources:
        for spec in (broker.prepare(), redis.prepare()):
            await resources.enter_async_context(running(spec))
        yield settings.model_copy(
            update={
                "data": folder,
                "kafka": settings.kafka.model_copy(update={"bootstrap": broker.bootstrap}),
                "redis": settings.redis.model_copy(update={"url": redis.url}),
            }
        )


@asynccontextmanager
async def running(spec: ProcessSpec) -> AsyncIterator[None]:
    """A process, ready, for the length of a block."""
    process = ManagedProcess(spec)
    await process.start()
    try:
        yield
    finally:
        await process.stop()
