"""Knows whether the vector store holds everything that was in the log before a question.

A lookup of a question searches the vector store, which the index writes a moment after the entities stage. Notes of the same second would
miss each other. So a question with lookups waits until the entities stage has handled all contributions that were in the log when the wait
began, and then until the index has handled all memories that were in the log by then. Both groups' offsets show it: the index commits an
offset only after the store holds the records before it.

Questions wait together, in *rounds*. A round begins with the end of ``merges``, and covers every question before it. If the index
stalls, only the first questions wait: later ones find a round that has already run for too long.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Final

from memory.topics import CONTRIBUTIONS, MEMORIES, MERGES
from runtime.errors import KafkaUnavailableError
from runtime.kafka import KafkaOffsets, TopicPartition
from runtime.kafka.groups import stage_group
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.errors import TransientError

_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.25


class IndexedLog:
    """Waits for the index, for all questions of a worker.

    Args:
        settings: The settings in force.
        offsets: Reads the offsets; started.
        seconds: A monotonic clock.
    """

    def __init__(self, *, settings: Settings, offsets: KafkaOffsets, seconds: Callable[[], float] = time.monotonic) -> None:
        prefix = settings.kafka.topic_prefix
        self._merges = settings.topic(MERGES.name)
        self._contributions = settings.topic(CONTRIBUTIONS.name)
        self._memories = settings.topic(MEMORIES.name)
        self._entities_group = stage_group(prefix, "entities")
        self._index_group = stage_group(prefix, "index")
        self._longest_s = settings.merging.lookup_wait_s
        self._offsets = offsets
        self._seconds = seconds
        self._covered: Mapping[TopicPartition, int] = {}
        self._round: asyncio.Task[None] | None = None
        self._began_at = 0.0

    async def holds_all_before(self, question: ConsumedRecord) -> bool:
        """Waits until the store holds what was in the log before a question; False if that takes too long (``lookup_wait_s``).

        Raises:
            TransientError: Kafka does not answer.
        """
        place = TopicPartition(question.topic, question.partition)
        while question.offset >= self._covered.get(place, 0):
            if self._round is None:
                self._began_at = self._seconds()
                self._round = asyncio.create_task(self._wait())
            waiting = self._round
            done, _ = await asyncio.wait({waiting}, timeout=max(0.0, self._began_at + self._longest_s - self._seconds()))
            if not done:
                return False
            self._finish(waiting)
        return True

    async def close(self) -> None:
        """Ends the wait."""
        if self._round is not None:
            self._round.cancel()
            await asyncio.wait({self._round})

    def _finish(self, ended: asyncio.Task[None]) -> None:
        if self._round is ended:
            self._round = None
        try:
            ended.result()
        except KafkaUnavailableError as error:
            raise TransientError(str(error), dependency="kafka") from error

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
