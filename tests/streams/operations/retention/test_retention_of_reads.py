"""Retention of the read audit on a real broker: old records go, those of other tenants and of held users stay."""

from datetime import UTC, datetime, timedelta

import pytest

from control.hold_changes import place_hold, release_hold
from control.tenant_changes import set_tenant
from memory.keys import distinct_key
from memory.records import ReadRecord
from runtime.kafka import OutgoingRecord, Producer
from runtime.read_log import reads_of
from runtime.redis.client import open_redis
from runtime.settings import Settings
from streams.operations.retention.run import retain
from tests.control_log import write
from tests.streams.flow import NewFlow

pytestmark = pytest.mark.integration

NOW = datetime.now(UTC)
BEFORE, AFTER = NOW + timedelta(days=29), NOW + timedelta(days=31)
USERS = {"acme": ("ann", "bob"), "globex": ("ann",)}
READS_OF_EACH = 3


@pytest.fixture
async def flow(new_flow: NewFlow) -> Settings:
    """Recorded reads of two tenants, of which one keeps them for 30 days."""
    settings = await new_flow(dict.fromkeys(USERS, "companion"))
    topic = settings.topic("reads")
    records = [
        OutgoingRecord(topic, distinct_key(tenant, user), read(tenant, user).to_json())
        for tenant, users in USERS.items()
        for user in users
        for _ in range(READS_OF_EACH)
    ]
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(records)
    await write(settings, lambda draft: set_tenant(draft, "acme", retention={"reads": "30d"}))
    return settings


def read(tenant: str, user: str) -> ReadRecord:
    return ReadRecord(tenant=tenant, user=user, key_id="k1", what="recall", memory_ids=["m1"], time=NOW)


async def kept(settings: Settings) -> dict[str, int]:
    return {f"{tenant}/{user}": len(await reads_of(settings, tenant, user)) for tenant, users in USERS.items() for user in users}


async def removed(settings: Settings, now: datetime, *, dry_run: bool = False) -> dict[str, int]:
    """Counts of the records that a run removes from the tenant with a policy."""
    async with open_redis(settings.redis) as redis:
        return dict((await retain(settings, redis=redis, now=now, dry_run=dry_run)).found.get("acme", {}))


async def test_old_reads_go_unless_a_hold_keeps_them(flow: Settings) -> None:
    every = dict.fromkeys(("acme/ann", "acme/bob", "globex/ann"), READS_OF_EACH)
    assert await removed(flow, BEFORE) == {}
    assert await removed(flow, AFTER, dry_run=True) == {"reads": 2 * READS_OF_EACH}
    assert await kept(flow) == every

    await write(flow, lambda draft: place_hold(draft, "acme", "ann", at=NOW, by="counsel", reason="case 17"))
    assert await removed(flow, AFTER) == {"reads": READS_OF_EACH}
    assert await kept(flow) == every | {"acme/bob": 0}
    assert await removed(flow, AFTER) == {}, "it writes no second tombstone"

    await write(flow, lambda draft: release_hold(draft, "acme", "ann", at=NOW, by="counsel"))
    assert await removed(flow, AFTER) == {"reads": READS_OF_EACH}
    assert await kept(flow) == {"acme/ann": 0, "acme/bob": 0, "globex/ann": READS_OF_EACH}
