"""Waits until no stage has lag or parked records, by offsets and not by time."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from runtime.interruption import pause
from runtime.kafka import KafkaOffsets
from runtime.kafka.parked_note import read_parked
from runtime.settings import Settings
from streams.stages.catalog import STAGES, StageSpec
from varve.errors import StalledError

POLL_S: Final = 0.1
STALL_S: Final = 180.0

Progress = Callable[[str, int], None]


async def wait_for_zero_lag(
    settings: Settings,
    *,
    stages: Sequence[str] = tuple(STAGES),
    stall_s: float = STALL_S,
    progress: Progress = lambda stage, lag: None,
) -> None:
    """Waits until all stages have committed all records of their topics, and processed the parked ones.

    A stage's outputs are durable before it commits the record they come from. So once a stage has committed all of its topic, it adds
    nothing more to the next stage's topics: one pass in pipeline order suffices, except for records that a stage sends back (timers,
    ticks). Passes are repeated until one finds nothing new.

    Args:
        settings: The settings, with Kafka's address.
        stages: Names of the stages to wait for.
        stall_s: Seconds without a commit after which a stage with lag counts as stalled.
        progress: Called with each stage's name and lag, parked records included, whenever the lag changes.

    Raises:
        StalledError: If a stage stalls; the message names it.
        KafkaUnavailableError: If no broker answers.
    """
    if stall_s <= 0:
        raise ValueError(f"stall_s must be above 0, got {stall_s}")
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        before: dict[str, int] | None = None
        while True:
            for name in stages:
                await _wait_for_stage(STAGES[name], offsets, settings, stall_s, progress)
            ends = {name: await _end(STAGES[name], offsets, settings) for name in stages}
            if ends == before:
                return
            before = ends


async def lag_by_stage(settings: Settings) -> dict[str, int]:
    """The number of unprocessed records of each stage, including parked ones.

    Args:
        settings: The settings, with Kafka's address.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        return {name: sum(await _lag(stage, offsets, settings)) for name, stage in STAGES.items()}


async def _wait_for_stage(stage: StageSpec, offsets: KafkaOffsets, settings: Settings, stall_s: float, progress: Progress) -> None:
    last: int | None = None
    changed_at = time.monotonic()
    while True:
        parked, ahead = await _lag(stage, offsets, settings)
        lag = parked + ahead
        if lag != last:
            last, changed_at = lag, time.monotonic()
            progress(stage.name, lag)
        if lag == 0:
            return
        if time.monotonic() - changed_at > stall_s:
            raise StalledError(
                f"the stage {stage.name} has not moved for {stall_s:.0f} s with {lag} records before it, {parked} of them parked for "
                "their tenants' budgets or schemas: see its log"
            )
        await pause(POLL_S)


async def _lag(stage: StageSpec, offsets: KafkaOffsets, settings: Settings) -> tuple[int, int]:
    """The numbers of parked records and of all unprocessed ones."""
    group, topics = stage.group(settings.kafka.topic_prefix), _topics(stage, settings)
    return (await read_parked(offsets, group, topics)).count, sum((await offsets.lag(group, topics)).values())


async def _end(stage: StageSpec, offsets: KafkaOffsets, settings: Settings) -> int:
    return sum((await offsets.end_offsets(_topics(stage, settings))).values())


def _topics(stage: StageSpec, settings: Settings) -> list[str]:
    return [settings.topic(stage.source.name)]
