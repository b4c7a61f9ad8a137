"""Foreign records that came in compressed, and fit no topic as they are: dead-lettered whole, and nothing stops for them."""

import asyncio
import random
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from aiokafka import AIOKafkaProducer

from memory.keys import encode_key
from memory.records import Message
from runtime.clocks import SystemClock
from runtime.dead_letters import DeadLetterBox, DeadLetterSelection, RedriveResult
from runtime.kafka import OutgoingRecord, Producer, client_options
from runtime.settings import Settings
from runtime.tracing import Headers
from streams.engine.records import ConsumedRecord
from streams.errors import PoisonRecordError
from tests.control_log import add_tenant
from tests.streams.flow import TENANT, NewFlow, keyed_worker, serving
from tests.streams.message_ledger import MessageLedger, committed_reaches, end_of, records_of, stage_done

pytestmark = pytest.mark.integration

GIANT_BYTES = 10_000_000
KEY = encode_key(TENANT, "s0")
MIXED = random.Random(12).randbytes(3_000_000) + bytes(7_000_000)
"""Compressed it passes the broker, and is still larger than one piece of a letter."""


@dataclass(frozen=True)
class Giant:
    """A record that only compression brought in, and why its stage refuses it."""

    reason: str
    key: bytes | None
    value: bytes
    headers: Headers = ()


def a_message(tenant: str = TENANT, *, text: str = "hello") -> bytes:
    said_at = datetime(2024, 5, 1, tzinfo=UTC)
    return Message(tenant=tenant, user="ada", session="s0", id="giant", text=text, event_time=said_at).to_json()


GIANTS = [
    Giant("too_large", KEY, a_message(text="a" * GIANT_BYTES)),
    Giant("unknown_tenant", encode_key("late", "s0"), a_message("late"), (("note", MIXED), ("note", b""))),
    Giant("malformed", b"k" * GIANT_BYTES, b"not json at all", (("mine", b"\x00\xff"),)),
]


@pytest.fixture
async def settings(new_flow: NewFlow) -> Settings:
    return await new_flow()


async def test_oversized_ordered_records_are_dead_lettered_completely(settings: Settings) -> None:
    ledger = MessageLedger(settings)
    for giant in GIANTS:
        await ledger.send([ledger.message(TENANT, f"s{number}") for number in range(4)])
        await _send_compressed(settings, "messages", giant, partition=0)
    await ledger.send([*(ledger.message(TENANT, f"s{number}") for number in range(4)), *ledger.flush(TENANT)])
    async with serving(settings, ["sessions"]):
        await stage_done(settings, "sessions")
        await ledger.assert_exact()
        await _assert_dead_lettered(settings, GIANTS)

        # The reason of one has passed, another stays what it is.
        await add_tenant(settings, "late", schema="companion")
        result = await _redrive(settings, DeadLetterSelection(reason="unknown_tenant"))
        assert (result.redriven, result.refused) == (1, ())
        refused = await _redrive(settings, DeadLetterSelection(reason="too_large"))
        assert refused.redriven == 0
        assert "limit" in refused.refused[0]
        await stage_done(settings, "sessions")
        await ledger.send(ledger.flush("late", "s0"))
        await stage_done(settings, "sessions")
    (window,) = (await ledger.windows())["late", "s0"]
    assert [message.id for message in window.messages] == ["giant"]


class RefusesGiants:
    """Answers small records, and refuses the others."""

    def __init__(self, topic: str) -> None:
        self.topic = topic

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        if record.value != b"good":
            raise PoisonRecordError("malformed", "a giant")
        return [OutgoingRecord(self.topic, record.key, b"answer")]


async def test_oversized_keyed_records_are_dead_lettered_completely(settings: Settings) -> None:
    giants = [Giant("malformed", giant.key, giant.value, giant.headers) for giant in GIANTS]
    good = Giant("", KEY, b"good")
    for giant in giants:
        await _send_compressed(settings, "windows", good, partition=0)
        await _send_compressed(settings, "windows", giant, partition=0)
    await _send_compressed(settings, "windows", good, partition=0)
    worker = keyed_worker(settings, RefusesGiants(settings.topic("extractions")), max_span=100)
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as running:
        running.create_task(worker.run(stop))
        await committed_reaches(settings, "extraction", await end_of(settings, settings.topic("windows")))
        stop.set()
    assert len(await records_of(settings, "extractions")) == len(giants) + 1
    await _assert_dead_lettered(settings, giants)


async def _assert_dead_lettered(settings: Settings, giants: list[Giant]) -> None:
    """One letter of each, which gives back the key, value and headers that came in."""
    async with Producer(kafka=settings.kafka) as producer:
        box = DeadLetterBox(settings=settings, producer=producer, clock=SystemClock())
        letters = await box.letters(DeadLetterSelection())
        assert sorted(letter.metadata.reason for letter in letters) == sorted(giant.reason for giant in giants)
        opened = [await box.open(letter.position) for letter in letters]
    found = {(each.letter.metadata.reason, each.key, each.value, each.headers) for each in opened}
    assert found == {(giant.reason, giant.key, giant.value, tuple(giant.headers)) for giant in giants}, "not as they came in"
    assert {letter.size for letter in letters} == {len(giant.value) for giant in giants}


async def _redrive(settings: Settings, selection: DeadLetterSelection) -> RedriveResult:
    async with Producer(kafka=settings.kafka) as producer:
        return await DeadLetterBox(settings=settings, producer=producer, clock=SystemClock()).redrive(selection)


async def _send_compressed(settings: Settings, topic: str, giant: Giant, *, partition: int) -> None:
    producer = AIOKafkaProducer(**client_options(settings.kafka), compression_type="gzip", max_request_size=3 * GIANT_BYTES)
    await producer.start()
    try:
        await producer.send_and_wait(
            settings.topic(topic), key=giant.key, value=giant.value, partition=partition, headers=list(giant.headers)
        )
    finally:
        await producer.stop()
