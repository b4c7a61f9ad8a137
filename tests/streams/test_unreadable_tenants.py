"""A tenant whose document in the control log is damaged: no model sees its windows, its windows wait, and other tenants' are extracted."""

from dataclasses import replace

import pytest

from control.documents import tenant_key
from control.tenant_changes import set_tenant
from loadtest.llm_simulator import LLMSimulator
from runtime.kafka import OutgoingRecord, Producer
from runtime.settings import ControlSettings, DeliverySettings, LLMSettings, Settings
from tests.control_log import write
from tests.streams.flow import NewFlow, caught_up, serving
from tests.streams.harness import until_true
from tests.streams.message_ledger import records_of
from tests.streams.operations.reextraction.history import NOTES, extracted, window_record

pytestmark = pytest.mark.integration

HIDDEN, OTHER = "acme", "globex"
WINDOWS = 12
SECRET = "ann@example.org"
LEASE_S = 1.0


@pytest.fixture
async def flow(new_flow: NewFlow) -> Settings:
    """A tenant with redaction, another one without, and two slots of which a tenant may hold one."""
    delivery = DeliverySettings(slots=2, batch_interval_s=0.0, park_after_s=1.0)
    settings = await new_flow({HIDDEN: NOTES, OTHER: NOTES}, control=ControlSettings(lease_s=LEASE_S), delivery=delivery)
    await write(settings, lambda draft: set_tenant(draft, HIDDEN, redaction={"kinds": ["email"]}))
    return settings


async def send_windows(settings: Settings, tenant: str) -> None:
    records = [window_record(settings, number, tenant=tenant) for number in range(WINDOWS)]
    said = [replace(each, value=(each.value or b"").replace(b"Note ", f"Write to {SECRET}, note ".encode())) for each in records]
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(said)


async def write_document(settings: Settings, tenant: str, value: bytes) -> None:
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(settings.topic("control"), tenant_key(tenant), value, partition=0)])


async def extracted_of(settings: Settings, tenant: str) -> int:
    return sum(number for name, number in (await extracted(settings, "")).items() if name.startswith(f"{tenant} "))


async def test_an_unreadable_redaction_policy_sends_nothing(flow: Settings) -> None:
    async def others_are_done() -> bool:
        return await extracted_of(flow, OTHER) == WINDOWS

    document = [each.value for each in await records_of(flow, "control") if each.key == tenant_key(HIDDEN)][-1]
    await write_document(flow, HIDDEN, document.replace(b'"email"', b'"a kind of a newer version"'))
    async with LLMSimulator() as simulator:
        settings = flow.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
        async with serving(settings, ("extraction",)):
            await send_windows(settings, HIDDEN)
            await send_windows(settings, OTHER)
            await until_true(others_are_done)
            assert len(simulator.requests) == WINDOWS
            assert await extracted_of(flow, HIDDEN) == 0
            await write_document(flow, HIDDEN, document)
            await caught_up(settings, ("extraction",))
        assert await extracted_of(flow, HIDDEN) == WINDOWS
        sent = [text for request in simulator.requests for _, text in request.messages]
    assert len(simulator.requests) == 2 * WINDOWS
    assert sum("[EMAIL_1]" in text for text in sent) == WINDOWS
    assert sum(SECRET in text for text in sent) == WINDOWS, "the other tenant's"
    assert not await records_of(flow, "dead-letters")
