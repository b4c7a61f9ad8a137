"""Records that no stage can use, among good ones, on a real broker: untouched in the dead letters, and nothing stops for them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka import AIOKafkaProducer

from memory.keys import encode_key
from memory.records import MemoryChange, Message
from runtime.clocks import SystemClock
from runtime.dead_letters import DeadLetterBox, DeadLetterSelection, read_metadata, without_metadata
from runtime.kafka import OutgoingRecord, Producer, client_options
from runtime.settings import Settings
from tests.control_log import add_tenant
from tests.streams.agent_extractions import extraction
from tests.streams.flow import TENANT, NewFlow, serving
from tests.streams.message_ledger import MessageLedger, records_of, stage_done

pytestmark = pytest.mark.integration

HEADERS = [("traceparent", b"00-abc"), ("mine", b"\x00\xff"), ("mine", b"twice")]
CALLS = [("grep", 0)]


@dataclass(frozen=True)
class Poison:
    topic: str
    stage: str
    reason: str
    key: bytes | None
    value: bytes | None

    def as_dead_letter(self) -> tuple[str, str, str, bytes | None, bytes | None]:
        return self.topic, self.stage, self.reason, self.key, self.value


def a_message(tenant: str = TENANT, *, text: str = "hello", time: datetime | None = None) -> bytes:
    event_time = time or datetime(2024, 5, 1, tzinfo=UTC)
    return Message(tenant=tenant, user="ada", session="s0", id="bad", text=text, event_time=event_time).to_json()


KEY = encode_key(TENANT, "s0")
MESSAGES = [
    ("malformed", KEY, b"not json at all"),
    ("malformed", KEY, b""),
    ("malformed", KEY, None),
    ("malformed", b"\xff\x00/not-a-key", b'{"tenant": "\xff\xfe"}'),
    ("malformed", None, b"[1, 2"),
    ("malformed", KEY, a_message().replace(b'"role":"user"', b'"role":"ghost"')),
    ("unsupported_version", KEY, a_message().replace(b'"schema_version":"1.0"', b'"schema_version":"9.0"')),
    ("unknown_tenant", encode_key("late", "s0"), a_message("late")),
    ("too_large", KEY, a_message(text="x" * 1_500_000)),
    ("future_dated", KEY, a_message(time=datetime.now(UTC) + timedelta(days=400))),
]

UNKNOWN_REVISION = extraction(0, CALLS).model_copy(update={"schema_name": "agent_tools", "schema_revision": 9})


@pytest.fixture
async def settings(new_flow: NewFlow) -> Settings:
    return await new_flow({TENANT: "agent_tools"})


async def test_every_kind_of_poison_is_dead_lettered(settings: Settings) -> None:
    poison = [Poison("messages", "sessions", *each) for each in MESSAGES]
    poison += [
        Poison("extractions", "events", "unknown_schema", b"k1", UNKNOWN_REVISION.to_json()),
        Poison("extractions", "events", "malformed", b"k2", b"{}"),
        Poison("contributions", "entities", "malformed", b"k3", b"\xff"),
    ]
    ledger = MessageLedger(settings)
    # Each kind between good messages of the same partition.
    for each in poison:
        await ledger.send([ledger.message(TENANT, "s0")])
        await _send_raw(settings, each)
    await ledger.send([ledger.message(TENANT, "s0"), *ledger.flush(TENANT)])
    good = extraction(1, CALLS)
    await ledger.send([OutgoingRecord(topic=settings.topic("extractions"), key=b"k1", value=good.to_json(), partition=0)])

    async with serving(settings, ["sessions", "events", "entities"]):
        for stage in ("sessions", "events", "entities"):
            await stage_done(settings, stage)
        await ledger.assert_exact()
        found = []
        for record in await records_of(settings, "dead-letters"):
            metadata = read_metadata(record.headers)
            assert metadata is not None
            assert list(without_metadata(record.headers)) == HEADERS
            assert metadata.detail
            topic = metadata.topic.removeprefix(settings.kafka.topic_prefix)
            found.append((topic, metadata.stage, metadata.reason, record.key, record.value))
        assert sorted(found, key=repr) == sorted((each.as_dead_letter() for each in poison), key=repr)
        changes = [(record.key, MemoryChange.from_json(record.value or b"")) for record in await records_of(settings, "memories")]
        memories = {key for key, change in changes if change.op == "upsert"}
        assert encode_key(TENANT, good.events[0].id) in memories
        assert len(memories) == 1 + len({each.key for each in await records_of(settings, "contributions")} - {b"k3"})

        # The reason of a rejection has passed: redriving is now accepted, and twice is harmless.
        await add_tenant(settings, "late", schema="agent_tools")
        async with Producer(kafka=settings.kafka) as producer:
            box = DeadLetterBox(settings=settings, producer=producer, clock=SystemClock())
            for selection in (
                DeadLetterSelection(reason="unknown_tenant"),
                DeadLetterSelection(reason="unknown_tenant", states=frozenset({"redriven"})),
            ):
                assert (await box.redrive(selection)).redriven == 1
        await stage_done(settings, "sessions")
        await ledger.send(ledger.flush("late", "s0"))
        await stage_done(settings, "sessions")
    (window,) = (await ledger.windows())["late", "s0"]
    assert [message.id for message in window.messages] == ["bad"]


async def _send_raw(settings: Settings, poison: Poison) -> None:
    producer = AIOKafkaProducer(**client_options(settings.kafka), max_request_size=4_000_000)
    await producer.start()
    try:
        await producer.send_and_wait(settings.topic(poison.topic), key=poison.key, value=poison.value, partition=0, headers=HEADERS)
    finally:
        await producer.stop()
