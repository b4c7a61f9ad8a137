"""The reassignment of all partitions between brokers: each broker in turn gives all its replicas away, and gets them back."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aiokafka.errors import for_code
from aiokafka.protocol.admin import AlterPartitionReassignmentsRequest

from runtime.errors import KafkaUnavailableError
from runtime.kafka.client import admin_client
from runtime.settings import KafkaSettings
from tests.chaos.lost_brokers import replicas_in_sync
from tests.chaos.run import FaultContext, Injection
from tests.chaos.waiting import until

_TIMEOUT_MS: Final = 30_000

Replicas = Mapping[tuple[str, int], Sequence[int]]
"""Brokers of each partition by topic and number; the first is the preferred leader."""


def drain_each_broker() -> Injection:
    """Moves all partitions off each broker, those of Kafka's own topics, too, and back: their leaders change, and their data is copied."""

    async def inject(context: FaultContext) -> None:
        kafka = context.cluster.settings.kafka
        await replicas_in_sync(kafka)
        began = time.monotonic()
        moved = 0
        for drained in range(1, len(context.cluster.brokers) + 1):
            before = await _replicas(kafka)
            without = {each: [broker for broker in brokers if broker != drained] for each, brokers in before.items()}
            await _reassign(kafka, without)
            # The broker that returns is last: the next one to be drained leads some partitions.
            await _reassign(kafka, {each: [*brokers[1:], brokers[0], drained] for each, brokers in without.items()})
            moved += len(before)
        context.measured.update(partitions_moved=moved, reassignment_s=round(time.monotonic() - began, 1))

    return inject


async def _reassign(kafka: KafkaSettings, target: Replicas) -> None:
    """Requests new replicas of partitions, and waits until each has exactly these, in sync, and one of them leads."""
    topics: dict[str, list[Any]] = {}
    for (topic, partition), brokers in target.items():
        topics.setdefault(topic, []).append((partition, list(brokers), {}))
    request = AlterPartitionReassignmentsRequest(_TIMEOUT_MS, [(topic, each, {}) for topic, each in topics.items()], {})
    async with admin_client(kafka) as admin:
        answer = await admin._send_to_controller(request)
    codes = {answer.error_code, *(each[1] for _, partitions, _ in answer.responses for each in partitions)}
    for code in codes - {0}:
        raise for_code(code)(f"reassigning {len(target)} partitions")

    async def is_done() -> bool:
        try:
            described = await _described(kafka)
        except KafkaUnavailableError:
            return False
        return all(
            sorted(described[each]["replicas"]) == sorted(described[each]["isr"]) == sorted(brokers)
            and described[each]["leader"] in brokers
            for each, brokers in target.items()
        )

    await until(is_done, "all partitions are reassigned")


async def _replicas(kafka: KafkaSettings) -> Replicas:
    return {each: partition["replicas"] for each, partition in (await _described(kafka)).items()}


async def _described(kafka: KafkaSettings) -> dict[tuple[str, int], Any]:
    async with admin_client(kafka) as admin:
        topics = await admin.describe_topics()
    return {(topic["topic"], partition["partition"]): partition for topic in topics for partition in topic["partitions"]}
