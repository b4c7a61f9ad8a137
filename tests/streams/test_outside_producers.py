"""A producer without the query service, and a tenant that requires signatures. On a real broker."""

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from control.tenant_changes import change_signing
from memory.headers import COMMAND, KIND, ORIGIN
from memory.keys import encode_key, partition_of
from memory.signatures import sign
from runtime.clocks import SystemClock
from runtime.dead_letters import DeadLetterBox, DeadLetterSelection
from runtime.kafka import OutgoingRecord, Producer
from runtime.seals import Keyring
from runtime.settings import SessionSettings, Settings, SigningSettings
from runtime.tracing import Headers
from streams.engine.records import FORWARDED
from tests.api import running_service
from tests.control_log import add_key, add_tenant, write
from tests.streams.flow import TENANT, NewFlow, serving
from tests.streams.message_ledger import MessageLedger, foreign_partition, records_of, stage_done

pytestmark = pytest.mark.integration

SIGNING = SigningSettings(secret=SecretStr("s" * 32))
KEYRING = Keyring(["s" * 32])
OTHER = "globex"


@pytest.fixture
async def flow(new_flow: NewFlow) -> Settings:
    """A flow with a master secret, and a tenant that demands signatures from now on."""
    sessions = SessionSettings(message_count=4, message_cap=6, idle_partition_s=86400.0)
    settings = await new_flow({TENANT: "companion", OTHER: "companion"}, sessions=sessions, signing=SIGNING)
    await write(settings, lambda draft: change_signing(draft, TENANT, now=datetime.now(UTC), required=True, add="k1"))
    return settings


@pytest.fixture
async def stage(flow: Settings) -> AsyncIterator[MessageLedger]:
    """The sessions stage runs; its windows are read here."""
    async with serving(flow, ["sessions"]):
        yield MessageLedger(flow)


def signed(value: bytes | None, tenant: str = TENANT) -> Headers:
    return (sign(value or b"", key_id="k1", key=KEYRING.message_key(tenant, "k1"), now_ms=int(time.time() * 1000)),)


def with_headers(record: OutgoingRecord, headers: Headers, **changes: object) -> OutgoingRecord:
    values = {"key": record.key, "value": record.value, "partition": record.partition, **changes}
    return OutgoingRecord(topic=record.topic, headers=headers, **values)  # type: ignore[arg-type]


async def letters(settings: Settings) -> list[str]:
    async with Producer(kafka=settings.kafka) as producer:
        box = DeadLetterBox(settings=settings, producer=producer, clock=SystemClock())
        return sorted(letter.metadata.reason for letter in await box.letters(DeadLetterSelection()))


async def redrive(settings: Settings, *, is_vouched: bool = False) -> int:
    async with Producer(kafka=settings.kafka) as producer:
        box = DeadLetterBox(settings=settings, producer=producer, clock=SystemClock())
        return (await box.redrive(DeadLetterSelection(), is_vouched=is_vouched)).redriven


async def test_a_raw_producer_plants_and_flushes_nothing(flow: Settings, stage: MessageLedger) -> None:
    key = encode_key(TENANT, "s1")
    service_app = running_service.serving(flow)
    planted = MessageLedger(flow).message(TENANT, "s1", id="planted")
    async with service_app as http:
        api_key = {"X-API-Key": await add_key(flow, TENANT)}
        posted = {"id": "posted", "user": "ada", "session": "s1", "text": "by the service", "event_time": "2024-05-01T00:00:00Z"}
        assert (await http.post("/v1/messages", json=posted, headers=api_key)).status_code == 200
        await stage.send(
            [
                planted,
                with_headers(planted, signed(planted.value, OTHER)),
                with_headers(planted, signed(b"something else")),
                *stage.flush(TENANT, "s1"),
                *stage.flush(TENANT),
                with_headers(planted, ((KIND, COMMAND),)),
                with_headers(planted, ((FORWARDED, b"1"),), partition=foreign_partition(key, 2)),
                with_headers(planted, ((ORIGIN, b"varve.messages/0/0"),)),
            ]
        )
        await stage_done(flow, "sessions")
        assert await stage.windows() == {}
        refused = ["bad_signature"] * 2 + ["forged_header"] * 6 + ["unsigned"]
        assert await letters(flow) == refused
        # A redrive of everything changes nothing; headers that only Varve may set are removed.
        assert await redrive(flow) == len(refused)
        await stage_done(flow, "sessions")
        assert await stage.windows() == {}
        assert (await http.post("/v1/flush", json={"session": "s1"}, headers=api_key)).status_code == 200
        await stage_done(flow, "sessions")
    ((window,),) = (await stage.windows()).values()
    assert [message.text for message in window.messages] == ["by the service"]
    assert window.closed_by == "flush"


async def test_signed_messages_survive_misplacing_and_repetition(flow: Settings, stage: MessageLedger) -> None:
    key = encode_key(TENANT, "s1")
    elsewhere = foreign_partition(key, flow.kafka.partitions)
    records = []
    for number in range(4):
        record = stage.message(TENANT, "s1")
        place = {} if number % 2 else {"partition": elsewhere}
        records.append(with_headers(record, signed(record.value), **place))
    await stage.send(records)
    await stage_done(flow, "sessions")
    # The forwarded records follow.
    await stage_done(flow, "sessions")
    copies = [with_headers(record, tuple(record.headers)) for record in await records_of(flow, "messages")]
    await stage.send([with_headers(copy, copy.headers, partition=partition_of(key, flow.kafka.partitions)) for copy in copies])
    await stage_done(flow, "sessions")
    async with running_service.serving(flow) as http:
        api_key = {"X-API-Key": await add_key(flow, TENANT)}
        assert (await http.post("/v1/flush", headers=api_key)).status_code == 200
    await stage_done(flow, "sessions")
    found = [message.id for each in (await stage.windows()).values() for window in each for message in window.messages]
    assert sorted(str(each) for each in found) == sorted(stage.expected_ids[TENANT, "s1"])
    assert await letters(flow) == []


async def test_a_dead_letter_with_a_valid_signature_is_redriven(flow: Settings, stage: MessageLedger) -> None:
    record = stage.message("later", "s1")
    await stage.send([with_headers(record, signed(record.value, "later"))])
    await stage_done(flow, "sessions")
    assert await letters(flow) == ["unknown_tenant"]
    api_key = {"X-API-Key": await add_tenant(flow, "later", schema="companion")}
    since = datetime(2024, 1, 1, tzinfo=UTC)
    await write(flow, lambda draft: change_signing(draft, "later", now=since, required=True, add="k1"))
    assert await redrive(flow) == 1
    async with running_service.serving(flow) as http:
        await stage_done(flow, "sessions")
        assert (await http.post("/v1/flush", headers=api_key)).status_code == 200
    await stage_done(flow, "sessions")
    await stage.assert_exact()


async def test_dead_letters_approved_by_an_operator_are_accepted(flow: Settings, stage: MessageLedger) -> None:
    await stage.send([stage.message(TENANT, "s1") for _ in range(3)])
    await stage_done(flow, "sessions")
    assert await letters(flow) == ["unsigned"] * 3
    assert await redrive(flow, is_vouched=True) == 3
    await stage_done(flow, "sessions")
    assert await letters(flow) == []
    async with running_service.serving(flow) as http:
        api_key = {"X-API-Key": await add_key(flow, TENANT)}
        assert (await http.post("/v1/flush", headers=api_key)).status_code == 200
    await stage_done(flow, "sessions")
    await stage.assert_exact()
