"""A tenant floods a partition, out of budget or with slow calls. Others are served, and all its windows are extracted in the end.

Its windows are parked; workers are killed while they park them, while they wait, and while they bring them back.
"""

import asyncio
import os
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from control.tenant_changes import set_tenant
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Profile
from memory.keys import encode_key
from memory.records import Extraction, Message, Window
from memory.schema import parse_schema
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer
from runtime.kafka.parked_note import read_parked
from runtime.settings import DeliverySettings, LLMSettings, Settings
from tests.control_log import write
from tests.process_variables import process_variables
from tests.streams.flow import DEADLINE_S, POLL_S, NewFlow, caught_up, serving
from tests.streams.message_ledger import records_of

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

NOTES = {"Name": "notes", "EventTypes": [{"EventType": "note", "Description": "A note.", "Properties": []}]}
SPAN = 5
POOR, RICH = range(60), range(60, 90)
SESSIONS = 40
FLOOD, OTHERS = 500, 100
LONGEST_S = 3 * DEADLINE_S
"""Up to four workers start one after the other."""


@pytest.fixture
async def flow(new_flow: NewFlow, tmp_path: Path) -> Settings:
    """A flow of two tenants whose workers look only a few records ahead."""
    notes = parse_schema(NOTES)
    delivery = DeliverySettings(max_unacked_span=SPAN, batch_interval_s=0.0)
    return await new_flow({"poor": notes, "rich": notes}, delivery=delivery)


async def grant(settings: Settings, hard_tokens: int | None) -> None:
    """Sets the budget of the poor tenant; None: unlimited."""
    budget = {"hard_tokens": hard_tokens, "policy": "wait"}
    await write(settings, lambda draft: set_tenant(draft, "poor", budget=budget))


def window_record(settings: Settings, tenant: str, number: int, *, sessions: int, partition: int) -> OutgoingRecord:
    fields = {"tenant": tenant, "user": "ann", "session": f"s{number % sessions}"}
    message = Message.model_validate(
        {**fields, "id": f"m{number}", "text": f"Note {number}.", "event_time": datetime(2024, 5, 1, tzinfo=UTC)}
    )
    window = Window.model_validate(
        {
            **fields,
            "id": f"{tenant} {number}",
            "sequence": number // sessions,
            "messages": [message],
            "closed_by": "flush",
            "source_partition": 0,
            "first_offset": 0,
            "last_offset": 0,
        }
    )
    key = encode_key(tenant, window.session)
    return OutgoingRecord(topic=settings.topic("windows"), key=key, value=window.to_json(), partition=partition)


async def send(settings: Settings, tenant: str, numbers: Iterable[int], *, partition: int) -> None:
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([window_record(settings, tenant, each, sessions=1000, partition=partition) for each in numbers])


async def send_flood(settings: Settings) -> None:
    """The poor tenant's windows, with the rich one's among them, in one partition."""
    records = []
    for number in range(FLOOD):
        records.append(window_record(settings, "poor", number, sessions=SESSIONS, partition=0))
        if number % (FLOOD // OTHERS) == 0:
            records.append(window_record(settings, "rich", number, sessions=SESSIONS, partition=0))
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(records)


@asynccontextmanager
async def worker_process(settings: Settings) -> AsyncIterator[None]:
    """A worker in a separate process, killed at the end."""
    environment = process_variables(settings)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "varve", "worker", "extraction", env=os.environ | environment | {"VARVE_METRICS_PORT": "0"}
    )
    try:
        yield
        assert process.returncode is None
    finally:
        process.kill()
        await process.wait()


async def committed(settings: Settings, *, parked: int) -> None:
    """Returns when all windows are acknowledged, and the given number of them is parked."""
    while await lag_and_parked(settings) != (0, parked):  # noqa: ASYNC110 - Kafka is polled
        await asyncio.sleep(POLL_S)


async def some_parked(settings: Settings) -> None:
    """Returns as soon as windows are parked: most often while others still come."""
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        while not (await read_parked(offsets, settings.topic("extraction"), [settings.topic("windows")])).count:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def more_extracted(settings: Settings, count: int) -> None:
    """Returns when at least so many windows are extracted."""
    while len(await extracted(settings)) < count:  # noqa: ASYNC110 - Kafka is polled
        await asyncio.sleep(POLL_S)


