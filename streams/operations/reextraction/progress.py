"""Progress of a re-extraction: its position, what it has spent, what is left, and when it will be done."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from control import Draft
from control.generations.reading import windows_topic, workers_of
from control.generations.reextraction_changes import reextraction_of, waits_for_erasure
from control.reextraction import Reextraction
from memory.errors import RecordError
from memory.records import Usage
from memory.topics import USAGE
from models.llm.budget import Amount, Spent
from models.llm.total_budget import read_total
from runtime.errors import RedisUnavailableError
from runtime.kafka import ConsumerGroups, KafkaOffsets, TopicPartition, read_topic
from runtime.kafka.parked_note import read_parked
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from streams.operations.reextraction.day_waits import DayWait, read_waits
from streams.operations.reextraction.priority import busy_stage

_CLOCK_MARGIN: Final = timedelta(minutes=5)
"""Most difference between the clocks of the broker and of the process that started a re-extraction."""
_LEAST_ELAPSED_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of one re-extraction."""

    run: Reextraction
    position: int
    """Sum of the committed offsets, over the partitions of ``windows``."""
    end: int
    """Sum of the ends of these partitions."""
    parked: int
    """Windows that its workers have parked, because a model does not answer."""
    workers: int
    is_erasing: bool
    """Whether its worker has stopped until an erasure of a user is finished."""
    spent: Spent
    waits: Mapping[str, DayWait] = field(default_factory=dict)
    """Tenants whose windows wait for the next day, because a re-extraction has used its share of their daily budget."""
    yields_to: str | None = None
    """The live stage that it waits for, with its backlog. None: none."""
    at: datetime

    @property
    def is_caught_up(self) -> bool:
        """Whether its workers have extracted all windows that have closed."""
        return self.position >= self.end and not self.parked

    @property
    def share(self) -> float:
        """Share of the windows that is done, in [0, 1]."""
        total = self.end - self.run.first_position
        return 1.0 if total <= 0 else min(1.0, max(0.0, (self.position - self.run.first_position) / total))

    @property
    def windows_left(self) -> int:
        """Windows to extract, including parked ones: an estimate if the log has windows of other tenants, otherwise a count."""
        return windows_left(self.run, position=self.position, end=self.end) + self.parked

    @property
    def tokens_left(self) -> int | None:
        """Rest of the budget in tokens. None: no limit."""
        limit = self.run.budget.tokens
        return None if limit is None else max(0, limit - round(self.spent.amount.tokens))

    @property
    def cost_left(self) -> float | None:
        """Rest of the budget in money. None: no limit."""
        limit = self.run.budget.cost
        return None if limit is None else max(0.0, limit - self.spent.amount.cost)

    @property
    def left_s(self) -> float | None:
        """Seconds until it has caught up, at the rate since its last start. None: it is not running, or has made no progress yet."""
        if self.is_caught_up:
            return 0.0
        elapsed_s = (self.at - self.run.running_since).total_seconds()
        done = self.position - self.run.position_then
        if self.run.state != "running" or done <= 0 or elapsed_s < _LEAST_ELAPSED_S:
            return None
        return (self.end - self.position) / (done / elapsed_s)

    @property
    def advice(self) -> str:
        """The next step of the operator."""
        name = self.run.generation
        match self.run.state:
            case "running" if self.is_erasing:
                return "it waits for an erasure of a user: `varve erasures list TENANT`"
            case "running" if not self.workers:
                return f"no worker runs: start one with `varve generations work {name}`"
            case "running" if self.yields_to is not None and not self.is_caught_up:
                return "it continues when the live stage has caught up: `varve status`"
            case "running" if self.waits:
                names = ", ".join([*self.waits][:3])
                return (
                    "it continues then; to continue now, raise the daily budget or the share of re-extractions: "
                    f"`varve tenants set TENANT --budget` ({names})"
                )
            case "running" if self.is_caught_up:
                return f"it has caught up: compare with `varve generations rehearse`, then `varve generations switch TENANT {name}`"
            case "paused":
                return f"continue with `varve generations resume {name}`"
            case "cancelling":
                return f"its results are being removed; if it takes long, run `varve generations cancel {name}` again"
            case _:
                return ""

    def as_json(self) -> dict[str, Any]:
        """The fields for an API and for ``--json``."""
        run = self.run
        return {
            "generation": run.generation,
            "tenants": list(run.tenants),
            "state": run.state,
            "reason": run.reason,
            "started_at": run.started_at.isoformat(),
            "started_by": run.started_by,
            "since": None if run.since is None else run.since.isoformat(),
            "workers": self.workers,
            "waits_for_erasure": self.is_erasing,
            "waits_for_budget": [wait.as_json(tenant) for tenant, wait in self.waits.items()],
            "yields_to": self.yields_to,
            "caught_up": self.is_caught_up,
            "share": round(self.share, 4),
            "windows": run.estimate.windows,
            "windows_left": self.windows_left,
            "parked": self.parked,
            "left_s": None if self.left_s is None else round(self.left_s, 1),
            "calls": self.spent.calls,
            "tokens": round(self.spent.amount.tokens),
            "cost": round(self.spent.amount.cost, 6),
            "tokens_left": self.tokens_left,
            "cost_left": self.cost_left,
            "budget": run.budget.model_dump(mode="json"),
            "estimate": run.estimate.model_dump(mode="json"),
            "advice": self.advice,
        }


