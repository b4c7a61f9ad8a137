"""The time between the end of a worker and the next commit of its partitions by another one."""

import asyncio
import math
import re
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from aiokafka import TopicPartition

from runtime.errors import KafkaUnavailableError
from runtime.kafka import KafkaOffsets
from streams.stages.catalog import STAGES
from tests.chaos.cluster import Cluster

_SETTLED_S: Final = 0.3
"""Time in which a commit that the worker had begun is complete; no other worker commits so early after a kill."""
_WAITING_S: Final = 2.0
"""A partition without an unhandled record by then is not measured: its next commit would show the load, and not the take-over."""
_DEADLINE_S: Final = 60.0
_POLL_S: Final = 0.05
_LAG = re.compile(r"^varve_lag_records\{([^}]*)\} ", re.MULTILINE)
_PARTITION = re.compile(r'partition="(\d+)"')


async def partitions_of(cluster: Cluster, worker: str) -> set[int]:
    """The partitions that a worker has, as its metrics show them."""
    return {int(number) for labels in _LAG.findall(await cluster.metrics(worker)) for number in _PARTITION.findall(labels)}


async def take_over_times(cluster: Cluster, stage: str, partitions: Collection[int], *, ended: float) -> dict[int, float]:
    """Waits until each partition with an unhandled record has a new commit; returns the seconds since the worker's end.

    Args:
        cluster: With other workers of the stage, or one that is restarted.
        stage: The stage's name.
        partitions: The partitions that the worker had.
        ended: Time of its end, by the monotonic clock.

    Returns:
        The seconds of each partition; infinite if nothing was committed within a minute.
    """
    topic = cluster.settings.topic(STAGES[stage].source.name)
    group = STAGES[stage].group(cluster.settings.kafka.topic_prefix)
    watched = {TopicPartition(topic, each) for each in partitions}
    async with KafkaOffsets(kafka=cluster.settings.kafka) as offsets:
        await asyncio.sleep(max(0.0, ended + _SETTLED_S - time.monotonic()))
        before = await _committed(offsets, group, topic)
        await asyncio.sleep(max(0.0, ended + _WAITING_S - time.monotonic()))
        ends = await offsets.end_offsets([topic])
        open_partitions = {each for each in watched if ends[each] > before.get(each, 0)}
        taken: dict[int, float] = {}
        while open_partitions and time.monotonic() - ended < _DEADLINE_S:
            try:
                committed = await _committed(offsets, group, topic)
            except KafkaUnavailableError:
                committed = before
            seen = time.monotonic() - ended
            moved = {each for each in open_partitions if committed.get(each, 0) > before.get(each, 0)}
            taken |= {each.partition: seen for each in moved}
            open_partitions -= moved
            await asyncio.sleep(_POLL_S)
    return taken | {each.partition: math.inf for each in open_partitions}


def summary(times: Sequence[float]) -> dict[str, Any]:
    """Count, median, 95th percentile and maximum of take-over times in seconds."""
    ordered = sorted(times)
    if not ordered:
        return {"count": 0}
    return {
        "count": len(ordered),
        "p50_s": round(_quantile(ordered, 0.5), 2),
        "p95_s": round(_quantile(ordered, 0.95), 2),
        "max_s": round(ordered[-1], 2),
    }


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


async def _committed(offsets: KafkaOffsets, group: str, topic: str) -> Mapping[TopicPartition, int]:
    return {each: entry.offset for each, entry in (await offsets.commits(group, [topic])).items()}
