"""The control log after the broker's own compaction: it gives the same state as the whole log, and its audit is complete."""

import time
from collections.abc import Callable
from functools import partial

import pytest
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from control import ControlFollower, Draft, read_audit, read_control
from control.log import control_partition
from control.tenant_changes import add_tenant, remove_tenant, set_tenant
from runtime.kafka import create_topics, read_topic
from runtime.kafka.client import admin_client
from runtime.settings import Settings
from tests.control_log import write
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration

DEADLINE_S = 180.0
EAGER = {
    "cleanup.policy": "compact",
    "segment.ms": "100",
    "segment.bytes": "1048576",
    "min.cleanable.dirty.ratio": "0.01",
    "max.compaction.lag.ms": "1000",
}
NAMES = ("a", "b", "c")


async def test_the_compacted_log_gives_the_same_state(make_settings: Callable[..., Settings]) -> None:
    settings = make_settings(kafka=one_broker(partitions=2))
    await create_topics(settings)
    where = control_partition(settings)
    async with admin_client(settings.kafka) as admin:
        await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, where.topic, EAGER)])
    follower = ControlFollower(settings=settings)
    follower.start()
    try:
        await follower.wait_for(0, timeout_s=DEADLINE_S)
        await write(settings, partial(add_tenant, tenant_id="gone", schema="companion"))
        await write(settings, partial(remove_tenant, tenant_id="gone"))
        written, deadline = 0, time.monotonic() + DEADLINE_S
        # A later record closes a segment, and the cleaner runs every few seconds.
        # Each change made two records.
        while written < len(NAMES) * 4 or await _records(settings) > written:
            assert time.monotonic() < deadline, "the cleaner does not come"
            await write(settings, partial(_put, name=NAMES[written % len(NAMES)], weight=float(written + 1)))
            written += 1
        compacted = await read_control(settings)
        await follower.wait_for(compacted.position, timeout_s=DEADLINE_S)
        assert follower.state.position >= compacted.position
        assert {**compacted.__dict__, "position": 0} == {**follower.state.__dict__, "position": 0}, "who followed all along knows the same"
        assert compacted.tenants["gone"].state == "removed"
        check, _ = await read_audit(settings)
        assert (check.problems, check.changes) == ([], written + 2)
        await write(settings, partial(set_tenant, tenant_id="a", weight=0.5))
        assert (await read_control(settings)).tenants["a"].weight == 0.5
        assert (await read_audit(settings))[0].problems == []
    finally:
        await follower.stop()


async def _records(settings: Settings) -> int:
    """How many records the log still has."""
    where = control_partition(settings)
    return len([record async for record in read_topic(where.topic, settings.kafka, start={where: 0})])


def _put(draft: Draft, name: str, weight: float) -> None:
    if draft.find_tenant(name) is None:
        add_tenant(draft, name, schema="companion", weight=weight)
    else:
        set_tenant(draft, name, weight=weight)
