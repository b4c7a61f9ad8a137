"""One partition of a stage without Kafka: its handler, its state, and what comes of records."""

from collections.abc import Iterator, Sequence
from typing import Any

from streams.delivery.batch import Batch, BatchHandler
from streams.delivery.records import Delivered, Outgoing
from streams.delivery.state import Codec, PartitionState, Row


class RowsInMemory:
    """A local table."""

    def __init__(self) -> None:
        self._rows: dict[bytes, bytes] = {}

    def read(self, key: bytes) -> bytes | None:
        return self._rows.get(key)

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        return iter(dict(self._rows).items())

    def write(self, rows: list[Row], changelog_offset: int) -> None:
        for row in rows:
            if row.value is None:
                self._rows.pop(row.key, None)
            else:
                self._rows[row.key] = row.value


class PartitionAtHand:
    """Runs a handler over records, step by step, its state kept between the steps as a worker keeps it."""

    def __init__(self, handler: BatchHandler, codec: Codec[Any]) -> None:
        self._handler = handler
        self.state = PartitionState(RowsInMemory(), codec, cache_bytes=1)

    async def take(self, records: Sequence[Delivered]) -> Batch:
        batch = Batch(0, records, self.state)
        await self._handler.handle(batch)
        self.state.commit(self.state.changes(), 0)
        return batch

    async def outputs(self, *records: Delivered) -> list[Outgoing]:
        return (await self.take(records)).outputs