async def lag_and_parked(settings: Settings) -> tuple[int, int]:
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        group, topics = settings.topic("extraction"), [settings.topic("windows")]
        return sum((await offsets.lag(group, topics)).values()), (await read_parked(offsets, group, topics)).count


def assert_sessions_in_order(records: list[Any], tenant: str) -> None:
    numbers: defaultdict[int, list[int]] = defaultdict(list)
    for record in records:
        name, number = Extraction.from_json(record.value or b"").window_id.split()
        if name == tenant:
            numbers[int(number) % SESSIONS].append(int(number))
    assert all(list(dict.fromkeys(each)) == sorted(set(each)) for each in numbers.values())


async def extracted(settings: Settings) -> Counter[str]:
    records = await records_of(settings, "extractions")
    return Counter(Extraction.from_json(record.value or b"").window_id for record in records)


async def test_a_tenant_out_of_budget_blocks_no_partition(flow: Settings) -> None:
    poor, rich = Counter(f"poor {number}" for number in POOR), Counter(f"rich {number}" for number in RICH)
    await grant(flow, 0)
    await send(flow, "poor", POOR, partition=0)
    await send(flow, "rich", RICH, partition=1)
    async with LLMSimulator() as simulator:
        with_llm = flow.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
        async with serving(with_llm, ["extraction"]):
            async with asyncio.timeout(DEADLINE_S):
                while (so_far := await extracted(flow)) != rich:
                    assert set(so_far) <= set(rich)
            assert len(simulator.requests) == len(RICH)
            await grant(flow, None)
            await caught_up(flow, ["extraction"])
        assert await extracted(flow) == poor + rich
        assert len(simulator.requests) == len(POOR) + len(RICH)


async def test_parked_windows_outlive_killed_workers(flow: Settings) -> None:
    poor = {f"poor {number}" for number in range(FLOOD)}
    rich = {f"rich {number}" for number in range(0, FLOOD, FLOOD // OTHERS)}
    await grant(flow, 0)
    await send_flood(flow)
    async with LLMSimulator() as simulator, asyncio.timeout(LONGEST_S):
        settings = flow.model_copy(
            update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated"), "delivery": DeliverySettings()}
        )
        async with worker_process(settings):
            await some_parked(settings)
        async with worker_process(settings):
            await committed(settings, parked=FLOOD)
            others = await extracted(settings)
            assert set(others) == rich
            assert others.total() - len(rich) <= 16, "only records in progress at the kill are repeated"
            calls = len(simulator.requests)
        await grant(flow, None)
        async with worker_process(settings):
            await more_extracted(settings, len(rich) + FLOOD // 4)
        async with worker_process(settings):
            await committed(settings, parked=0)
        found = await extracted(settings)
        assert found - others == Counter(poor), "each once, whenever a worker was killed"
        assert len(simulator.requests) - calls - FLOOD <= settings.llm.concurrency
    records = await records_of(flow, "extractions")
    assert_sessions_in_order(records, "poor")
    assert_sessions_in_order(records, "rich")


async def test_a_flood_longer_than_the_span_hides_no_tenant(flow: Settings) -> None:
    flood = [window_record(flow, "poor", number, sessions=SESSIONS, partition=0) for number in range(FLOOD)]
    later = [window_record(flow, "rich", number, sessions=SESSIONS, partition=0) for number in RICH]
    rich = {f"rich {number}" for number in RICH}
    async with Producer(kafka=flow.kafka) as producer:
        await producer.send_many([*flood, *later])
    async with LLMSimulator(profile=Profile(first_token_s=0.5)) as simulator, asyncio.timeout(LONGEST_S):
        llm = LLMSettings(base_url=simulator.base_url, model="simulated")
        settings = flow.model_copy(update={"llm": llm, "delivery": DeliverySettings(max_unacked_span=FLOOD // 5, batch_interval_s=0.0)})
        async with worker_process(settings):
            while not rich <= (so_far := await extracted(settings)).keys():  # noqa: ASYNC110 - Kafka is polled
                await asyncio.sleep(POLL_S)
            assert so_far.total() - len(rich) < FLOOD // 2, "they were served during the flood, not after it"
        async with worker_process(settings):
            await committed(settings, parked=0)
        assert set(await extracted(settings)) == rich | {f"poor {number}" for number in range(FLOOD)}
        assert len(simulator.requests) - FLOOD - len(rich) <= settings.llm.concurrency
    assert_sessions_in_order(await records_of(flow, "extractions"), "poor")
