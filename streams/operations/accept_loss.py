"""Accepts that the log has lost a given range of records: the stopped partition continues, and the audit log names the operator."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from control.log import AcceptedLoss, audit_partition
from runtime.kafka import KafkaOffsets, OutgoingRecord, TopicPartition
from runtime.settings import Settings
from streams.engine.failures.data_loss import DataLoss, DataLossError
from streams.engine.state.partition_state import changelog_topic
from streams.engine.tasks.checkpointer import Checkpointer
from streams.errors import LossRefusedError
from streams.stages.catalog import stage_named

_REMEDIES: Final[Mapping[str, str]] = {"sessions": "`varve replay sessions`", "events": "`varve rebuild`"}
"""Stages whose state contains offsets that the log assigns a second time: they would treat new records as repetitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRange:
    """The accepted range of offsets, from ``first`` to before ``next``."""

    first: int
    next: int


async def find_loss(settings: Settings, stage_name: str, partition: int, *, generation: str = "") -> DataLoss | None:
    """The records that a stage's group lost of a partition of its source; changes nothing.

    Args:
        settings: The settings in force.
        stage_name: The stage.
        partition: The partition of its source.
        generation: For ``extraction``: the generation of a group next to the live one.

    Raises:
        StreamError: The stage does not exist.
        KafkaUnavailableError: No broker responds; nothing was changed.
        TransientError: Kafka does not respond.
    """
    async with _writer(settings, stage_name, partition, generation) as writer:
        return await writer.find_data_loss()


async def find_losses(settings: Settings, stage_name: str, *, generation: str = "") -> list[DataLoss]:
    """The records that a stage's group lost, for each partition of its source that lost any; see :func:`find_loss`."""
    found = []
    stage_named(stage_name)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        for partition in range(settings.kafka.partitions):
            async with _writer_over(offsets, settings, stage_name, partition, generation) as writer:
                found.append(await writer.find_data_loss())
    return [loss for loss in found if loss is not None]


async def accept_loss(
    settings: Settings, stage_name: str, partition: int, lost: LostRange, *, accepted_by: str, generation: str = ""
) -> DataLoss:
    """Lets a partition continue after its lost records. Workers may run: the partition's owner continues without a restart.

    The group's offset and the audit record are one transaction, under the partition's own transactional id.

    Args:
        settings: The settings in force.
        stage_name: The stage.
        partition: The partition of its source.
        lost: The accepted range, which must equal the lost one. For a truncated log, ``first`` is the first new record, if that is known to
            be before the end that was found: records from there on are handled.
        accepted_by: The operator.
        generation: For ``extraction``: the generation of a group next to the live one.

    Returns:
        The lost records.

    Raises:
        LossRefusedError: Nothing is lost, or the range differs, or continuing would lose more; the message names the remedy.
        StreamError: The stage does not exist.
        KafkaUnavailableError: No broker responds; nothing was changed.
        TransientError: Kafka does not respond; nothing was accepted.
    """
    async with _writer(settings, stage_name, partition, generation) as writer:
        _require_exact(await writer.find_data_loss(), lost, stage_name, partition)
        loss = _require_exact(await _initialize(writer), lost, stage_name, partition)
        record = _audit_record(settings, stage_name, loss, lost, accepted_by=accepted_by, generation=generation)
        await writer.commit([record], [], next_offset=lost.first if loss.is_cut else lost.next)
        return loss


async def _initialize(writer: Checkpointer) -> DataLoss | None:
    try:
        await writer.initialize()
    except DataLossError as error:
        return error.loss
    return None


@asynccontextmanager
async def _writer(settings: Settings, stage_name: str, partition: int, generation: str) -> AsyncIterator[Checkpointer]:
    _require_partition(settings, stage_name, partition)
    async with (
        KafkaOffsets(kafka=settings.kafka) as offsets,
        _writer_over(offsets, settings, stage_name, partition, generation) as writer,
    ):
        yield writer


@asynccontextmanager
async def _writer_over(
    offsets: KafkaOffsets, settings: Settings, stage_name: str, partition: int, generation: str
) -> AsyncIterator[Checkpointer]:
    stage = stage_named(stage_name)
    source = TopicPartition(settings.topic(stage.source.name), partition)
    group = stage.group(settings.kafka.topic_prefix, suffix=generation)
    changelog = changelog_topic(group) if stage.has_table else None
    writer = Checkpointer(source=source, group=group, kafka=settings.kafka, offsets=offsets, changelog=changelog)
    try:
        yield writer
    finally:
        await writer.stop()


def _require_partition(settings: Settings, stage_name: str, partition: int) -> None:
    stage_named(stage_name)
    if not 0 <= partition < settings.kafka.partitions:
        raise LossRefusedError(f"there is no partition {partition}: VARVE_KAFKA__PARTITIONS is {settings.kafka.partitions}")


def _require_exact(loss: DataLoss | None, lost: LostRange, stage_name: str, partition: int) -> DataLoss:
    if loss is None:
        raise LossRefusedError(f"{stage_name} has lost no record of partition {partition}: there is nothing to accept")
    if loss.is_cut and stage_name in _REMEDIES:
        raise LossRefusedError(
            f"{loss}. The state of {stage_name} contains these offsets, and would treat new records there as repetitions: restore the "
            f"topic, or stop the workers and run {_REMEDIES[stage_name]}"
        )
    is_first = loss.begin <= lost.first <= loss.first if loss.is_cut else lost.first == loss.first
    if not is_first or lost.next != loss.next:
        raise LossRefusedError(
            f"{loss}; offsets {lost.first} to {lost.next - 1} are not the lost range: --from {loss.first} --to {loss.next}"
        )
    return loss


def _audit_record(settings: Settings, stage: str, loss: DataLoss, lost: LostRange, *, accepted_by: str, generation: str) -> OutgoingRecord:
    entry = AcceptedLoss(
        by=accepted_by,
        at=datetime.now(UTC),
        subject=f"loss/{stage}/{loss.source.topic}/{loss.source.partition}",
        generation=generation,
        first=lost.first,
        next=lost.next,
        log_begin=loss.begin,
        log_end=loss.end,
        committed=loss.committed,
    )
    where = audit_partition(settings)
    return OutgoingRecord(where.topic, None, entry.to_json(), partition=where.partition)
