"""One writer of a partition at a time, and atomic batches: on the real broker."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.structs import OffsetAndMetadata

from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.kafka.topics import create_topic
from runtime.kafka.transactional import TransactionalProducer
from runtime.settings import KafkaSettings
from streams.engine.state.partition_state import StateChange, pack
from streams.engine.state.recovery import recover
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.engine.tasks.checkpointer import NO_OFFSET, Checkpointer
from streams.engine.tasks.offset_metadata import OffsetMetadata
from streams.errors import FencedError, StreamError, TransientError
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration

NewWriter = Callable[[str], Checkpointer]


@pytest.fixture
async def settings(kafka: str, topic_prefix: str) -> KafkaSettings:
    settings = one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=1)
    for name in ("source", "outputs", "changelog"):
        await create_topic(f"{topic_prefix}{name}", config={}, kafka=settings)
    async with Producer(kafka=settings) as producer:
        await producer.send_many([OutgoingRecord(f"{topic_prefix}source", b"k", b"%d" % number) for number in range(10)])
    return settings


@pytest.fixture
async def offsets(settings: KafkaSettings) -> AsyncIterator[KafkaOffsets]:
    async with KafkaOffsets(kafka=settings) as offsets:
        yield offsets


@pytest.fixture
async def new_writer(settings: KafkaSettings, offsets: KafkaOffsets, tmp_path: Path) -> AsyncIterator[NewWriter]:
    """Makes writers of the same partition, each with its own disk."""
    async with AsyncExitStack() as stack:

        def make(worker: str) -> Checkpointer:
            writer = Checkpointer(
                source=source(settings),
                group=group(settings),
                kafka=settings,
                offsets=offsets,
                table=RocksDBStore(tmp_path / worker),
                changelog=f"{settings.topic_prefix}changelog",
            )
            stack.push_async_callback(writer.stop)
            return writer

        yield make


def source(settings: KafkaSettings) -> TopicPartition:
    return TopicPartition(f"{settings.topic_prefix}source", 0)


def group(settings: KafkaSettings) -> str:
    return f"{settings.topic_prefix}group"


async def commit(writer: Checkpointer, settings: KafkaSettings, number: int) -> int:
    """A batch of one record: its output, its row, and the offset after it."""
    output = OutgoingRecord(f"{settings.topic_prefix}outputs", b"k", b"%d" % number, partition=0)
    return await writer.commit([output], [StateChange(b"k", pack(number, b"%d" % number))], next_offset=number + 1)


async def what_counts(settings: KafkaSettings) -> tuple[list[bytes | None], list[bytes | None], int | None]:
    """The outputs, the rows and the group's offset, as every reader sees them."""
    topics = [f"{settings.topic_prefix}{name}" for name in ("outputs", "changelog")]
    outputs, rows = [[record.value async for record in read_topic(topic, settings)] for topic in topics]
    async with KafkaOffsets(kafka=settings) as offsets:
        committed = await offsets.committed_offsets(group(settings), [source(settings).topic])
    return outputs, rows, committed.get(source(settings))


async def test_a_batch_is_committed_with_its_offset(new_writer: NewWriter, settings: KafkaSettings) -> None:
    writer = new_writer("a")
    assert await writer.initialize() is None
    assert await commit(writer, settings, 4) == 0
    assert await commit(writer, settings, 5) == 2, "the offset of its row, after the first commit's marker"
    assert await writer.commit([], [], next_offset=9) == NO_OFFSET
    assert await what_counts(settings) == ([b"4", b"5"], [pack(4, b"4"), pack(5, b"5")], 9)


async def test_a_successor_has_all_committed_state(new_writer: NewWriter, settings: KafkaSettings) -> None:
    before, successor = new_writer("a"), new_writer("b")
    await before.initialize()
    await commit(before, settings, 4)
    assert await successor.initialize() == 5
    assert successor.rows.read(b"k") == pack(4, b"4")


async def test_a_fenced_writer_commits_nothing(new_writer: NewWriter, settings: KafkaSettings) -> None:
    zombie, successor = new_writer("a"), new_writer("b")
    await zombie.initialize()
    await successor.initialize()
    with pytest.raises(FencedError):
        await commit(zombie, settings, 4)
    assert await what_counts(settings) == ([], [], None)
    await commit(successor, settings, 4)


async def test_nothing_is_written_once_recovery_begins(
    new_writer: NewWriter, settings: KafkaSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit of a stale worker after a recovery would be missing in the recovered table."""
    zombie, successor = new_writer("a"), new_writer("b")
    await zombie.initialize()

    async def recover_beside_zombie(*args: Any, **options: Any) -> int:
        applied = await recover(*args, **options)
        with pytest.raises(FencedError):
            await commit(zombie, settings, 4)
        return applied

    monkeypatch.setattr("streams.engine.tasks.checkpointer.recover", recover_beside_zombie)
    assert await successor.initialize() is None


async def test_the_last_commit_before_the_fence_counts(
    new_writer: NewWriter, settings: KafkaSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An offset that was read before the fence may be passed by what its holder still commits."""
    before, successor = new_writer("a"), new_writer("b")
    await before.initialize()
    start: Callable[[TransactionalProducer], Awaitable[None]] = TransactionalProducer.start

    async def start_late(producer: TransactionalProducer) -> None:
        await commit(before, settings, 4)
        await start(producer)

    monkeypatch.setattr(TransactionalProducer, "start", start_late)
    assert await successor.initialize() == 5
    assert successor.rows.read(b"k") == pack(4, b"4")


@pytest.mark.parametrize(
    ("owner", "step"),
    [(TransactionalProducer, "_produce"), (AIOKafkaProducer, "send_offsets_to_transaction"), (AIOKafkaProducer, "commit_transaction")],
)
async def test_an_interrupted_batch_leaves_no_outputs(
    owner: type, step: str, new_writer: NewWriter, settings: KafkaSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outputs, rows and offset share one transaction: whichever of them fails, none of them counts."""
    writer = new_writer("a")
    await writer.initialize()

    async def break_off(*_: object) -> None:
        raise OSError("the connection is lost")

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, break_off)
        with pytest.raises(TransientError):
            await commit(writer, settings, 4)
    assert await writer.initialize() is None
    assert await what_counts(settings) == ([], [], None)


async def test_a_batch_without_take_over_is_not_confirmed(new_writer: NewWriter, settings: KafkaSettings) -> None:
    with pytest.raises(TransientError):
        await commit(new_writer("a"), settings, 4)


async def test_a_row_without_a_table_is_refused(settings: KafkaSettings, offsets: KafkaOffsets) -> None:
    writer = Checkpointer(source=source(settings), group=group(settings), kafka=settings, offsets=offsets)
    with pytest.raises(StreamError, match="keeps no state"):
        await writer.commit([], [StateChange(b"k", b"v")], next_offset=1)


async def test_an_unfinished_command_keeps_a_successor_waiting(new_writer: NewWriter, settings: KafkaSettings) -> None:
    """Also where the log has lost something: the note must outlast whatever else is found."""
    groups, topic = ConsumerGroups(kafka=settings), source(settings)
    unfinished = OffsetAndMetadata(20, OffsetMetadata(unfinished="rebuild").text)
    await groups.commit(group(settings), {topic: unfinished})
    writer = new_writer("a")
    for _ in range(2):
        with pytest.raises(TransientError, match="`varve rebuild` did not run to its end"):
            await writer.initialize()
    await groups.commit(group(settings), {topic: 3})
    assert await writer.initialize() == 3
