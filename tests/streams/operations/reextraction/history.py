"""A history of windows on a real broker, and a re-extraction of it."""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final

from control import ControlWriter, Draft, read_control
from control.generations.reextraction_changes import ReextractionRequest
from control.reextraction import Reextraction, RunBudget
from memory.keys import encode_key
from memory.records import Extraction, Message, Window
from memory.schema import parse_schema
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.client import open_redis
from runtime.settings import Settings
from streams.operations.reextraction.estimate import estimate_reextraction
from streams.operations.reextraction.progress import Progress, read_progress
from streams.operations.reextraction.start import start
from tests.process_variables import process_variables
from tests.streams.message_ledger import records_of

NEW: Final = "v2"
BY: Final = "a test"
TENANT: Final = "acme"
NOTES: Final = parse_schema({"Name": "notes", "EventTypes": [{"EventType": "note", "Description": "A note.", "Properties": []}]})


def window_record(settings: Settings, number: int, *, tenant: str = TENANT, user: str = "ann") -> OutgoingRecord:
    """A window of one message; each has its own session."""
    fields = {"tenant": tenant, "user": user, "session": f"s{number}"}
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
            "first_offset": number,
            "last_offset": number,
        }
    )
    key = encode_key(tenant, user) + b"#w%d" % number
    return OutgoingRecord(settings.topic("windows"), key, window.to_json(), partition=number % settings.kafka.partitions)


async def send_windows(settings: Settings, numbers: range, *, tenant: str = TENANT, user: str = "ann") -> None:
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([window_record(settings, each, tenant=tenant, user=user) for each in numbers])


async def begin(settings: Settings, *tenants: str, budget: RunBudget | None = None, generation: str = NEW, **fields: Any) -> Reextraction:
    """Estimates and starts a re-extraction."""
    request = ReextractionRequest(tenants=tenants or (TENANT,), generation=generation, **fields)
    size = (await estimate_reextraction(settings, request)).total
    async with open_redis(settings.redis) as redis:
        written = await start(
            settings,
            request,
            writer=ControlWriter(settings=settings),
            redis=redis,
            estimate=size,
            budget=budget or RunBudget(),
            by=BY,
        )
    return written.result


async def progress_of(settings: Settings, generation: str = NEW, *, now: datetime | None = None) -> Progress:
    async with open_redis(settings.redis) as redis:
        return await read_progress(settings, Draft(await read_control(settings)), generation, redis=redis, now=now)


async def extracted(settings: Settings, generation: str = NEW) -> Counter[str]:
    """How often each window was extracted into a generation."""
    found: Counter[str] = Counter()
    for record in await records_of(settings, "extractions"):
        if record.value is not None and b'"window_id"' in record.value:
            read = Extraction.from_json(record.value)
            found[read.window_id] += read.generation == generation
    return +found


@asynccontextmanager
async def worker_process(settings: Settings) -> AsyncIterator[asyncio.subprocess.Process]:
    """A worker of the re-extraction in its own process, killed at the end if it has not ended."""
    environment = process_variables(settings)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "varve", "generations", "work", NEW), env=os.environ | environment | {"VARVE_METRICS_PORT": "0"}
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
