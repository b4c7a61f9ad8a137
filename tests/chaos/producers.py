"""Producers of applications that compress, or write in transactions: committed, aborted, or left open by a kill."""

import asyncio
import os
import sys
from collections.abc import Sequence

from aiokafka import AIOKafkaProducer

from memory.keys import partition_of
from memory.records import Message
from runtime.kafka import client_options
from runtime.settings import KafkaSettings
from tests.chaos.messages import MessageGenerator, TrafficProfile, key_of
from tests.chaos.run import FaultContext, Injection

_BATCH = 10
_FIRST_NUMBER = 500_000
"""Its messages' ids differ from the load's."""
_TRANSACTION_TIMEOUT_S = 5.0
_OPEN_DEADLINE_S = 30.0


def foreign_producers(*, rounds: int = 6) -> Injection:
    """In each round one batch of every kind: compressed, committed, aborted, aborted and then tried again, and left open."""

    async def inject(context: FaultContext) -> None:
        messages = MessageGenerator(tenant=context.tenant, seed=context.rng.randrange(2**31), traffic=TrafficProfile(), first=_FIRST_NUMBER)
        for number in range(rounds):
            kinds = [_compressed, _committed, _aborted, _tried_again, _left_open]
            context.rng.shuffle(kinds)
            for kind in kinds:
                await kind(context, [messages.next() for _ in range(_BATCH)], f"{context.tenant}-{number}-{kind.__name__}")
                await asyncio.sleep(context.rng.uniform(0.0, 1.0))

    return inject


async def _compressed(context: FaultContext, batch: Sequence[Message], _name: str) -> None:
    producer = AIOKafkaProducer(
        **client_options(context.cluster.settings.kafka), acks="all", enable_idempotence=True, compression_type="gzip", linger_ms=50
    )
    async with producer:
        _acknowledge(context, batch, await _send(context, producer, batch))


async def _committed(context: FaultContext, batch: Sequence[Message], name: str) -> None:
    async with _transactional(context, name) as producer:
        await producer.begin_transaction()
        places = await _send(context, producer, batch)
        # Consumers wait for open transactions.
        await asyncio.sleep(context.rng.uniform(0.0, 1.0))
        await producer.commit_transaction()
    _acknowledge(context, batch, places)


async def _aborted(context: FaultContext, batch: Sequence[Message], name: str) -> None:
    async with _transactional(context, name) as producer:
        await producer.begin_transaction()
        await _send(context, producer, batch)
        await asyncio.sleep(context.rng.uniform(0.0, 1.0))
        await producer.abort_transaction()
    context.ledger.aborted.update(str(message.id) for message in batch)


async def _tried_again(context: FaultContext, batch: Sequence[Message], name: str) -> None:
    """The ids are those of messages that were written already, and do not count."""
    await _aborted(context, batch, name)
    await _committed(context, batch, name)


async def _left_open(context: FaultContext, batch: Sequence[Message], name: str) -> None:
    """A producer writes and is killed: the broker aborts its transaction when its time is over."""
    settings = context.cluster.settings
    path = context.cluster.folder / f"{name}.jsonl"
    await asyncio.to_thread(path.write_bytes, b"\n".join(message.to_json() for message in batch))
    arguments = (name, settings.topic("messages"), str(path))
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.chaos.open_transaction", *arguments),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **context.cluster.environment()},
    )
    try:
        assert child.stdout is not None
        async with asyncio.timeout(_OPEN_DEADLINE_S):
            line = await child.stdout.readline()
        context.expect(line == b"written\n", f"the producer that must die printed {line!r}")
    finally:
        child.kill()
        await child.wait()
    context.ledger.aborted.update(str(message.id) for message in batch)


def _transactional(context: FaultContext, name: str) -> AIOKafkaProducer:
    return new_transactional(context.cluster.settings.kafka, name)


async def _send(context: FaultContext, producer: AIOKafkaProducer, batch: Sequence[Message]) -> list[tuple[int, int]]:
    settings = context.cluster.settings
    return await send_all(producer, settings.topic("messages"), batch, partitions=settings.kafka.partitions)


def _acknowledge(context: FaultContext, batch: Sequence[Message], places: Sequence[tuple[int, int]]) -> None:
    identities = [str(message.id) for message in batch]
    context.ledger.acknowledged.update(zip(identities, places, strict=True))
    context.ledger.aborted.difference_update(identities)


def new_transactional(kafka: KafkaSettings, name: str) -> AIOKafkaProducer:
    """A producer that writes in transactions, compressed.

    Args:
        kafka: How to reach Kafka.
        name: Its transactional id.
    """
    return AIOKafkaProducer(
        **client_options(kafka),
        transactional_id=name,
        transaction_timeout_ms=int(_TRANSACTION_TIMEOUT_S * 1000),
        compression_type="gzip",
        linger_ms=20,
    )


async def send_all(producer: AIOKafkaProducer, topic: str, batch: Sequence[Message], *, partitions: int) -> list[tuple[int, int]]:
    """Sends messages under their sessions' keys, and gives the place of each once it is written.

    Args:
        producer: A started one.
        topic: The name on the broker.
        batch: The messages.
        partitions: How many the topic has.
    """
    sent = []
    for message in batch:
        key = key_of(message)
        sent.append(await producer.send(topic, message.to_json(), key=key, partition=partition_of(key, partitions)))
    return [(written.partition, written.offset) for written in await asyncio.gather(*sent)]
