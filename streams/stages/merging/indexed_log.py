"""Knows whether the vector store holds everything that was in the log before a question.

A lookup of a question searches the vector store, which the index writes a moment after the entities stage. Notes of the same second would
miss each other. So a question with lookups waits until the entities stage has handled all contributions that were in the log when the wait
began, and then until the index has handled all memories that were in the log by then. Both groups' offsets show it: the index commits an
offset only after the store holds the records before it.

Questions wait together, in *rounds*. A round begins with the end of ``merges``, and covers every question before it. If the index
stalls, only the first questions wait: later ones find a round that has already run for too long.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from memory.positions import LogPosition
from memory.topics import CONTRIBUTIONS, MEMORIES, MERGES
from runtime.errors import KafkaUnavailableError
from runtime.kafka import KafkaOffsets, TopicPartition
from runtime.kafka.groups import stage_group
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.errors import NotReadyError, TransientError

_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.25


class _Round:
    """A wait that questions share.

    Args:
        work: The wait itself.
        longest_s: Questions wait no longer than this.
        on_end: Called when the wait ends.
    """

    def __init__(self, work: Coroutine[Any, Any, None], *, longest_s: float, on_end: "Callable[[_Round], None]") -> None:
        loop = asyncio.get_running_loop()
        self.questions: set[LogPosition] = set()
        """Questions that wait for it."""
        self.over: asyncio.Future[None] = loop.create_future()
        """Done when the questions wait no longer: the wait has ended, or takes too long."""
        self.task = asyncio.create_task(work)
        self._on_end = on_end
        self._limit = loop.call_later(longest_s, self._release)
        self.task.add_done_callback(self._end)

    def _end(self, _: "asyncio.Task[None]") -> None:
        self._limit.cancel()
        self._on_end(self)
        self._release()

    def _release(self) -> None:
        if not self.over.done():
            self.over.set_result(None)


class IndexedLog:
    """Decides for the questions of a worker whether they wait for the index. It never blocks, so that a waiting question holds no slot.

    Args:
        settings: The settings in force.
        offsets: Reads the offsets; started.
    """

    def __init__(self, *, settings: Settings, offsets: KafkaOffsets) -> None:
        prefix = settings.kafka.topic_prefix
        self._merges = settings.topic(MERGES.name)
        self._contributions = settings.topic(CONTRIBUTIONS.name)
        self._memories = settings.topic(MEMORIES.name)
        self._entities_group = stage_group(prefix, "entities")
        self._index_group = stage_group(prefix, "index")
        self._longest_s = settings.merging.lookup_wait_s
        self._offsets = offsets
        self._covered: Mapping[TopicPartition, int] = {}
        self._round: _Round | None = None
        self._failed: _Round | None = None
        """The last round, if it failed."""

    def holds_all_before(self, question: ConsumedRecord) -> bool:
        """Whether the store holds what was in the log before a question; False if that takes too long (``lookup_wait_s``).

        Raises:
            NotReadyError: It is not known yet. Ask again when the round ends.
            TransientError: Kafka does not answer.
        """
        if question.offset < self._covered.get(TopicPartition(question.topic, question.partition), 0):
            return True
        if self._failed is not None and question.position in self._failed.questions:
            self._failed.questions.remove(question.position)
            _raise_failure(self._failed.task)
        if self._round is None:
            self._round = _Round(self._wait(), longest_s=self._longest_s, on_end=self._finish)
        if self._round.over.done():
            return False
        self._round.questions.add(question.position)
        raise NotReadyError(f"the index has not indexed all memories before {question.position}", ready=self._round.over)

    async def close(self) -> None:
        """Ends the wait."""
        if self._round is not None:
            self._round.task.cancel()
            await asyncio.wait({self._round.task})

    def _finish(self, ended: _Round) -> None:
        self._round = None
        self._failed = ended if not ended.task.cancelled() and ended.task.exception() is not None else None

    async def _wait(self) -> None:
        # In this order: what was in the log before a question that is covered is before the other ends.
        covered = await self._offsets.end_offsets([self._merges])
        await self._handled(self._entities_group, self._contributions, await self._offsets.end_offsets([self._contributions]))
        await self._handled(self._index_group, self._memories, await self._offsets.end_offsets([self._memories]))
        self._covered = covered

    async def _handled(self, group: str, topic: str, ends: Mapping[TopicPartition, int]) -> None:
        """Returns when a group has handled the records before these ends."""
        pause_s = _FIRST_PAUSE_S
        while True:
            committed = await self._offsets.committed_offsets(group, [topic])
            if all(committed.get(partition, 0) >= end for partition, end in ends.items()):
                return
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)


def _raise_failure(ended: "asyncio.Task[None]") -> None:
    try:
        ended.result()
    except KafkaUnavailableError as error:
        raise TransientError(str(error), dependency="kafka") from error
