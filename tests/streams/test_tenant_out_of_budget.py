"""A tenant that is out of budget floods a partition: the others are served, and nothing of it is lost when its budget is raised."""

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
from runtime.kafka import OutgoingRecord, Producer, create_topics
from runtime.settings import DeliverySettings, LLMSettings, Settings
from runtime.tenants import add_tenant
from tests.streams.flow import DEADLINE_S, caught_up, flow_settings, serving
from tests.streams.message_ledger import records_of

pytestmark = pytest.mark.integration

NOTES = {"Name": "notes", "EventTypes": [{"EventType": "note", "Description": "A note.", "Properties": []}]}
SPAN = 5
POOR, RICH = range(60), range(60, 90)


@pytest.fixture
async def settings(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path) -> Settings:
    settings = flow_settings(
        kafka=kafka, topic_prefix=topic_prefix, redis_url=redis_url, data=tmp_path, socket=tmp_path / "no-store.sock"
    ).model_copy(update={"delivery": DeliverySettings(max_unacked_span=SPAN, batch_interval_s=0.0)})
    (settings.tenants_path.parent / "notes.json").write_bytes(orjson.dumps(NOTES))
    for tenant in ("poor", "rich"):
        add_tenant(settings.tenants_path, tenant, schema="notes.json")
    await create_topics(settings)
    return settings


def grant(settings: Settings, hard_tokens: int | None) -> None:
    """What the poor tenant may use up from now on; None: all it wants."""
    file = orjson.loads(settings.tenants_path.read_bytes())
    file["tenants"][0]["budget"] = {"hard_tokens": hard_tokens, "policy": "wait"}
    settings.tenants_path.write_bytes(orjson.dumps(file))


async def send(settings: Settings, tenant: str, numbers: Iterable[int], *, partition: int) -> None:
    records = []
    for number in numbers:
        said = {"tenant": tenant, "user": "ann", "session": f"s{number}"}
        message = Message.model_validate(
            {**said, "id": f"m{number}", "text": f"Note {number}.", "event_time": datetime(2024, 5, 1, tzinfo=UTC)}
        )
        window = Window.model_validate(
            {
                **said,
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


async def test_a_tenant_out_of_budget_blocks_no_partition(settings: Settings) -> None:
    poor, rich = Counter(f"poor {number}" for number in POOR), Counter(f"rich {number}" for number in RICH)
    grant(settings, 0)
    await send(settings, "poor", POOR, partition=0)
    await send(settings, "rich", RICH, partition=1)
    async with LLMSimulator() as simulator:
        asking = settings.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
        async with serving(asking, ["extraction"]):
            async with asyncio.timeout(DEADLINE_S):
                while (so_far := await extracted(settings)) != rich:
                    assert set(so_far) <= set(rich)
            assert len(simulator.requests) == len(RICH)
            grant(settings, None)
            await caught_up(settings, ["extraction"])
        assert await extracted(settings) == poor + rich
        assert len(simulator.requests) == len(POOR) + len(RICH)
