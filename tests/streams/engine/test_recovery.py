"""Recovery makes a local table equal to its changelog, whatever its last writer left: on the real broker."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.admin import RecordsToDelete

from runtime.kafka import KafkaOffsets, OutgoingRecord, client_options
from runtime.kafka.client import admin_client
from runtime.kafka.topics import create_topic
from runtime.kafka.transactional import TransactionalProducer
from runtime.settings import KafkaSettings
from streams.engine.state.partition_state import StateChange
from streams.engine.state.recovery import recover
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.errors import LocalTableError, StreamError
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration


@pytest.fixture
async def changelog(kafka: str, topic_prefix: str) -> TopicPartition:
    name = f"{topic_prefix}changelog"
    await create_topic(name, config={"cleanup.policy": "compact,delete"}, kafka=one_broker(bootstrap=kafka, partitions=1))
    return TopicPartition(name, 0)


@pytest.fixture
def settings(kafka: str) -> KafkaSettings:
    return one_broker(bootstrap=kafka, partitions=1)


@pytest.fixture
async def offsets(settings: KafkaSettings) -> AsyncIterator[KafkaOffsets]:
    async with KafkaOffsets(kafka=settings) as offsets:
        yield offsets


@pytest.fixture
def table(tmp_path: Path) -> Iterator[RocksDBStore]:
    table = RocksDBStore(tmp_path / "tables" / "0")
    table.open()
    yield table
    table.close()


async def write(settings: KafkaSettings, changelog: TopicPartition, rows: dict[bytes, bytes | None]) -> list[int]:
    producer = TransactionalProducer(kafka=settings, transactional_id=f"{changelog.topic}-writer", partitions=1)
    await producer.start()
    try:
        records = [OutgoingRecord(topic=changelog.topic, key=key, value=value, partition=0) for key, value in rows.items()]
        return await producer.commit(records, offsets={}, group="none")
    finally:
        await producer.stop()


async def test_rows_and_tombstones_are_applied(
    settings: KafkaSettings, changelog: TopicPartition, table: RocksDBStore, offsets: KafkaOffsets
) -> None:
    await write(settings, changelog, {b"a": b"1", b"b": b"2"})
    progress: list[tuple[int, int]] = []
    assert await recover(table, changelog, kafka=settings, offsets=offsets, on_progress=lambda *each: progress.append(each)) == 2
    assert (progress[0], progress[-1]) == ((0, 3), (2, 3)), "the end is after the transaction's marker"
    await write(settings, changelog, {b"a": b"3", b"b": None})
    assert await recover(table, changelog, kafka=settings, offsets=offsets) == 2
    assert dict(table.scan()) == {b"a": b"3"}
    assert await recover(table, changelog, kafka=settings, offsets=offsets) == 0, "a marker at the end is no record to wait for"


async def test_an_interrupted_recovery_continues(
    settings: KafkaSettings, changelog: TopicPartition, table: RocksDBStore, offsets: KafkaOffsets
) -> None:
    """It may end between two rows of one transaction, where no marker follows."""
    first, *_ = await write(settings, changelog, {b"a": b"1", b"b": b"2", b"c": b"3"})
    table.write([StateChange(b"a", b"1")], first)
    assert await recover(table, changelog, kafka=settings, offsets=offsets) == 2
    assert dict(table.scan()) == {b"a": b"1", b"b": b"2", b"c": b"3"}


async def test_a_recovered_table_is_found_again_on_disk(
    settings: KafkaSettings, changelog: TopicPartition, table: RocksDBStore, offsets: KafkaOffsets
) -> None:
    (offset,) = await write(settings, changelog, {b"a": b"1"})
    await recover(table, changelog, kafka=settings, offsets=offsets)
    table.close()
    table.open()
    assert table.changelog_offset == offset
    assert table.read(b"a") == b"1"


async def test_aborted_rows_never_reach_the_table(
    settings: KafkaSettings, changelog: TopicPartition, table: RocksDBStore, offsets: KafkaOffsets
) -> None:
    await write(settings, changelog, {b"a": b"committed"})
    aborting = AIOKafkaProducer(**client_options(settings), transactional_id=f"{changelog.topic}-writer")
    async with aborting:
        await aborting.begin_transaction()
        await aborting.send_and_wait(changelog.topic, b"aborted", key=b"a", partition=0)
        await aborting.abort_transaction()
    assert await recover(table, changelog, kafka=settings, offsets=offsets) == 1
    assert table.read(b"a") == b"committed"


async def test_rows_after_an_open_transaction_are_recovered(
    settings: KafkaSettings, changelog: TopicPartition, table: RocksDBStore, offsets: KafkaOffsets
) -> None:
    """Another writer's open transaction holds the last stable offset back: the end is nevertheless the high watermark."""
    other = AIOKafkaProducer(**client_options(settings), transactional_id=f"{changelog.topic}-other", transaction_timeout_ms=5_000)
    async with other:
        await other.begin_transaction()
        await other.send_and_wait(changelog.topic, b"left open", key=b"open", partition=0)
        await write(settings, changelog, {b"a": b"behind"})
        assert await recover(table, changelog, kafka=settings, offsets=offsets) == 1, "it waits until the broker has aborted the open one"
    assert dict(table.scan()) == {b"a": b"behind"}


async def test_a_changelog_that_lost_its_end_is_refused(
    settings: KafkaSettings, changelog: TopicPartition, table: RocksDBStore, offsets: KafkaOffsets
) -> None:
    await write(settings, changelog, {b"a": b"1"})
    table.write([], 50)
    with pytest.raises(StreamError, match="has lost records"):
        await recover(table, changelog, kafka=settings, offsets=offsets)


async def test_a_table_before_the_logs_start_is_rebuilt(
    settings: KafkaSettings, changelog: TopicPartition, table: RocksDBStore, offsets: KafkaOffsets
) -> None:
    await write(settings, changelog, {b"old": b"1"})
    await recover(table, changelog, kafka=settings, offsets=offsets)
    await write(settings, changelog, {b"new": b"2"})
    await write(settings, changelog, {b"newer": b"3"})
    async with admin_client(settings) as admin:
        await admin.delete_records({changelog: RecordsToDelete(before_offset=4)})
    await recover(table, changelog, kafka=settings, offsets=offsets)
    assert dict(table.scan()) == {b"newer": b"3"}


def test_a_closed_table_raises(tmp_path: Path) -> None:
    with pytest.raises(LocalTableError, match="is not open"):
        RocksDBStore(tmp_path / "0").read(b"a")
