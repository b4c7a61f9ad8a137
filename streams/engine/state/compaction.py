"""Rewrites the files of a local table after an erasure: RocksDB keeps deleted and replaced rows in its files until it merges them."""

import asyncio

from runtime.background import run_in_background
from runtime.logs import logger
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.errors import LocalTableError

_log = logger(__name__)


class TableCompaction:
    """Compacts one table in a thread, one compaction at a time. The partition continues in the meantime.

    A mark in the table says that a compaction is due. It is written before the rows change, and removed after the compaction, so that a
    worker that was stopped in between compacts the table after its next start.

    Args:
        table: The table. Its owner closes it after :meth:`stop`.
        name: The partition, for the log.
    """

    def __init__(self, table: RocksDBStore, *, name: str) -> None:
        self._table = table
        self._name = name
        self._task: asyncio.Task[None] | None = None

    def announce(self) -> None:
        """Marks the table before a change of rows whose earlier values must not stay in its files.

        Raises:
            LocalTableError: If the table cannot be written.
        """
        self._table.mark_for_compaction()

    def request(self) -> None:
        """Marks the table again and compacts it: a compaction that was running may have removed the mark before the rows changed.

        Raises:
            LocalTableError: If the table cannot be written.
        """
        self.announce()
        self.start()

    def start(self) -> None:
        """Compacts the table if it is marked; harmless when repeated."""
        if self._task is None or self._task.done():
            self._task = run_in_background("table-compaction", self._run())

    async def stop(self) -> None:
        """Stops waiting for the compaction. The thread ends when the table is closed; the mark stays."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        try:
            while (mark := self._table.compaction_mark) is not None:
                await asyncio.to_thread(self._table.compact)
                # A batch may have marked the table again since: its rows were written during the compaction.
                self._table.unmark(mark)
        except LocalTableError as error:
            _log.warning("local_table_not_compacted", partition=self._name, error=str(error))
