"""Periodic work that one of the query services does. Its modules are loaded at its first run: the service starts sooner."""

import secrets
from functools import partial

from control.erasure import subject_of
from control.tenants import TenantDirectory
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.operations.service_work import ServiceJob

_log = logger(__name__)


def jobs_of(settings: Settings) -> list[ServiceJob]:
    """The jobs that the settings ask for."""
    jobs: list[ServiceJob] = []
    if settings.retention.interval_s:
        jobs.append(ServiceJob(name="retention", interval_s=settings.retention.interval_s, work=partial(_retain, settings)))
    if settings.proof.interval_s:
        jobs.append(ServiceJob(name="proof", interval_s=settings.proof.interval_s, work=partial(_prove, settings)))
    if settings.trust.interval_s:
        jobs.append(ServiceJob(name="trust", interval_s=settings.trust.interval_s, work=partial(_apply_trust, settings)))
    return jobs


async def _retain(settings: Settings, *, tenants: TenantDirectory, store: MemoryStore, redis: GuardedRedis, metrics: Metrics) -> None:
    from streams.operations.retention.run import retain

    report = await retain(settings, redis=redis)
    for counts in report.found.values():
        for what, count in counts.items():
            metrics.retention_removed.labels(what).inc(count)


async def _apply_trust(settings: Settings, *, tenants: TenantDirectory, store: MemoryStore, redis: GuardedRedis, metrics: Metrics) -> None:
    changed = [each.id for each in tenants.all() if not each.trust.is_applied]
    if changed:
        from streams.operations.trust import apply_trust

        await apply_trust(settings, tenants=changed, by="service")


async def _prove(settings: Settings, *, tenants: TenantDirectory, store: MemoryStore, redis: GuardedRedis, metrics: Metrics) -> None:
    from streams.operations.proof.prove import prove, sampled_users

    seed = secrets.token_hex(8)
    users = await sampled_users(settings, settings.proof.users, seed=seed)
    for proof in await prove(settings, users, store=store):
        metrics.proved_users.labels(proof.outcome).inc()
        subject = subject_of(proof.tenant, proof.user)
        for difference in proof.differences:
            metrics.proof_differences.labels(difference.problem).inc()
            _log.error(
                "proof_differs",
                tenant=proof.tenant,
                subject=subject,
                memory=difference.memory_id,
                kind=difference.kind,
                problem=difference.problem,
                fields=difference.fields,
            )
    metrics.proved_at.set_to_current_time()
