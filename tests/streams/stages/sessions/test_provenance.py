"""The producers whose records the sessions stage accepts, once it has a master secret."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from control.message_signing import SigningKey, SigningPolicy
from memory.headers import COMMAND, KIND, ORIGIN
from memory.keys import encode_key, partition_of
from memory.records import DeadLetterMetadata, Message, SessionCommand, Window
from memory.signatures import SIGNATURE, sign
from runtime.dead_letters.metadata import Content, redriven_record
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.seals import SEAL, Basis, Keyring
from runtime.settings import KafkaSettings, SigningSettings
from runtime.tracing import Headers
from streams.engine.records import FORWARDED, ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from tests.control_log import known_tenants
from tests.streams.harness import APPENDED_AT, PartitionHarness, delivered, plain_settings

SECRET = "s" * 32
KEYRING = Keyring([SECRET])
PARTITIONS = 4
KEY = encode_key("acme", "s1")
HOME = partition_of(KEY, PARTITIONS)
NOW_MS = int(APPENDED_AT.timestamp() * 1000)
MAX_AGE_S = 900
FLUSH = SessionCommand(command="flush", tenant="acme", session="s1").to_json()

DEMANDS = SigningPolicy(required_since=APPENDED_AT - timedelta(days=1), keys=(SigningKey(id="k1"),))

Assign = Callable[..., PartitionHarness]


@pytest.fixture
def assign(tmp_path: Path) -> Assign:
    """Assigns the session's partition to a new handler; ``acme`` demands what the policy says."""

    def new(policy: SigningPolicy = DEMANDS, *, partition: int = HOME, **signing: object) -> PartitionHarness:
        chosen = SigningSettings.model_validate({"secret": SecretStr(SECRET), "max_age_s": MAX_AGE_S, **signing})
        settings = plain_settings(tmp_path, kafka=KafkaSettings(partitions=PARTITIONS), signing=chosen)
        tenants = known_tenants({"acme": "companion"}, signing=policy)
        handler = SessionsHandler(partition=partition, settings=settings, tenants=tenants, tail=None, metrics=Metrics())
        return PartitionHarness(handler, SessionCodec(), partition=partition)

    return new


def message(id: str | None = "m1", tenant: str = "acme") -> bytes:
    said_at = datetime(2024, 5, 1, tzinfo=UTC)
    return Message(tenant=tenant, user="ada", session="s1", id=id, text="hello", event_time=said_at).to_json()


def signed(value: bytes, *, tenant: str = "acme", key_id: str = "k1", at_ms: int = NOW_MS) -> Headers:
    return (sign(value, key_id=key_id, key=KEYRING.message_key(tenant, key_id), now_ms=at_ms),)


def sealed(value: bytes | None, headers: Headers = (), *, key: bytes = KEY, at_ms: int = NOW_MS, basis: Basis = "own") -> Headers:
    return KEYRING.sealed(OutgoingRecord("varve.messages", key, value, headers), now_ms=at_ms, basis=basis).headers


def record(
    value: bytes | None, headers: Headers = (), *, offset: int = 0, at: datetime = APPENDED_AT, partition: int = HOME
) -> ConsumedRecord:
    return delivered("messages", offset, KEY, value, headers=headers, partition=partition, appended_at=at)


def reasons(batch: Batch) -> list[str]:
    return [rejection.reason for rejection in batch.rejections]


def ids_in(stage: PartitionHarness) -> list[str]:
    state = stage.state.get(KEY)
    return [] if state is None else state.ids


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ((), "unsigned"),
        (signed(message()), None),
        (sealed(message()), None),
        (signed(message(), key_id="k2"), "bad_signature"),
        (signed(message(), tenant="globex"), "bad_signature"),
        (signed(message("m2")), "bad_signature"),
        (signed(message(), at_ms=NOW_MS - MAX_AGE_S * 1000), None),
        (signed(message(), at_ms=NOW_MS - MAX_AGE_S * 1000 - 1), "bad_signature"),
        (signed(message(), at_ms=NOW_MS + MAX_AGE_S * 1000 + 1), "bad_signature"),
        (((SIGNATURE, b"v1:k1"),), "bad_signature"),
        ((*signed(message()), (SIGNATURE, b"")), "bad_signature"),
        (sealed(message("m2")), "forged_header"),
        (sealed(message(), at_ms=NOW_MS - MAX_AGE_S * 1000 - 1), "forged_header"),
        ((*signed(message()), (KIND, COMMAND)), "forged_header"),
        ((*signed(message()), (ORIGIN, b"varve.messages/0/0")), "forged_header"),
        ((*signed(message()), (FORWARDED, b"1")), "forged_header"),
        ((*signed(message()), ("varve-dlq-stage", b"index")), "forged_header"),
        ((*signed(message()), (SEAL, b"v1:own:1:-:" + b"0" * 64)), "forged_header"),
    ],
)
async def test_a_tenant_that_demands_signatures_gets_them(assign: Assign, headers: Headers, refused: str | None) -> None:
    stage = assign()
    batch = await stage.process([record(message(), headers)])
    assert reasons(batch) == ([refused] if refused else [])
    assert ids_in(stage) == ([] if refused else ["m1"])


