"""The loss of brokers, where each record has a replica on three of them and a write needs two."""

import asyncio
import time
from typing import Final

from runtime.errors import KafkaUnavailableError
from runtime.kafka.client import admin_client
from runtime.settings import KafkaSettings
from tests.chaos.restarted_process import RestartedProcess
from tests.chaos.run import FaultContext, Injection
from tests.chaos.waiting import until

_DOWN_S: Final = 8.0
"""Longer than the 3 s after which a broker counts as failed: another one leads meanwhile."""
_LONG_S: Final = 20.0
"""Longer than a worker's session and a transaction's time-out."""
_IN_FLIGHT_S: Final = 2.0
"""Time in which acknowledgements that the killed brokers have sent still arrive."""


def kill_leader(*, times: int = 3) -> Injection:
    """Kills the broker that leads some partition of the messages, several times, each time with all replicas in sync before."""

    async def inject(context: FaultContext) -> None:
        kafka = context.cluster.settings.kafka
        for _ in range(times):
            await replicas_in_sync(kafka)
            await asyncio.sleep(context.rng.uniform(0.5, 3.0))
            number = await _leader(kafka, context.cluster.settings.topic("messages"), context.rng.randrange(kafka.partitions))
            async with context.cluster.brokers[number - 1].held_down():
                await asyncio.sleep(_DOWN_S)
        await replicas_in_sync(kafka)

    return inject


def lose_each_broker() -> Injection:
    """Kills each broker in turn, in random order, and returns it: also the active controller, and the coordinator of each group."""

    async def inject(context: FaultContext) -> None:
        brokers = list(context.cluster.brokers)
        context.rng.shuffle(brokers)
        returned: list[float] = []
        for broker in brokers:
            await replicas_in_sync(context.cluster.settings.kafka)
            before = len(context.ledger.acknowledged)
            async with broker.held_down():
                await asyncio.sleep(_LONG_S)
                context.expect(len(context.ledger.acknowledged) > before, f"without {broker.name}, no message was acknowledged")
            began = time.monotonic()
            await replicas_in_sync(context.cluster.settings.kafka)
            returned.append(round(time.monotonic() - began, 1))
        context.measured["in_sync_again_s"] = returned

    return inject


def lose_min_insync() -> Injection:
    """Kills two of three brokers at once: no message may be acknowledged until one returns, and messages are acknowledged then."""

    async def inject(context: FaultContext) -> None:
        kafka, ledger = context.cluster.settings.kafka, context.ledger
        await replicas_in_sync(kafka)
        victims = context.rng.sample(context.cluster.brokers, 2)
        is_over = asyncio.Event()
        ready_at: list[float] = []

        async def lose(broker: RestartedProcess) -> None:
            async with broker.held_down():
                await is_over.wait()
            ready_at.append(time.monotonic())

        async def is_acknowledged() -> bool:
            return len(ledger.acknowledged) > before

        async with asyncio.TaskGroup() as work:
            for broker in victims:
                work.create_task(lose(broker))
            await asyncio.gather(*(each.wait_ended() for each in victims))
            await asyncio.sleep(_IN_FLIGHT_S)
            before, attempts = len(ledger.acknowledged), ledger.attempts
            await asyncio.sleep(_LONG_S)
            acknowledged = len(ledger.acknowledged) - before
            context.expect(acknowledged == 0, f"{acknowledged} messages were acknowledged by one broker of three")
            context.measured["attempts_while_down"] = ledger.attempts - attempts
            began = time.monotonic()
            is_over.set()
            await until(is_acknowledged, "a message is acknowledged after the brokers have returned")
            context.measured["acknowledged_again_s"] = round(time.monotonic() - began, 1)
        # The start of a broker is the longest part, so a late acknowledgement shows nothing about Varve without it.
        context.measured["brokers_ready_again_s"] = [round(each - began, 1) for each in ready_at]
        await replicas_in_sync(kafka)

    return inject


async def replicas_in_sync(kafka: KafkaSettings) -> None:
    """Waits until every partition of every topic has all its replicas in sync."""
    await until(lambda: _is_in_sync(kafka), "all replicas are in sync")


async def _leader(kafka: KafkaSettings, topic: str, partition: int) -> int:
    async with admin_client(kafka) as admin:
        (described,) = await admin.describe_topics([topic])
    return next(int(each["leader"]) for each in described["partitions"] if each["partition"] == partition)


async def _is_in_sync(kafka: KafkaSettings) -> bool:
    try:
        async with admin_client(kafka) as admin:
            topics = await admin.describe_topics()
    except KafkaUnavailableError:
        return False
    partitions = [partition for topic in topics for partition in topic["partitions"]]
    return bool(partitions) and all(len(each["isr"]) == len(each["replicas"]) for each in partitions)
