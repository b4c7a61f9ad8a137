"""A group's offsets while the broker loads them: its answer has an error and no offsets, which are not "nothing committed"."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import GroupAuthorizationFailedError, NodeNotReadyError
from aiokafka.structs import OffsetAndMetadata

from runtime.kafka.offsets import _group_offsets

LOADING, MOVED, FORBIDDEN = 14, 16, 30
PLACE = TopicPartition("varve.messages", 3)
COMMITTED = SimpleNamespace(error_code=0, topics=[(PLACE.topic, [(PLACE.partition, 7, "note", 0)])])


class Broker:
    """A client whose broker gives these answers, one after another."""

    def __init__(self, *answers: SimpleNamespace | Exception) -> None:
        self._answers = iter(answers)
        self.asked = 0
        """How often the broker was asked for the coordinator."""

    async def find_coordinator(self, group: str) -> int:
        self.asked += 1
        return self.asked

    async def _send_request(self, request: Any, node: int) -> SimpleNamespace:
        assert node == self.asked, "the newest coordinator is asked"
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_offsets_that_are_loaded_are_waited_for() -> None:
    broker = Broker(SimpleNamespace(error_code=LOADING, topics=[]), COMMITTED)
    assert await _group_offsets(cast(Any, broker), "varve.sessions", {}) == {PLACE: OffsetAndMetadata(7, "note")}


async def test_other_errors_are_raised() -> None:
    with pytest.raises(GroupAuthorizationFailedError):
        await _group_offsets(cast(Any, Broker(SimpleNamespace(error_code=FORBIDDEN, topics=[]))), "varve.sessions", {})


async def test_a_known_coordinator_is_asked_again_directly() -> None:
    broker, known = Broker(COMMITTED, COMMITTED), dict[str, int]()
    for _ in range(2):
        assert await _group_offsets(cast(Any, broker), "varve.sessions", known) == {PLACE: OffsetAndMetadata(7, "note")}
    assert broker.asked == 1


@pytest.mark.parametrize("failure", [NodeNotReadyError(), SimpleNamespace(error_code=MOVED, topics=[])])
async def test_a_coordinator_that_fails_is_replaced(failure: SimpleNamespace | Exception) -> None:
    broker, known = Broker(COMMITTED, failure, COMMITTED), dict[str, int]()
    for _ in range(2):
        assert await _group_offsets(cast(Any, broker), "varve.sessions", known) == {PLACE: OffsetAndMetadata(7, "note")}
    assert broker.asked == 2
