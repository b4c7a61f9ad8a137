"""Records that the log loses before a stage has handled them, and a log that is truncated after the records that the stage has."""

import asyncio
import re
import shutil
import signal
from collections.abc import Iterable
from typing import Final

from aiokafka import TopicPartition
from aiokafka.admin import RecordsToDelete

from runtime.kafka import KafkaOffsets
from runtime.kafka.client import admin_client
from streams.stages.catalog import STAGES
from tests.chaos.run import FaultContext, Injection
from tests.chaos.topic_log import LogRecord, read_log
from tests.chaos.waiting import until

_BACKLOG: Final = 16


def retention_passes(stage: str) -> Injection:
    """While a stage is down, half of one partition's unread records are removed: it stops, and later misses exactly those."""

    async def inject(context: FaultContext) -> None:
        await context.cluster.ready()
        # Where a group has committed nothing, it begins with what is left, and says so: it cannot know of a loss.
        await until(lambda: _has_come_far(context, stage), f"{stage} has handled some of every partition")
        removed: asyncio.Future[tuple[int, int, int]] = asyncio.get_running_loop().create_future()

        async def outage() -> None:
            # It is ready again only when the loss is accepted.
            async with context.cluster.workers[stage][0].held_down():
                removed.set_result(await _remove_unhandled(context, stage))

        async with asyncio.TaskGroup() as work:
            work.create_task(outage())
            partition, first, end = await removed
            await _counted(context, stage, {partition: end - first})
            committed = await _committed(context, stage)
            await until(lambda: _others_continue(context, stage, partition, committed), f"{stage} continues on the other partitions")
            now = (await _committed(context, stage))[partition]
            context.expect(now == first, f"{stage} went on at {now} after the gap at {first}, unasked")
            await _accept(context, stage, partition, first=first, shown=first, end=end)

    return inject


def log_cut(stage: str, source: str) -> Injection:
    """All that a stage has handled vanishes from its topic, which then grows again: nothing new may be taken for handled.

    Args:
        stage: Which stage; its offsets may go back, since it keeps no state by offset.
        source: The stage that writes its topic.
    """

    async def inject(context: FaultContext) -> None:
        cluster = context.cluster
        topic = STAGES[stage].source.name
        await cluster.ready()
        await until(lambda: _has_come_far(context, stage), f"{stage} has handled some of every partition")
        async with cluster.workers[source][0].held_down(signal.SIGTERM):
            await until(lambda: _has_no_lag(context, stage), f"{stage} handles all that there is")
            committed = await _committed(context, stage)
            context.history.remove(topic, await read_log(cluster.settings, topic))
            async with cluster.broker.held_down(signal.SIGTERM):
                for folder in (cluster.folder / "kafka" / "logs").glob(f"{cluster.settings.topic(topic)}-*"):
                    shutil.rmtree(folder)
            await _counted(context, stage, committed)
        await until(lambda: _has_grown(context, topic), f"{topic} grows again")
        for partition, offset in committed.items():
            await _accept(context, stage, partition, first=0, shown=None, end=offset)

    return inject


async def _remove_unhandled(context: FaultContext, stage: str) -> tuple[int, int, int]:
    """Waits until a partition has a backlog, and removes the first half of it; the partition, and the range that is lost."""
    settings = context.cluster.settings
    topic = STAGES[stage].source.name
    await until(lambda: _has_backlog(context, stage), f"{stage} has a backlog")
    committed = await _committed(context, stage)
    unhandled: dict[int, list[LogRecord]] = {partition: [] for partition in committed}
    log = await read_log(settings, topic)
    for record in log:
        if record.offset >= committed.get(record.partition, 0):
            unhandled[record.partition].append(record)
    partition, records = max(unhandled.items(), key=lambda item: len(item[1]))
    first, end = committed[partition], records[len(records) // 2].offset
    async with admin_client(settings.kafka) as admin:
        await admin.delete_records({TopicPartition(settings.topic(topic), partition): RecordsToDelete(end)})
    removed = [record for record in log if record.partition == partition and record.offset < end]
    context.history.remove(topic, removed, lost=[record.position for record in removed if record.offset >= first])
    return partition, first, end


async def _accept(context: FaultContext, stage: str, partition: int, *, first: int, shown: int | None, end: int) -> None:
    """Resumes a partition with the command that operators use."""
    at = f"{context.cluster.settings.topic(STAGES[stage].source.name)}/{partition}"
    _, output = await context.cluster.command("accept-loss", stage, at)
    if shown is not None:
        context.expect(f"--from {shown} --to {end}" in output, f"the loss of {at} is not shown as {shown} to {end}: {output}")
    code, output = await context.cluster.command("accept-loss", stage, at, "--from", str(first), "--to", str(end), "--by", "chaos")
    context.expect(code == 0, f"the loss of {at} could not be accepted: {output}")


async def _counted(context: FaultContext, stage: str, lost: dict[int, int]) -> None:
    """Waits until the stage's worker counts what each partition has lost."""

    async def is_counted() -> bool:
        page = await context.cluster.metrics(context.cluster.workers[stage][0].name)
        return {partition: count for partition, count in _losses(page.splitlines()).items() if count} == lost

    await until(is_counted, f"{stage} counts {lost} as lost")


def _losses(lines: Iterable[str]) -> dict[int, int]:
    found = (re.match(r'varve_records_lost\{.*partition="(\d+)".*\} (\S+)', line) for line in lines)
    return {int(match[1]): int(float(match[2])) for match in found if match is not None}


async def _others_continue(context: FaultContext, stage: str, stopped: int, before: dict[int, int]) -> bool:
    now = await _committed(context, stage)
    return any(offset > before[partition] for partition, offset in now.items() if partition != stopped) or await _has_no_lag(
        context, stage, stopped=stopped
    )


async def _has_come_far(context: FaultContext, stage: str) -> bool:
    return min((await _committed(context, stage)).values()) >= _BACKLOG


async def _has_backlog(context: FaultContext, stage: str) -> bool:
    return max((await _lag(context, stage)).values()) >= _BACKLOG


async def _has_no_lag(context: FaultContext, stage: str, *, stopped: int | None = None) -> bool:
    return not any(lag for partition, lag in (await _lag(context, stage)).items() if partition != stopped)


async def _has_grown(context: FaultContext, topic: str) -> bool:
    async with KafkaOffsets(kafka=context.cluster.settings.kafka) as offsets:
        return any((await offsets.end_offsets([context.cluster.settings.topic(topic)])).values())


async def _lag(context: FaultContext, stage: str) -> dict[int, int]:
    settings = context.cluster.settings
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        lag = await offsets.lag(STAGES[stage].group(settings.kafka.topic_prefix), [settings.topic(STAGES[stage].source.name)])
    return {partition.partition: count for partition, count in lag.items()}


async def _committed(context: FaultContext, stage: str) -> dict[int, int]:
    settings = context.cluster.settings
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        topic = settings.topic(STAGES[stage].source.name)
        committed = await offsets.committed_offsets(STAGES[stage].group(settings.kafka.topic_prefix), [topic])
        return {partition.partition: committed.get(partition, 0) for partition in await offsets.end_offsets([topic])}