async def test_a_signed_message_needs_an_id(assign: Assign) -> None:
    value = message(id=None)
    batch = await assign().process([record(value, signed(value))])
    assert reasons(batch) == ["bad_signature"]
    assert "id" in batch.rejections[0].detail


@pytest.mark.parametrize(
    ("headers", "refused"),
    [((), None), (signed(message()), None), (signed(message("m2")), "bad_signature"), (((KIND, COMMAND),), "forged_header")],
)
async def test_where_signatures_are_optional_wrong_ones_are_refused(assign: Assign, headers: Headers, refused: str | None) -> None:
    stage = assign(SigningPolicy(keys=(SigningKey(id="k1"),)))
    batch = await stage.process([record(message(), headers)])
    assert reasons(batch) == ([refused] if refused else [])


async def test_demands_and_keys_count_by_the_logs_time(assign: Assign) -> None:
    policy = SigningPolicy(required_since=APPENDED_AT, keys=(SigningKey(id="k1", until=APPENDED_AT), SigningKey(id="k2")))
    stage = assign(policy)
    before = APPENDED_AT - timedelta(seconds=1)
    batch = await stage.process(
        [
            record(message("m1"), offset=0, at=before),
            record(message("m2"), signed(message("m2")), offset=1, at=before),
            record(message("m3"), offset=2),
            record(message("m4"), signed(message("m4")), offset=3),
            record(message("m5"), signed(message("m5"), key_id="k2"), offset=4),
        ]
    )
    assert reasons(batch) == ["unsigned", "bad_signature"]
    assert ids_in(stage) == ["m1", "m2", "m5"]


async def test_only_a_sealed_flush_closes_a_window(assign: Assign) -> None:
    stage = assign()
    forged = ((KIND, COMMAND),)
    batch = await stage.process([record(message(), signed(message())), record(FLUSH, forged, offset=1)])
    assert reasons(batch) == ["forged_header"]
    assert batch.outputs == []
    batch = await stage.process([record(FLUSH, sealed(FLUSH, forged), offset=2)])
    assert [Window.from_json(output.value or b"").closed_by for output in batch.outputs] == ["flush"]


async def test_a_forwarded_record_is_trusted_only_at_home(assign: Assign) -> None:
    elsewhere = (HOME + 1) % PARTITIONS
    away = assign(partition=elsewhere)
    batch = await away.process([record(message(), signed(message()), partition=elsewhere)])
    (forwarded,) = batch.outputs
    # The seal has this machine's time.
    now = datetime.now(UTC)
    at_home = ConsumedRecord(forwarded.topic, HOME, 5, forwarded.key, forwarded.value, forwarded.headers, now.timestamp())
    home = assign()
    assert reasons(await home.process([at_home])) == []
    assert ids_in(home) == ["m1"]
    copied = replace(at_home, partition=elsewhere, offset=6)
    assert reasons(await away.process([copied])) == ["forged_header"]


MUCH_LATER = datetime.now(UTC) + timedelta(days=3650)


def appended(timer: OutgoingRecord, at: datetime) -> ConsumedRecord:
    return ConsumedRecord(timer.topic, HOME, 1, timer.key, timer.value, timer.headers, at.timestamp())


async def test_timers_are_sealed(assign: Assign) -> None:
    stage = assign()
    await stage.process([record(message(), signed(message()))])
    (timer,) = stage.handler.due(MUCH_LATER)
    batch = await stage.process([appended(timer, datetime.now(UTC))])
    assert reasons(batch) == []
    assert len(batch.outputs) == 1


async def test_a_refused_timer_is_sent_again(assign: Assign) -> None:
    """The machine's clock was wrong when the command was sealed; it is set right meanwhile."""
    stage = assign()
    await stage.process([record(message(), signed(message()))])
    (timer,) = stage.handler.due(MUCH_LATER)
    assert reasons(await stage.process([appended(timer, datetime.now(UTC) + timedelta(days=365))])) == ["forged_header"]
    assert len(stage.handler.due(MUCH_LATER)) == 1


