"""A tenant out of budget floods a partition. Others are served, and its windows are extracted once its budget is raised."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from loadtest.llm_simulator import LLMSimulator
from memory.keys import encode_key
from memory.records import Extraction, Message, Window
from runtime.kafka import OutgoingRecord, Producer
from runtime.settings import DeliverySettings, LLMSettings, Settings
from tests.streams.flow import DEADLINE_S, NewFlow, caught_up, serving
from tests.streams.message_ledger import records_of

pytestmark = pytest.mark.integration

NOTES = {"Name": "notes", "EventTypes": [{"EventType": "note", "Description": "A note.", "Properties": []}]}
SPAN = 5
POOR, RICH = range(60), range(60, 90)


@pytest.fixture
async def flow(new_flow: NewFlow, tmp_path: Path) -> Settings:
    """A flow of two tenants whose workers look only a few records ahead."""
    (tmp_path / "notes.json").write_bytes(orjson.dumps(NOTES))
    delivery = DeliverySettings(max_unacked_span=SPAN, batch_interval_s=0.0)
    return await new_flow({"poor": "notes.json", "rich": "notes.json"}, delivery=delivery)


def grant(settings: Settings, hard_tokens: int | None) -> None:
    """Sets the budget of the poor tenant; None: unlimited."""
    file = orjson.loads(settings.tenants_path.read_bytes())
    file["tenants"][0]["budget"] = {"hard_tokens": hard_tokens, "policy": "wait"}
    settings.tenants_path.write_bytes(orjson.dumps(file))


async def send(settings: Settings, tenant: str, numbers: Iterable[int], *, partition: int) -> None:
    records = []
    for number in numbers:
        fields = {"tenant": tenant, "user": "ann", "session": f"s{number}"}
        message = Message.model_validate(
            {**fields, "id": f"m{number}", "text": f"Note {number}.", "event_time": datetime(2024, 5, 1, tzinfo=UTC)}
        )
        window = Window.model_validate(
            {
                **fields,
                "id": f"{tenant} {number}",
                "sequence": 0,
                "messages": [message],
                "closed_by": "flush",
                "source_partition": 0,
                "first_offset": 0,
                "last_offset": 0,
            }
        )
        key = encode_key(tenant, f"s{number}")
        records.append(OutgoingRecord(topic=settings.topic("windows"), key=key, value=window.to_json(), partition=partition))
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(records)


async def extracted(settings: Settings) -> Counter[str]:
    records = await records_of(settings, "extractions")
    return Counter(Extraction.from_json(record.value or b"").window_id for record in records)


async def test_a_tenant_out_of_budget_blocks_no_partition(flow: Settings) -> None:
    poor, rich = Counter(f"poor {number}" for number in POOR), Counter(f"rich {number}" for number in RICH)
    grant(flow, 0)
    await send(flow, "poor", POOR, partition=0)
    await send(flow, "rich", RICH, partition=1)
    async with LLMSimulator() as simulator:
        with_llm = flow.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
        async with serving(with_llm, ["extraction"]):
            async with asyncio.timeout(DEADLINE_S):
                while (so_far := await extracted(flow)) != rich:
                    assert set(so_far) <= set(rich)
            assert len(simulator.requests) == len(RICH)
            grant(flow, None)
            await caught_up(flow, ["extraction"])
        assert await extracted(flow) == poor + rich
        assert len(simulator.requests) == len(POOR) + len(RICH)
