"""A lookup waits for the entities stage, then for the index. A failure of the wait fails each waiting question once."""

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from memory.topics import CONTRIBUTIONS, MEMORIES, MERGES
from runtime.errors import KafkaUnavailableError
from runtime.kafka import KafkaOffsets, TopicPartition
from runtime.settings import Settings
from streams.errors import NotReadyError, TransientError
from streams.stages.merging.indexed_log import IndexedLog
from tests.streams.harness import delivered, until

QUESTIONS = [delivered(MERGES.name, offset, b"key", b"") for offset in range(2)]


class ScriptedOffsets:
    """Offsets of topics with two records each: the groups have handled both, and one of the lagging topics."""

    def __init__(self, *lagging: str) -> None:
        self.lagging = set(lagging)
        self.looks = 0
        """How often a group had records left."""
        self.failure: KafkaUnavailableError | None = None

    async def end_offsets(self, topics: Sequence[str]) -> dict[TopicPartition, int]:
        if self.failure is not None:
            raise self.failure
        return {TopicPartition(topic, 0): 2 for topic in topics}

    async def committed_offsets(self, group: str, topics: Sequence[str]) -> dict[TopicPartition, int]:
        behind = self.lagging.intersection(topics)
        self.looks += bool(behind)
        return {TopicPartition(topic, 0): 1 if topic in behind else 2 for topic in topics}


def waited_for(log: IndexedLog, number: int) -> "asyncio.Future[None]":
    with pytest.raises(NotReadyError) as caught:
        log.holds_all_before(QUESTIONS[number])
    return caught.value.ready


@pytest.mark.parametrize("topic", [CONTRIBUTIONS.name, MEMORIES.name])
async def test_a_question_waits_for_both_stages(settings: Settings, topic: str) -> None:
    offsets = ScriptedOffsets(settings.topic(topic))
    log = IndexedLog(settings=settings, offsets=cast(KafkaOffsets, offsets))
    ready = waited_for(log, 0)
    await until(lambda: offsets.looks >= 2)
    assert not ready.done()
    offsets.lagging.clear()
    await ready
    assert log.holds_all_before(QUESTIONS[0])
    assert log.holds_all_before(QUESTIONS[1]), "it came before the wait began"
    await log.close()


async def test_each_waiting_question_fails_once(settings: Settings) -> None:
    offsets = ScriptedOffsets()
    offsets.failure = KafkaUnavailableError("no broker answers")
    log = IndexedLog(settings=settings, offsets=cast(KafkaOffsets, offsets))
    ready = waited_for(log, 0)
    assert waited_for(log, 1) is ready, "they share the wait"
    await ready
    offsets.failure = None
    for question in QUESTIONS:
        with pytest.raises(TransientError, match="no broker answers"):
            log.holds_all_before(question)
    await waited_for(log, 0)
    assert all(map(log.holds_all_before, QUESTIONS))
    await log.close()
