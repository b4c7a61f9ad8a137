"""Reaction of a worker to a rebalance, by the signals of a real Faust app without a broker."""

from collections.abc import Callable

import faust
import pytest
from faust.types import TP

from streams.engine.faust.rebalance_signals import GroupState, connect
from streams.engine.tasks.driver import Driver, FaustRecord
from streams.engine.tasks.partition_task import PartitionTask
from streams.engine.tasks.write_lease import WriteLease


class RecordingDriver(Driver):
    """Records its calls, and whether records were flowing at an assignment."""

    backlog = 0

    def __init__(self, *, is_flowing: Callable[[], bool]) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.assigned: set[int] = set()
        self.was_flowing: bool | None = None
        self._is_flowing = is_flowing

    async def assign(self, partitions: set[int], generation: int) -> None:
        self.calls.append("assign")
        self.assigned = partitions
        self.was_flowing = self._is_flowing()

    async def revoke(self) -> None:
        self.calls.append("revoke")

    async def put(self, delivery: FaustRecord) -> None:
        self.calls.append("put")

    def _new_task(self, partition: int, generation: int) -> PartitionTask:
        raise NotImplementedError


@pytest.fixture
def app() -> faust.App:
    return faust.App("signals", broker="kafka://127.0.0.1:1", autodiscover=False)


@pytest.fixture
def group_state() -> GroupState:
    return GroupState(WriteLease(session_timeout_s=10.0, generation=lambda: 3))


@pytest.fixture
def driver(app: faust.App, group_state: GroupState, monkeypatch: pytest.MonkeyPatch) -> RecordingDriver:
    recording = RecordingDriver(is_flowing=app.flow_control.is_active)
    connect(app, app.topic("windows"), recording, source="windows", group_state=group_state)
    monkeypatch.setattr(app.consumer, "assignment", lambda: {TP("windows", 1), TP("windows", 4), TP("other", 2)})
    return recording


async def test_a_revocation_stops_the_driver_at_once(app: faust.App, driver: RecordingDriver, group_state: GroupState) -> None:
    group_state.on_assigned()
    await app.on_partitions_revoked.send(set())
    assert driver.calls == ["revoke"]
    assert not group_state.is_assigned


async def test_an_assignment_stops_the_flow_first(app: faust.App, driver: RecordingDriver, group_state: GroupState) -> None:
    # As for a worker that had no partition: no revocation has stopped the flow.
    app.flow_control.resume()
    await app.on_rebalance_complete.send()
    assert driver.calls == ["assign"]
    assert driver.assigned == {1, 4}
    assert driver.was_flowing is False
    assert not app.flow_control.is_active()
    assert group_state.is_assigned
