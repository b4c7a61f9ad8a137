"""The steps of a batch at which a worker can be made to kill itself: the product is wrapped from outside, in the worker's own process.

A worker looks at each step for its failpoint file. Where the file names the step, and that step has come often enough, the worker ends by
SIGKILL there: nothing is flushed, closed or reported.
"""

import functools
import os
import signal
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

from aiokafka import AIOKafkaProducer

from runtime.kafka import transactional
from runtime.kafka.transactional import TransactionalProducer
from streams.engine.keyed.keyed_task import KeyedTask
from streams.engine.tasks.batch_runner import BatchRunner
from streams.engine.tasks.checkpointer import Checkpointer
from streams.engine.tasks.partition_task import PartitionTask

TAKE_OVER_FAILPOINTS: Final = ("fenced", "recovered")
"""Steps of a take-over: the writer before is fenced; the local table is recovered, and nothing is handled yet."""
BATCH_FAILPOINTS: Final = ("begin", "sent", "offsets", "commit", "committed", "applied")
"""Steps of a batch: before its transaction begins, its outputs sent and not confirmed, confirmed, its offset added, the transaction
committed and the local table not written, all of it done."""

_is_idle: ContextVar[bool] = ContextVar("is_idle", default=False)
"""Whether the transaction commits only a position, after the markers at a log's end: no batch."""


class FailpointFile:
    """Names the step at which a worker is to die, and at which visit of it.

    Args:
        path: Where the file is while a failpoint is set.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def set(self, failpoint: str, *, visit: int) -> None:
        """Sets a failpoint: the worker dies when it reaches the step for the ``visit``-th time."""
        self._write(failpoint, visit)

    def clear(self) -> None:
        """Takes a failpoint back; harmless where none is set."""
        self._path.unlink(missing_ok=True)

    def visit(self, failpoint: str) -> bool:
        """Counts a visit of a step; returns whether the worker is to die now. The failpoint is then used up."""
        try:
            named, left = self._path.read_text().split()
        except (FileNotFoundError, ValueError):
            return False
        if named != failpoint:
            return False
        if int(left) > 1:
            self._write(failpoint, int(left) - 1)
            return False
        self.clear()
        return True

    def _write(self, failpoint: str, visit: int) -> None:
        written = self._path.with_suffix(".new")
        written.write_text(f"{failpoint} {visit}")
        written.replace(self._path)


def install(failpoints: FailpointFile) -> None:
    """Wraps each step of a batch, so that this process dies at a failpoint."""

    def reach(failpoint: str) -> None:
        if not _is_idle.get() and failpoints.visit(failpoint):
            os.kill(os.getpid(), signal.SIGKILL)

    _wrap(TransactionalProducer, "start", after=lambda: reach("fenced"))
    _wrap(Checkpointer, "initialize", after=lambda: reach("recovered"))
    _wrap(TransactionalProducer, "commit", before=lambda: reach("begin"), after=lambda: reach("committed"))
    _wrap(transactional, "_send_batches", after=lambda: reach("sent"))
    _wrap(AIOKafkaProducer, "send_offsets_to_transaction", before=lambda: reach("offsets"))
    _wrap(AIOKafkaProducer, "commit_transaction", before=lambda: reach("commit"))
    for committer in (BatchRunner, KeyedTask):
        _wrap(committer, "_commit", after=lambda: reach("applied"))
    _wrap(PartitionTask, "_commit_position", before=lambda: _is_idle.set(True), always=lambda: _is_idle.set(False))


def _nothing() -> None:
    """At most steps."""


def _wrap(
    owner: Any,
    name: str,
    *,
    before: Callable[[], object] = _nothing,
    after: Callable[[], object] = _nothing,
    always: Callable[[], object] = _nothing,
) -> None:
    wrapped = getattr(owner, name)

    @functools.wraps(wrapped)
    async def stepped(*args: Any, **options: Any) -> Any:
        before()
        try:
            result = await wrapped(*args, **options)
        finally:
            always()
        after()
        return result

    setattr(owner, name, stepped)
