"""Connects Faust's rebalance signals to the driver."""

from collections.abc import Callable
from typing import Any

import faust

from streams.engine.tasks.driver import Driver, FaustRecord
from streams.engine.tasks.write_lease import WriteLease


class GroupState:
    """State of this worker in its consumer group.

    Args:
        lease: The worker's right to write.
    """

    def __init__(self, lease: WriteLease) -> None:
        self._lease = lease
        self._joined: Callable[[], None] = lambda: None
        self.is_assigned = False
        """Whether the group has assigned partitions to it, possibly none."""

    def on_joined(self, listener: Callable[[], None]) -> None:
        """Calls a listener after each rebalance."""
        self._joined = listener

    def on_assigned(self) -> None:
        """Records that a rebalance is complete."""
        self._lease.on_assigned()
        self.is_assigned = True
        self._joined()

    def on_revoked(self) -> None:
        """Records that a rebalance has begun."""
        self._lease.on_revoked()
        self.is_assigned = False


def connect(app: faust.App, topic: faust.TopicT, driver: Driver, *, source: str, group_state: GroupState) -> None:
    """Connects Faust's stream and its rebalance signals to the driver.

    Args:
        app: The Faust app.
        topic: The source topic in Faust.
        driver: Receives the records and the partitions.
        source: The source topic's name on the broker.
        group_state: Follows the rebalances.
    """

    @app.agent(topic, name="intake")
    async def intake(stream: Any) -> None:
        async for event in stream.noack().events():
            await driver.put(FaustRecord(event))

    @app.on_partitions_revoked.connect  # type: ignore[arg-type]
    async def revoked(_app: Any, *_args: Any, **_: Any) -> None:
        group_state.on_revoked()
        # Running computations could no longer be written: free their memory now, and not only at the next assignment.
        await driver.revoke()

    @app.on_rebalance_complete.connect  # type: ignore[arg-type]
    async def assigned(_app: Any, *_args: Any, **_: Any) -> None:
        # Faust stops the flow at a revocation, but not for a worker without partitions. It then seeks with the flow active, and clears
        # its queue: records would be skipped (ADR 4, B).
        app.consumer.stop_flow()
        app.flow_control.suspend()
        sources = {assigned.partition for assigned in app.consumer.assignment() if assigned.topic == source}
        group_state.on_assigned()
        await driver.assign(sources, int(app.consumer_generation_id))
