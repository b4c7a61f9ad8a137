"""Reads the control log from Kafka: it has one partition, so that offsets order all changes."""

from typing import Final

from control.audit import AuditCheck, AuditRecord
from control.state import ControlState
from memory.topics import AUDIT, CONTROL
from runtime.kafka import TopicPartition, read_topic
from runtime.settings import Settings

PARTITION: Final = 0
"""The only partition of both topics."""


def control_partition(settings: Settings) -> TopicPartition:
    """The partition of the control log."""
    return TopicPartition(settings.topic(CONTROL.name), PARTITION)


def audit_partition(settings: Settings) -> TopicPartition:
    """The partition of the audit log."""
    return TopicPartition(settings.topic(AUDIT.name), PARTITION)


async def read_control(settings: Settings) -> ControlState:
    """The current state of the log, read from its beginning."""
    partition = control_partition(settings)
    state = ControlState()
    async for record in read_topic(partition.topic, settings.kafka, start={partition: 0}):
        state.take(record.key, record.value, offset=record.offset)
    return state


async def read_audit(settings: Settings) -> tuple[AuditCheck, list[AuditRecord]]:
    """The audit records of all changes, oldest first, and the check of their chain."""
    head = (await read_control(settings)).audit_head
    check = AuditCheck()
    records: list[AuditRecord] = []
    partition = audit_partition(settings)
    async for record in read_topic(partition.topic, settings.kafka, start={partition: 0}):
        audited = check.add(record.value or b"", record.offset)
        if audited is not None:
            records.append(audited)
    check.finish(head)
    return check, records
