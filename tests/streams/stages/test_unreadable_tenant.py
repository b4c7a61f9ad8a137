"""A tenant whose document cannot be read delays the others of its partition for a limited time; its records are kept as dead letters."""

import pytest

from control.documents import tenant_key
from memory.headers import ORIGIN
from memory.keys import encode_key
from memory.records import Extraction, Memory, MemoryChange
from runtime.clocks import SystemClock
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.errors import TransientError, WaitedTooLongError
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from streams.stages.tenancy import LONGEST_WAIT_S, tenant_of
from tests.control_log import known_tenants
from tests.streams.harness import PartitionHarness, contributed, delivered
from tests.streams.merged_remarks import SCHEMA, extraction

BROKEN, OTHER = "broken", "other"


def said_by(tenant: str, offset: int) -> ConsumedRecord:
    """The extraction of a window of one remark."""
    given = extraction("ann", offset, {0: f"remark {offset}"})
    events = [each.model_copy(update={"tenant": tenant}) for each in given.events]
    return record_of(given.model_copy(update={"tenant": tenant, "events": events}), offset)


def record_of(given: Extraction, offset: int) -> ConsumedRecord:
    return delivered("extractions", offset, encode_key(given.tenant, "ann"), given.to_json())


def redriven(record: ConsumedRecord, offset: int) -> ConsumedRecord:
    return delivered(record.topic, offset, record.key, record.value, headers=((ORIGIN, str(record.position).encode()),))


async def test_an_unreadable_tenant_stalls_no_other_for_long(settings: Settings) -> None:
    tenants, key = known_tenants({BROKEN: SCHEMA, OTHER: SCHEMA}), tenant_key(BROKEN)
    state = tenants._view.state
    document = state.tenants[BROKEN].to_json()
    events = PartitionHarness(EventsHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics()), LedgerCodec())
    entities = PartitionHarness(
        EntitiesHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics(), clock=SystemClock()), EntityCodec()
    )
    first, second, last = said_by(BROKEN, 0), said_by(OTHER, 1), said_by(BROKEN, 2)
    state.take(key, b"{", offset=0)
    with pytest.raises(TransientError, match="newer version"):
        await events.process([first, second])

    state.unreadable_since[key] -= LONGEST_WAIT_S
    batch = await events.process([first, second])
    assert [(each.record.offset, each.reason) for each in batch.rejections] == [(0, "unreadable_tenant")]
    (contribution,) = contributed(batch)
    assert contribution.key == encode_key(OTHER, "profile", "ann")
    assert (await entities.process([contribution])).rejections == []

    state.take(key, document, offset=1)
    contributions = [*contributed(await events.process([last])), *contributed(await events.process([redriven(first, 3)]))]
    state.take(key, b"{", offset=2)
    state.unreadable_since[key] -= LONGEST_WAIT_S
    assert [each.reason for each in (await entities.process(contributions[:1])).rejections] == ["unreadable_tenant"]
    state.take(key, document, offset=3)
    await entities.process(contributions[1:])
    shown = (await entities.process([redriven(contributions[0], 9)])).outputs
    (memory,) = [Memory.model_validate(change.memory) for change in map(_change, (each.value for each in shown)) if change.memory]
    assert memory.properties["remarks"] == 2, "a redrive after a later contribution is applied"


def test_records_may_wait_where_they_delay_nobody() -> None:
    """As dead letters of extraction and merging, they would need a redrive for a document that is soon repaired."""
    tenants, key = known_tenants({BROKEN: SCHEMA}), tenant_key(BROKEN)
    state = tenants._view.state
    state.take(key, b"{", offset=0)
    state.unreadable_since[key] -= LONGEST_WAIT_S
    with pytest.raises(WaitedTooLongError) as caught:
        tenant_of(tenants, BROKEN)
    assert caught.value.reason == "unreadable_tenant"


def _change(value: bytes | None) -> MemoryChange:
    return MemoryChange.from_json(value or b"")
