"""What a message costs while its user's history grows a hundredfold: it has to stay the same (docs/architecture.md, invariant 8)."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.stream.growth import MESSAGES_A_WINDOW, Growth, Told
from benchmarks.stream.load import SCHEMA, TENANT, Record, fill
from benchmarks.stream.stage import StageWorker, fresh, stage_worker, topic_bytes
from runtime.settings import Settings
from streams.stages import STAGES

_TIMEOUT_S: Final = 900.0
_WARM_UP: Final = 1000
"""Messages of each of as many other users before all else: a worker that has just begun makes larger, rarer batches."""
_OUTPUTS: Final = {"sessions": ("windows",), "events": ("contributions", "memories"), "entities": ("memories",)}


@dataclass(frozen=True, slots=True)
class Cost:
    """What a user's message costs a stage, at one length of the user's history."""

    history: int
    """Messages of each user before those that are measured."""
    us_per_message: float
    """From the first of the measured records produced to the last one done."""
    cpu_us_per_message: float
    """User and system, of the worker."""
    changelog_bytes_per_message: float
    output_bytes_per_message: float


async def history(base: Settings, folder: Path, *, users: int, lengths: Sequence[int], measured: int) -> dict[str, object]:
    """Measures the stages that keep state.

    Args:
        base: Where Kafka and Redis are.
        folder: The broker's data lies under it; for tables, too.
        users: How many, all of the same age.
        lengths: The lengths of the history at which to measure, ascending, in messages of each user; each a multiple of 20.
        measured: Messages of each user that are measured; a multiple of 20.

    Returns:
        For each stage a table, and its last row against its first as ``cpu_growth`` and ``bytes_growth``.
    """
    if any(each % MESSAGES_A_WINDOW for each in (*lengths, measured)):
        raise ValueError(f"lengths and measured must be multiples of {MESSAGES_A_WINDOW}, got {lengths} and {measured}")
    results: dict[str, object] = {}
    for stage in _OUTPUTS:
        settings = await fresh(base, folder, **{TENANT: SCHEMA})
        growth = Growth(users=users, partitions=settings.kafka.partitions)
        async with stage_worker(stage, settings) as worker:
            run = _Run(stage, growth.told_to(stage), settings, folder, worker, users)
            await run.warm_up(Growth(users=users, partitions=settings.kafka.partitions, name="other").told_to(stage))
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
    """One stage, its users growing older."""

    def __init__(self, stage: str, told: Told, settings: Settings, folder: Path, worker: StageWorker, users: int) -> None:
        self._told = told
        self._settings = settings
        self._folder = folder
        self._worker = worker
        self._users = users
        self._source = settings.topic(STAGES[stage].source.name)
        self._changelog = STAGES[stage].changelog(settings.kafka.topic_prefix)
        self._outputs = [settings.topic(name) for name in _OUTPUTS[stage]]
        self._age = 0
        self._records = 0

    async def warm_up(self, told: Told) -> None:
        """Tells the lives of others."""
        await self._tell(told(0, _WARM_UP))

    async def grow_to(self, age: int) -> float:
        """Tells the users' history up to that many messages of each; returns when all of it was done."""
        told = self._told(self._age, age)
        self._age = age
        return await self._tell(told)

    async def measure(self, messages: int) -> Cost:
        """Tells so many further messages of each, and measures what that costs."""
        age = self._age
        changelog, outputs = self._sizes()
        cpu, started = self._worker.consumed().cpu_seconds, time.time()
        ended = await self.grow_to(age + messages)
        cpu = self._worker.consumed().cpu_seconds - cpu
        changelog_after, outputs_after = self._sizes()
        count = messages * self._users
        return Cost(
            age,
            (ended - started) / count * 1e6,
            cpu / count * 1e6,
            (changelog_after - changelog) / count,
            (outputs_after - outputs) / count,
        )

    async def _tell(self, records: Iterable[Record]) -> float:
        self._records += await fill(self._source, records, self._settings)
        return await self._worker.until_done(self._records, timeout_s=_TIMEOUT_S)

    def _sizes(self) -> tuple[int, int]:
        return topic_bytes(self._folder, self._changelog), sum(topic_bytes(self._folder, each) for each in self._outputs)
