"""The periodic work of the flow that one of the query services does."""

from functools import partial

from runtime.metrics import Metrics
from runtime.redis import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore, ServiceJob
from streams.operations.retention.run import retain


def jobs_of(settings: Settings) -> list[ServiceJob]:
    """The jobs that the settings ask for."""
    jobs: list[ServiceJob] = []
    if settings.retention.interval_s:
        jobs.append(ServiceJob(name="retention", interval_s=settings.retention.interval_s, work=partial(_retain, settings)))
    return jobs


async def _retain(settings: Settings, *, store: MemoryStore, redis: GuardedRedis, metrics: Metrics) -> None:
    report = await retain(settings, redis=redis)
    for counts in report.found.values():
        for what, count in counts.items():
            metrics.retention_removed.labels(what).inc(count)
