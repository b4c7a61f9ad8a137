"""Starts and resumes re-extractions: sets the position of the workers, then writes the control log."""

from collections.abc import Mapping
from datetime import UTC, datetime

from control import ControlWriter, Draft, read_control
from control.draft import new
from control.generations.reading import windows_topic, workers_of
from control.generations.reextraction_changes import (
    ReextractionRequest,
    reextraction_of,
    resume_reextraction,
    start_reextraction,
    tenants_of_new,
)
from control.reextraction import Estimate, Reextraction, RunBudget
from control.writer import Written
from models.errors import ModelConfigurationError
from models.llm.total_budget import forget_total
from runtime.kafka import ConsumerGroups, KafkaOffsets
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from streams.operations.reextraction.progress import position_in


async def start(
    settings: Settings,
    request: ReextractionRequest,
    *,
    writer: ControlWriter,
    redis: GuardedRedis,
    estimate: Estimate,
    budget: RunBudget,
    by: str,
) -> Written[Reextraction]:
    """Starts a re-extraction. A worker (:mod:`streams.operations.reextraction.worker`) does it.

    Args:
        settings: The settings.
        request: The windows to extract again.
        writer: Writes the control log.
        redis: Keeps what is spent.
        estimate: The confirmed estimate.
        budget: Its limits.
        by: The actor, for the audit log.

    Raises:
        ChangeRefusedError: As :func:`control.generations.reextraction_changes.start_reextraction`.
        GroupInUseError: If a worker of the generation runs.
        ModelConfigurationError: If the budget is a cost and there is no price table.
        KafkaUnavailableError: If no broker responds.
        RedisUnavailableError: If Redis is configured but unavailable.
    """
    require_prices(settings, budget)
    tenants_of_new(Draft(await read_control(settings)), request.generation, request.tenants)
    group, topic = workers_of(settings, request.generation), windows_topic(settings)
    groups = ConsumerGroups(kafka=settings.kafka)
    await groups.require_empty([group])
    if redis.is_configured:
        await forget_total(redis, request.generation)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        since = request.since
        begins = await offsets.beginning_offsets([topic]) if since is None else await offsets.offsets_since([topic], since)
    await groups.commit(group, begins)
    now = datetime.now(UTC)
    return await writer.write(
        lambda draft: start_reextraction(
            draft, request, estimate=estimate, budget=budget, at=now, by=by, first_position=sum(begins.values())
        ),
        action="reextraction start",
        by=by,
    )


async def resume(
    settings: Settings, generation: str, *, writer: ControlWriter, by: str, limits: Mapping[str, float | None] | None = None
) -> Written[Reextraction]:
    """Resumes a re-extraction; a running one gets only the new limits.

    Args:
        settings: The settings.
        generation: The generation that it builds.
        writer: Writes the control log.
        by: The actor, for the audit log.
        limits: The fields of its budget to set. Default: none.

    Raises:
        UnknownReextractionError: If there is none.
        ChangeRefusedError: If it has ended or is being cancelled.
        ModelConfigurationError: If the budget is a cost and there is no price table.
        KafkaUnavailableError: If no broker responds.
    """
    reextraction_of(Draft(await read_control(settings)), generation)
    if limits:
        require_prices(settings, new(RunBudget, **limits))
    topic = windows_topic(settings)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        ends = await offsets.end_offsets([topic])
        position = position_in(ends, await offsets.committed_offsets(workers_of(settings, generation), [topic]))
    now = datetime.now(UTC)
    return await writer.write(
        lambda draft: resume_reextraction(draft, generation, at=now, limits=limits, position=position),
        action="reextraction resume",
        by=by,
    )


def require_prices(settings: Settings, budget: RunBudget) -> None:
    """Checks that the cost of calls is known if the budget limits it.

    Raises:
        ModelConfigurationError: If it is not.
    """
    if budget.cost is not None and settings.llm.base_url is not None and settings.llm.price_table is None:
        raise ModelConfigurationError("a budget as a cost needs a price table: set VARVE_LLM__PRICE_TABLE, or give a budget in tokens")
