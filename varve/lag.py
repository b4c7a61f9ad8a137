"""Waits until no stage has any lag, nor anything parked: by offsets, not by time."""

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
    """Waits until all stages have committed all records of their topics, and done those that they had parked.

    A stage's outputs are durable before it commits the record they come from. So once a stage has committed all of its topic, it adds
    nothing more to the next stage's topics: one pass in the order of the flow suffices, but for records that a stage sends back (timers,
    ticks). Passes are repeated until one finds nothing new.

    Args:
        settings: Where Kafka is.
        stages: Only these, by their names.
        stall_s: The longest time in which a stage may commit nothing while it has lag, in seconds.
        progress: Called with each stage's name and lag, parked records included, whenever the lag changes.

    Raises:
        StalledError: If a stage stalls; names it.
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
    """How many records each stage has before it, parked ones included.

    Args:
        settings: Where Kafka is.

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
    """How many records it has parked, and how many lie before it."""
    group, topics = stage.group(settings.kafka.topic_prefix), _topics(stage, settings)
    return (await read_parked(offsets, group, topics)).count, sum((await offsets.lag(group, topics)).values())


async def _end(stage: StageSpec, offsets: KafkaOffsets, settings: Settings) -> int:
    return sum((await offsets.end_offsets(_topics(stage, settings))).values())


def _topics(stage: StageSpec, settings: Settings) -> list[str]:
    return [settings.topic(stage.source.name)]