def windows_left(run: Reextraction, *, position: int, end: int) -> int:
    """Windows after a position, by the windows that were counted at its start: offsets also count the marks of transactions.

    Rounded up, so that 0 means that none is left.
    """
    total, left = end - run.first_position, max(0, min(end - position, end - run.first_position))
    return 0 if total <= 0 else -(-run.estimate.windows * left // total)


async def read_progress(settings: Settings, known: Draft, generation: str, *, redis: GuardedRedis, now: datetime | None = None) -> Progress:
    """Reads the progress of a re-extraction.

    Args:
        settings: The settings.
        known: The control log.
        generation: The generation that it builds.
        redis: Has what is spent.
        now: The time. Default: the machine's.

    Raises:
        UnknownReextractionError: If there is none.
        KafkaUnavailableError: If no broker responds.
    """
    run, at = reextraction_of(known, generation), now or datetime.now(UTC)
    group, topic = workers_of(settings, generation), windows_topic(settings)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        ends = await offsets.end_offsets([topic])
        committed = await offsets.committed_offsets(group, [topic])
        parked = (await read_parked(offsets, group, [topic])).count
        busy = await busy_stage(settings, offsets) if run.state == "running" else None
    return Progress(
        run=run,
        position=position_in(ends, committed),
        end=sum(ends.values()),
        parked=parked,
        workers=(await ConsumerGroups(kafka=settings.kafka).members([group]))[group],
        is_erasing=waits_for_erasure(known, run),
        spent=await read_spent(settings, run, redis=redis),
        waits=await _waits(redis, run, at),
        yields_to=busy,
        at=at,
    )


def position_in(ends: Mapping[TopicPartition, int], committed: Mapping[TopicPartition, int]) -> int:
    """The sum of committed offsets, each at most the end of its partition."""
    return sum(min(committed.get(partition, 0), end) for partition, end in ends.items())


async def read_spent(settings: Settings, run: Reextraction, *, redis: GuardedRedis) -> Spent:
    """Usage of a re-extraction: from Redis, otherwise from the log.

    Raises:
        KafkaUnavailableError: If no broker responds.
    """
    with suppress(RedisUnavailableError):
        known = await read_total(redis, run.generation)
        if known is not None:
            return known
    return await spent_by_log(settings, run)


async def _waits(redis: GuardedRedis, run: Reextraction, now: datetime) -> dict[str, DayWait]:
    with suppress(RedisUnavailableError):
        return await read_waits(redis, run.generation, run.tenants, now) if run.state == "running" else {}
    return {}


async def spent_by_log(settings: Settings, run: Reextraction) -> Spent:
    """Usage of a re-extraction by the topic ``usage``. Calls that a killed worker had begun are missing.

    Raises:
        KafkaUnavailableError: If no broker responds.
    """
    topic = settings.topic(USAGE.name)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        start = await offsets.offsets_since([topic], run.started_at - _CLOCK_MARGIN)
    amount, calls = Amount(), 0
    async for record in read_topic(topic, settings.kafka, start=start):
        with suppress(RecordError):
            usage = Usage.from_json(record.value or b"")
            if usage.generation == run.generation and usage.time >= run.started_at and usage.tenant in run.tenants:
                amount += Amount(usage.prompt_tokens + usage.completion_tokens, usage.cost)
                calls += usage.calls
    return Spent(amount, calls)
