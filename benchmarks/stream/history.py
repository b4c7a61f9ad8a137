"""The cost of a message while its user's history grows a hundredfold: it must not grow (docs/internals/architecture.md, invariant 8)."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.stream.growing_users import MESSAGES_PER_WINDOW, GrowingUsers, RecordRange
from benchmarks.stream.load import SCHEMA, TENANT, Record, fill
from benchmarks.stream.stage import StageWorker, isolated_settings, stage_worker, topic_bytes
from runtime.settings import Settings
from streams.stages.catalog import STAGES

_TIMEOUT_S: Final = 900.0
_WARM_UP: Final = 1000
"""Messages per user of a warm-up with the same number of other users: a new worker makes larger, rarer batches."""
_OUTPUTS: Final = {"sessions": ("windows",), "events": ("contributions", "memories"), "entities": ("memories",)}


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a message to a stage, at one length of its user's history."""

    history: int
    """Messages of each user before the measured ones."""
    us_per_message: float
    """Time from producing the first measured record to processing the last one."""
    cpu_us_per_message: float
    """CPU time of the worker (user and system)."""
    changelog_bytes_per_message: float
    output_bytes_per_message: float


async def history(base: Settings, folder: Path, *, users: int, lengths: Sequence[int], measured: int) -> dict[str, object]:
    """Measures the stages that keep state.

    Args:
        base: The settings with the addresses of Kafka and Redis.
        folder: The folder for the broker's data and the stage's tables.
        users: Number of users; all have the same number of messages.
        lengths: The lengths of the history at which to measure, ascending, in messages of each user; each a multiple of 20.
        measured: Messages of each user that are measured; a multiple of 20.

    Returns:
        For each stage a table, and its last row against its first as ``cpu_growth`` and ``bytes_growth``.
    """
    if any(each % MESSAGES_PER_WINDOW for each in (*lengths, measured)):
        raise ValueError(f"lengths and measured must be multiples of {MESSAGES_PER_WINDOW}, got {lengths} and {measured}")
    results: dict[str, object] = {}
    for stage in _OUTPUTS:
        settings = await isolated_settings(base, folder, **{TENANT: SCHEMA})
        growing = GrowingUsers(users=users, partitions=settings.kafka.partitions)
        async with stage_worker(stage, settings) as worker:
            run = _Run(stage, growing.input_of(stage), settings, folder, worker, users)
            await run.warm_up(GrowingUsers(users=users, partitions=settings.kafka.partitions, name="other").input_of(stage))
            costs = []
            for length in lengths:
                await run.grow_to(length)
                costs.append(await run.measure(measured))
        results[stage] = {
            "costs": [{name: round(value, 1) for name, value in asdict(cost).items()} for cost in costs],
            "cpu_growth": round(costs[-1].cpu_us_per_message / costs[0].cpu_us_per_message, 3),
            "bytes_growth": round(_bytes(costs[-1]) / _bytes(costs[0]), 3),
        }
    return {**results, "users": users, "measured_messages_of_each": measured}


def _bytes(cost: Cost) -> float:
    return cost.changelog_bytes_per_message + cost.output_bytes_per_message


class _Run:
    """Measures one stage under the growing history."""

    def __init__(self, stage: str, records: RecordRange, settings: Settings, folder: Path, worker: StageWorker, users: int) -> None:
        self._input = records
        self._settings = settings
        self._folder = folder
        self._worker = worker
        self._users = users
        self._source = settings.topic(STAGES[stage].source.name)
        self._changelog = STAGES[stage].changelog(settings.kafka.topic_prefix)
        self._outputs = [settings.topic(name) for name in _OUTPUTS[stage]]
        self._length = 0
        self._records = 0

    async def warm_up(self, records: RecordRange) -> None:
        """Feeds the history of other users."""
        await self._feed(records(0, _WARM_UP))

    async def grow_to(self, length: int) -> float:
        """Feeds the users' history up to a number of messages per user; returns the time at which it was processed."""
        records = self._input(self._length, length)
        self._length = length
        return await self._feed(records)

    async def measure(self, messages: int) -> Cost:
        """Feeds further messages of each user, and measures their cost."""
        length = self._length
        changelog, outputs = self._sizes()
        cpu, started = self._worker.resource_usage().cpu_seconds, time.time()
        ended = await self.grow_to(length + messages)
        cpu = self._worker.resource_usage().cpu_seconds - cpu
        changelog_after, outputs_after = self._sizes()
        count = messages * self._users
        return Cost(
            length,
            (ended - started) / count * 1e6,
            cpu / count * 1e6,
            (changelog_after - changelog) / count,
            (outputs_after - outputs) / count,
        )

    async def _feed(self, records: Iterable[Record]) -> float:
        self._records += await fill(self._source, records, self._settings)
        return await self._worker.wait_until_done(self._records, timeout_s=_TIMEOUT_S)

    def _sizes(self) -> tuple[int, int]:
        return topic_bytes(self._folder, self._changelog), sum(topic_bytes(self._folder, each) for each in self._outputs)
