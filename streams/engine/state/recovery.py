"""Restores a local table from its changelog, before the worker reads further records of the partition."""

from collections.abc import Callable, Sequence
from typing import Final

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from runtime.kafka import KafkaOffsets, client_options
from runtime.kafka.client import connect, kafka_faults
from runtime.settings import KafkaSettings
from streams.engine.state.partition_state import StateChange, is_stale
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.errors import StreamError

_POLL_MS: Final = 200
_FETCH_BYTES: Final = 8 * 1024 * 1024


async def recover(
    table: RocksDBStore,
    changelog: TopicPartition,
    *,
    kafka: KafkaSettings,
    offsets: KafkaOffsets,
    on_progress: Callable[[int, int], None] = lambda position, end: None,
) -> int:
    """Applies the rows that the table lacks.

    The changelog's previous writer must be fenced, so that the end is fixed. The end is read first, as the high watermark: recovery to the
    last stable offset would miss rows after an open transaction (KAFKA-10167). Aborted rows never reach the table.

    Args:
        table: The local table, open.
        changelog: Its changelog.
        kafka: The broker's settings.
        offsets: Reads the changelog's bounds.
        on_progress: Called repeatedly with the next row's offset and the end offset, first at the start.

    Returns:
        The number of applied rows.

    Raises:
        KafkaUnavailableError: The broker does not respond.
        LocalTableError: The table cannot be written.
        StreamError: The changelog ends before the table's offset: the log has lost records.
    """
    consumer = AIOKafkaConsumer(
        **client_options(kafka),
        enable_auto_commit=False,
        isolation_level="read_committed",
        auto_offset_reset="none",
        max_partition_fetch_bytes=_FETCH_BYTES,
    )
    with kafka_faults(f"recovering from {changelog.topic}/{changelog.partition}", kafka):
        try:
            begin, end = await offsets.bounds(changelog)
            position = _first_missing(table, changelog, begin=begin, end=end)
            if position >= end:
                return 0
            await connect(consumer)
            consumer.assign([changelog])
            consumer.seek(changelog, position)
            applied = 0
            on_progress(position, end)
            while (position := await consumer.position(changelog)) < end:
                fetched = await consumer.getmany(changelog, timeout_ms=_POLL_MS)
                records = fetched.get(changelog, [])
                if records:
                    table.write(_newest_rows(table, records), records[-1].offset)
                    applied += len(records)
                    on_progress(records[-1].offset + 1, end)
            return applied
        finally:
            await consumer.stop()


def _newest_rows(table: RocksDBStore, records: Sequence[ConsumerRecord[bytes | None, bytes | None]]) -> list[StateChange]:
    """The rows to apply. A row older than the stored one was written outside a fenced transaction, and is ignored."""
    newest: dict[bytes, bytes | None] = {}
    for record in records:
        key = record.key or b""
        stored = newest[key] if key in newest else table.read(key)
        if record.value is None or not is_stale(record.value, stored):
            newest[key] = record.value
    return [StateChange(key, value) for key, value in newest.items()]


def _first_missing(table: RocksDBStore, changelog: TopicPartition, *, begin: int, end: int) -> int:
    """The offset to recover from. A table that is older than the changelog's beginning is cleared."""
    newest = table.changelog_offset
    if newest is None:
        return begin
    if newest >= end:
        raise StreamError(
            f"the next offset of {changelog.topic}/{changelog.partition} is {end}, but the local table has its record {newest}: the log "
            "has lost records. Restore the topic, or stop the stage's workers, remove their tables folder and run `varve rebuild`"
        )
    if newest + 1 < begin:
        table.clear()
        return begin
    return newest + 1
