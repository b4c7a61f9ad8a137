"""Lookups that wait for a stalled index hold no slot: other tenants' questions are answered meanwhile, and the lookups afterwards."""

from collections import Counter
from collections.abc import AsyncIterator

import pytest

from loadtest.llm_simulator import LLMSimulator
from memory.positions import LogPosition
from memory.records import Contribution, Extraction
from runtime.kafka import Producer
from runtime.settings import DeliverySettings, LLMSettings, MergingSettings, Settings
from streams.engine.records import ConsumedRecord
from streams.stages.merging.indexed_log import IndexedLog
from tests.control_log import add_tenant
from tests.streams.flow import caught_up, serving
from tests.streams.harness import until, until_true
from tests.streams.linked_remarks import remarks, schema
from tests.streams.merged_remarks import SCHEMA, extraction_record
from tests.streams.merging_flow import STAGES
from tests.streams.message_ledger import records_of

pytestmark = pytest.mark.integration

WAITING = ("linked", "noted")
SMALL = "small"
USERS = 6
SLOTS = 4
LOOKUP_WAIT_S = 120.0
"""The lookups end when the index has caught up; this long is waited only if it never does."""


@pytest.fixture
async def shared(flow: Settings) -> AsyncIterator[Settings]:
    """Two tenants whose questions look up memories, one whose questions do not, and four slots."""
    for tenant, own in {**dict.fromkeys(WAITING, schema(decide="reconcile")), SMALL: SCHEMA}.items():
        await add_tenant(flow, tenant, schema=own)
    delivery, merging = DeliverySettings(slots=SLOTS, batch_interval_s=0.0), MergingSettings(lookup_wait_s=LOOKUP_WAIT_S)
    async with LLMSimulator() as simulator:
        llm = LLMSettings(base_url=simulator.base_url, model="simulated")
        yield flow.model_copy(update={"delivery": delivery, "merging": merging, "llm": llm})


def said_by(tenant: str, user: str, *texts: str) -> Extraction:
    """Remarks of a user of a tenant."""
    given = remarks(user, 0, *texts)
    events = [each.model_copy(update={"tenant": tenant}) for each in given.events]
    return given.model_copy(update={"tenant": tenant, "events": events})


async def send(settings: Settings, *given: Extraction) -> None:
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([extraction_record(settings.topic("extractions"), each) for each in given])


async def outcomes(settings: Settings) -> Counter[str]:
    """How many outcomes of questions each tenant has."""
    sent = [Contribution.from_json(each.value or b"") for each in await records_of(settings, "contributions")]
    return Counter(each.tenant for each in sent if each.kind == "merged")


async def test_waiting_lookups_stall_no_other_tenant(shared: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: set[LogPosition] = set()
    ask = IndexedLog.holds_all_before

    def noted(log: IndexedLog, question: ConsumedRecord) -> bool:
        waiting.add(question.position)
        return ask(log, question)

    monkeypatch.setattr(IndexedLog, "holds_all_before", noted)

    async def is_answered() -> bool:
        return bool((await outcomes(shared))[SMALL])

    async with serving(shared, ("events", "entities", "merging")):
        await send(shared, *(said_by(tenant, f"u{number}", "I have a cat.") for tenant in WAITING for number in range(USERS)))
        await until(lambda: len(waiting) >= SLOTS)
        await send(shared, said_by(SMALL, "ann", "I like tea.", "I like fog."))
        await until_true(is_answered, deadline_s=LOOKUP_WAIT_S / 2)
        assert set(await outcomes(shared)) == {SMALL}, "the lookups still wait"
        async with serving(shared, ("index",)):
            await caught_up(shared, STAGES)
    assert await outcomes(shared) == {SMALL: 1, **dict.fromkeys(WAITING, USERS)}
