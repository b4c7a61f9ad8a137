"""A repetition, by redelivery, redrive or replay, emits the same bytes and changes nothing."""

from datetime import UTC, datetime

import orjson
import pytest

from control.tenant_changes import set_tenant
from control.tenants import TenantDirectory
from memory.headers import ORIGIN
from memory.keys import encode_key
from memory.records import Contribution, MemoryChange
from memory.schema import parse_schema
from operators.entities.entity_state import EntityState
from runtime.clocks import SystemClock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from tests.control_log import known_tenants, now_known
from tests.made_records import made_event, made_extraction
from tests.streams.harness import PartitionHarness

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
TENANT = "acme"


SCHEMA = """{"EventTypes": [{"EventType": "walk", "Description": "A walk.",
  "Properties": [{"PropertyName": "steps", "PropertyValueType": "int64", "Description": "How many."}]}],
 "EntityTypes": [{"EntityType": "walker", "Description": "Who walks.", "Keys": ["user"],
  "Properties": [{"PropertyName": "user", "PropertyValueType": "string", "Description": "Who.", "IsPrimaryKey": true},
   {"PropertyName": "total", "PropertyValueType": "int64", "Description": "PartitionHarness in all.",
    "AggregateExpression": {"Op": "SUM", "EventType": "walk", "EventPropertyName": "steps"}}]}]}"""


@pytest.fixture
def tenants() -> TenantDirectory:
    """A tenant that counts steps."""
    return known_tenants({TENANT: parse_schema(orjson.loads(SCHEMA), name="steps")})


@pytest.fixture
def events(settings: Settings, tenants: TenantDirectory) -> PartitionHarness:
    return PartitionHarness(EventsHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics()), LedgerCodec(), cache_bytes=1)


@pytest.fixture
def entities(settings: Settings, tenants: TenantDirectory) -> PartitionHarness:
    return PartitionHarness(
        EntitiesHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics(), clock=SystemClock()),
        EntityCodec(),
        cache_bytes=1,
    )


def extraction(offset: int, steps: int, *, origin: int | None = None, count: int = 1) -> ConsumedRecord:
    """The window ``w``, extracted with so many walks of so many steps."""
    walks = [
        made_event(
            f"Ada walked {steps} steps.",
            NOON,
            id=f"w-{number}",
            tenant=TENANT,
            user="ada",
            type="walk",
            properties={"steps": steps},
            extractor="test",
        )
        for number in range(count)
    ]
    record = made_extraction(walks, NOON, tenant=TENANT, user="ada", extractor="test", schema_name="steps")
    headers = () if origin is None else ((ORIGIN, f"varve.extractions/0/{origin}".encode()),)
    return ConsumedRecord("varve.extractions", 0, offset, encode_key(TENANT, "ada"), record.to_json(), headers, 0.0)


async def outputs_of(stage: PartitionHarness, *records: ConsumedRecord) -> list[OutgoingRecord]:
    return (await stage.process(records)).outputs


def contributions(outputs: list[OutgoingRecord], first: int) -> list[ConsumedRecord]:
    sent = [each for each in outputs if each.topic == "varve.contributions"]
    return [ConsumedRecord(each.topic, 0, first + index, each.key, each.value, (), 0.0) for index, each in enumerate(sent)]


async def total(events: PartitionHarness, entities: PartitionHarness, *extractions: ConsumedRecord) -> int:
    """The walker's total once all has passed both stages, and everything was delivered twice."""
    offset = 0
    for record in extractions:
        for _ in range(2):
            for contribution in contributions(await outputs_of(events, record), offset):
                await outputs_of(entities, contribution)
                offset += 1
    (state,) = [state for _, state in entities.state.scan()]
    assert isinstance(state, EntityState)
    return _total(await outputs_of(entities, *_again(offset)))


def _again(offset: int) -> list[ConsumedRecord]:
    contribution = Contribution(
        tenant=TENANT, entity_type="walker", entity_key="ada", source="extractions/0", position=0, time=NOON, schema_name="steps"
    )
    return [ConsumedRecord("varve.contributions", 0, offset, b"", contribution.to_json(), (), 0.0)]


def _total(outputs: list[OutgoingRecord]) -> int:
    (memory,) = [change.memory for each in outputs if each.value and (change := MemoryChange.from_json(each.value)).op == "upsert"]
    assert memory is not None
    assert isinstance(memory.properties["total"], int)
    return memory.properties["total"]


async def test_a_redelivered_extraction_emits_the_same_bytes(events: PartitionHarness) -> None:
    first = await outputs_of(events, extraction(5, 100))
    assert {each.topic for each in first} == {"varve.memories", "varve.contributions"}
    assert await outputs_of(events, extraction(5, 100)) == first
    again = await outputs_of(events, extraction(9, 70))
    assert await outputs_of(events, extraction(9, 70)) == again
    assert await outputs_of(events, extraction(5, 100)) == [], "what was replaced stays replaced"


async def test_a_redriven_extraction_replaces_nothing_newer(events: PartitionHarness) -> None:
    newer = await outputs_of(events, extraction(9, 70))
    assert await outputs_of(events, extraction(12, 100, origin=5)) == []
    assert await outputs_of(events, extraction(9, 70)) == newer


async def test_redriving_an_extraction_twice_counts_once(events: PartitionHarness, entities: PartitionHarness) -> None:
    assert await total(events, entities, extraction(12, 100, origin=5), extraction(13, 100, origin=5)) == 100


async def test_a_second_extraction_replaces_the_first(events: PartitionHarness, entities: PartitionHarness) -> None:
    assert await total(events, entities, extraction(5, 100, count=3), extraction(8, 70), extraction(9, 100, origin=5)) == 70


async def test_an_applied_contribution_republishes_its_entity(events: PartitionHarness, entities: PartitionHarness) -> None:
    (contribution,) = contributions(await outputs_of(events, extraction(5, 100)), 0)
    step, first = await outputs_of(entities, contribution)
    assert MemoryChange.from_json(step.value or b"").op == "step"
    assert _total([first]) == 100
    assert await outputs_of(entities, contribution) == [first]
    assert await outputs_of(entities, contribution, contribution) == [first], "and once for many"


async def test_a_skipped_contribution_is_applied_when_redriven(
    tenants: TenantDirectory, events: PartitionHarness, entities: PartitionHarness
) -> None:
    one, other = extraction(5, 100), extraction(6, 11)
    (early,) = contributions(await outputs_of(events, one), 0)
    other_window = ConsumedRecord(
        other.topic, 0, 6, other.key, (other.value or b"").replace(b'"window_id":"w"', b'"window_id":"v"').replace(b"w-0", b"v-0"), (), 0.0
    )
    (late,) = contributions(await outputs_of(events, other_window), 1)
    without_walkers = parse_schema(orjson.loads(SCHEMA.replace('"EntityType": "walker"', '"EntityType": "runner"')), name="steps")
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, schema=without_walkers))
    refused = await entities.process([early])
    assert [refusal.reason for refusal in refused.rejections] == ["unknown_entity_type"]
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, schema="steps@1"))
    assert _total(await outputs_of(entities, late)) == 11
    driven = ConsumedRecord(early.topic, 0, 2, early.key, early.value, ((ORIGIN, b"varve.contributions/0/0"),), 0.0)
    assert _total(await outputs_of(entities, driven)) == 111
    assert _total(await outputs_of(entities, driven)) == 111
