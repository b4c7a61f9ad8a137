"""A group's offsets while the broker loads them: its answer has an error and no offsets, which are not "nothing committed"."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import GroupAuthorizationFailedError
from aiokafka.structs import OffsetAndMetadata

from runtime.kafka.offsets import _group_offsets

LOADING, FORBIDDEN = 14, 30
PLACE = TopicPartition("varve.messages", 3)
COMMITTED = SimpleNamespace(error_code=0, topics=[(PLACE.topic, [(PLACE.partition, 7, "note", 0)])])


class Broker:
    """A client whose broker gives these answers, one after another."""

    def __init__(self, *answers: SimpleNamespace) -> None:
        self._answers = iter(answers)

    async def find_coordinator(self, group: str) -> int:
        return 1

    async def _send_request(self, request: Any, node: int) -> SimpleNamespace:
        return next(self._answers)


async def test_offsets_that_are_loaded_are_waited_for() -> None:
    broker = Broker(SimpleNamespace(error_code=LOADING, topics=[]), COMMITTED)
    assert await _group_offsets(cast(Any, broker), "varve.sessions") == {PLACE: OffsetAndMetadata(7, "note")}


async def test_other_errors_are_raised() -> None:
    with pytest.raises(GroupAuthorizationFailedError):
        await _group_offsets(cast(Any, Broker(SimpleNamespace(error_code=FORBIDDEN, topics=[]))), "varve.sessions")
