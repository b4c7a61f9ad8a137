"""Faust's signals of a rebalance, as the driver gets them."""

from typing import Any

import faust

from streams.engine.tasks.driver import Driver, FaustRecord
from streams.engine.tasks.write_lease import WriteLease


class GroupState:
    """Where this worker stands in its consumer group.

    Args:
        membership: Knows whether it may still write.
    """

    def __init__(self, membership: WriteLease) -> None:
        self._membership = membership
        self.is_assigned = False
        """Whether the group has given it its partitions, be it none."""

    def on_assigned(self) -> None:
        """A rebalance is complete."""
        self._membership.on_assigned()
        self.is_assigned = True

    def on_revoked(self) -> None:
        """A rebalance has begun."""
        self._membership.on_revoked()
        self.is_assigned = False


def connect(app: faust.App, topic: faust.TopicT, driver: Driver, *, source: str, standing: GroupState) -> None:
    """Wires Faust's stream and its rebalance signals to the driver.

    Args:
        app: Whose signals.
        topic: The source topic, as Faust has it.
        driver: Gets the records and the partitions.
        source: The source topic's name on the broker.
        standing: Follows the rebalances.
    """

    @app.agent(topic, name="intake")
    async def intake(stream: Any) -> None:
        async for event in stream.noack().events():
            await driver.put(FaustRecord(event))

    @app.on_partitions_revoked.connect  # type: ignore[arg-type]
    async def revoked(_app: Any, *_args: Any, **_: Any) -> None:
        standing.on_revoked()
        # What is being computed could not be written any more: it makes room at once, not only when the next assignment comes.
        await driver.revoke()

    @app.on_rebalance_complete.connect  # type: ignore[arg-type]
    async def assigned(_app: Any, *_args: Any, **_: Any) -> None:
        # Faust stops the flow at a revocation, but a worker that had no partition has none. It seeks with the flow active, and then clears
        # what it had queued: records are skipped (ADR 4, B).
        app.consumer.stop_flow()
        app.flow_control.suspend()
        sources = {assigned.partition for assigned in app.consumer.assignment() if assigned.topic == source}
        standing.on_assigned()
        await driver.assign(sources, int(app.consumer_generation_id))
