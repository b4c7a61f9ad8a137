"""Workers that are frozen for longer than their session, and resume when their partitions are assigned to another."""

import asyncio
import signal

from runtime.kafka import KafkaOffsets
from streams.stages.catalog import STAGES
from tests.chaos.run import FaultContext, Injection

_BEYOND_SESSION_S = 4.0
_EXIT_DEADLINE_S = 60.0


def zombie(stage: str) -> Injection:
    """A worker is frozen, another takes over and works, and the first resumes: it must exit and change nothing."""

    async def inject(context: FaultContext) -> None:
        worker = context.cluster.workers[stage][0]
        async with context.cluster.second_worker(stage):
            before = len(worker.exits)
            async with worker.frozen():
                await asyncio.sleep(_frozen_s(context))
            await _expect_exit(context, stage, before)

    return inject


def zombie_alone(stage: str) -> Injection:
    """A stage's only worker is frozen and resumes: it must write nothing more to the stage's changelog."""

    async def inject(context: FaultContext) -> None:
        await context.cluster.ready()
        worker = context.cluster.workers[stage][0]
        changelog = STAGES[stage].changelog(context.cluster.settings.kafka.topic_prefix)
        before = len(worker.exits)
        async with worker.no_restart():
            async with worker.frozen():
                await asyncio.sleep(_frozen_s(context))
                before_waking = await _end_offsets(context, changelog)
            await _expect_exit(context, stage, before)
            context.expect(await _end_offsets(context, changelog) == before_waking, f"the {stage} stale worker wrote to its changelog")

    return inject


async def _expect_exit(context: FaultContext, stage: str, before: int) -> None:
    worker = context.cluster.workers[stage][0]
    try:
        async with asyncio.timeout(_EXIT_DEADLINE_S):
            code = await worker.exited_since(before)
    except TimeoutError:
        context.expect(False, f"the {stage} stale worker continues")
        worker.send_signal(signal.SIGKILL)
    else:
        context.expect(code > 0, f"the {stage} stale worker ended with {code}")


async def _end_offsets(context: FaultContext, topic: str) -> dict[object, int]:
    async with KafkaOffsets(kafka=context.cluster.settings.kafka) as offsets:
        return dict(await offsets.end_offsets([topic]))


def _frozen_s(context: FaultContext) -> float:
    return context.cluster.settings.kafka.session_timeout_s + _BEYOND_SESSION_S