LETTER = DeadLetterMetadata(
    topic="varve.messages",
    partition=HOME,
    offset=3,
    stage="sessions",
    reason="unknown_tenant",
    detail="",
    tries=1,
    first_time=APPENDED_AT,
    last_time=APPENDED_AT,
)
LATER = APPENDED_AT + timedelta(days=2)
FORGED: Headers = ((KIND, COMMAND), (FORWARDED, b"1"), (ORIGIN, b"varve.messages/0/0"))


@pytest.mark.parametrize(
    ("reason", "headers", "refused"),
    [
        ("unknown_tenant", signed(message()), None),
        ("unknown_tenant", sealed(message()), None),
        ("unknown_tenant", (), "unsigned"),
        ("unknown_tenant", (*signed(message()), *FORGED), None),
        ("unsigned", (), "unsigned"),
        ("bad_signature", signed(message(), tenant="globex"), "bad_signature"),
        ("bad_signature", signed(message()), "bad_signature"),
        ("forged_header", FORGED, "unsigned"),
        ("forged_header", sealed(message()), "unsigned"),
    ],
)
async def test_a_redrive_proves_nothing(assign: Assign, reason: str, headers: Headers, refused: str | None) -> None:
    content = Content(KEY, message(), headers)
    driven = redriven_record(content, LETTER.model_copy(update={"reason": reason}), keyring=KEYRING, now=LATER)
    stage = assign()
    batch = await stage.process([record(driven.value, driven.headers, offset=9, at=LATER)])
    assert reasons(batch) == ([refused] if refused else [])
    assert batch.outputs == []
    assert dict(driven.headers)[ORIGIN] == f"varve.messages/{HOME}/3".encode()
    again = redriven_record(Content(KEY, message(), driven.headers), LETTER, keyring=KEYRING, now=LATER)
    assert dict(again.headers)[ORIGIN] == dict(driven.headers)[ORIGIN], "its identity is that of its first place"


@pytest.mark.parametrize(
    ("reason", "headers"),
    [
        ("unsigned", ()),
        ("bad_signature", signed(message(), tenant="globex")),
        ("forged_header", FORGED),
        ("forged_header", sealed(message())),
    ],
)
async def test_an_operator_may_vouch_for_a_message(assign: Assign, reason: str, headers: Headers) -> None:
    letter = LETTER.model_copy(update={"reason": reason})
    driven = redriven_record(Content(KEY, message(), headers), letter, keyring=KEYRING, now=LATER, is_vouched=True)
    stage = assign()
    batch = await stage.process([record(driven.value, driven.headers, offset=9, at=LATER)])
    assert (reasons(batch), ids_in(stage)) == ([], ["m1"])
    assert dict(driven.headers)[ORIGIN] == f"varve.messages/{HOME}/3".encode(), "a forged place is left out"


async def test_an_approved_command_needs_its_own_seal(assign: Assign) -> None:
    letter = LETTER.model_copy(update={"reason": "forged_header"})
    stage = assign()
    await stage.process([record(message(), signed(message()))])
    command = ((KIND, COMMAND),)
    for offset, (headers, refused) in enumerate([(command, ["malformed"]), (sealed(FLUSH, command), [])], start=1):
        driven = redriven_record(Content(KEY, FLUSH, headers), letter, keyring=KEYRING, now=LATER, is_vouched=True)
        batch = await stage.process([record(driven.value, driven.headers, offset=offset, at=LATER)])
        assert reasons(batch) == refused


async def test_without_a_secret_required_signatures_cannot_be_verified(assign: Assign) -> None:
    stage = assign(secret=None)
    batch = await stage.process([record(message(), signed(message())), record(message("m2"), offset=1)])
    assert reasons(batch) == ["bad_signature", "unsigned"]
    assert "VARVE_SIGNING__SECRET" in batch.rejections[0].detail


async def test_before_the_secret_was_given_records_are_believed(assign: Assign) -> None:
    stage = assign(since=APPENDED_AT)
    before = APPENDED_AT - timedelta(seconds=1)
    batch = await stage.process([record(message(), at=before), record(FLUSH, ((KIND, COMMAND),), offset=1, at=before)])
    assert reasons(batch) == []
    assert len(batch.outputs) == 1
    assert reasons(await stage.process([record(FLUSH, ((KIND, COMMAND),), offset=2)])) == ["forged_header"]
