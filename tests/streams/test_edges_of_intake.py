"""Every stage can process the records that intake accepts; the sessions stage gives those that it refuses a dead letter with a reason."""

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from hypothesis import example, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from api.writes.ingestion import parse_message
from control.tenants import TenantDirectory
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.errors import RecordError
from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.messages.message_preparation import MessageSettings
from memory.records import MemoryChange, SessionCommand, Window
from memory.records.limits import MAX_NESTING, WINDOW_HEAD_BYTES, check_message_size
from memory.schema import scenario
from runtime.clocks import SystemClock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, Settings
from stores.filters import iso_time
from streams.engine.records import ConsumedRecord
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from tests.control_log import known_tenants
from tests.extraction.embedders import CountingEmbedder
from tests.streams.harness import APPENDED_AT, PartitionHarness, delivered, plain_settings

TENANT: Final = "acme"
SCHEMA: Final = "companion"
CLEAR_REASONS: Final = {"malformed", "too_large", "unsupported_version", "future_dated"}
Environment = tuple[Settings, TenantDirectory]

EDGE_TIMES = st.sampled_from(
    [
        *("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "0001-12-31T23:59:59-23:59", "0999-12-31T23:59:59.999999Z"),
        *("1000-01-01T00:00:00Z", "1000-01-01T00:00:00+14:00", "1000-01-01T13:59:59+14:00", "1971-01-01T14:00:00+14:00"),
        *("1969-12-31T23:59:59.999Z", "2016-12-31T23:59:60Z", "2024-02-30T00:00:00Z", "9999-12-31T23:59:59-14:00"),
        *("1", "", "2024-01-01", "2024-01-01T00:00:00+99:99", -1, -62135596800, 1e20, -1e308, 10**400, 1700000000000, True, []),
    ]
)
NAMES = st.one_of(
    st.sampled_from(["\0", "a\nb", "..", "../../etc", " ", "\u202eabc", "%2F%00", "}{*", "\x1b[31m", "z" * 256, "😀" * 256, "z" * 257, ""]),
    st.text(max_size=20),
)
NUMBERS = st.sampled_from([2**53, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**300, 10**5000, 1e308, 5e-324, -0.0, float("nan")])
SENTENCES = st.sampled_from(
    [
        *("I moved to Rome 999 years ago.", "In 999 years I will live in Oslo.", "I was born in 0001-01-01.", "See you on 9999-12-31."),
        *("Last winter my brother bought a boat.", "The day before yesterday I ran.", "\ud800", "a\0\x1b[31mb\u2028", "", "😀" * 300),
    ]
)


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


DEPTHS = st.sampled_from([1, MAX_NESTING - 1, MAX_NESTING, MAX_NESTING + 1, 252, 260, 900]).map(nested)
BODIES = st.fixed_dictionaries(
    {"user": NAMES, "session": NAMES, "text": SENTENCES | st.text(max_size=30)},
    optional={
        "id": NAMES | st.none(),
        "event_time": EDGE_TIMES,
        "speaker": NAMES | st.none(),
        "role": st.sampled_from(["user", "assistant", "system", "tool", "robot"]),
        "schema_version": st.sampled_from(["1.0", "1.999999999", "2.0", "9" * 5000 + ".0", "٩.0", "1.", 1, None]),
        "metadata": st.dictionaries(st.text(max_size=5), NUMBERS | DEPTHS | st.text(max_size=5), max_size=2),
        "tool_call": st.fixed_dictionaries(
            {"name": NAMES},
            optional={"arguments": NUMBERS | DEPTHS, "result": DEPTHS | SENTENCES, "duration_ms": NUMBERS, "success": st.booleans()},
        ),
        "from_recall": st.booleans(),
    },
)


@pytest.fixture(scope="module")
def environment() -> Iterator[Environment]:
    with tempfile.TemporaryDirectory() as folder:
        settings = plain_settings(Path(folder), kafka=KafkaSettings(partitions=1, max_record_bytes=WINDOW_HEAD_BYTES + 20_000))
        yield settings, known_tenants({TENANT: SCHEMA})


@given(BODIES)
@example({"user": "u", "session": "s", "text": "x", "event_time": "1000-01-01T14:00:00+14:00"})
@example({"user": "u", "session": "s", "text": "I moved to Rome 1970 years ago.", "event_time": "1971-06-01T00:00:00Z"})
@example({"user": "u", "session": "s", "text": "y" * 19_700})
@example({"user": "😀" * 256, "session": "\0" * 256, "id": "\0" * 256, "text": "y" * 17_000})
@examples(max_examples=150, deadline=None)
async def test_accepted_messages_are_processed_by_every_stage(environment: Environment, body: dict[str, Any]) -> None:
    settings, _ = environment
    try:
        message = parse_message(body, tenant=TENANT, now=APPENDED_AT, max_future=timedelta(minutes=5), new_id="new")
        raw = message.to_json()
        check_message_size(raw, settings.kafka.max_record_bytes)
    except RecordError:
        return
    key = encode_key(TENANT, message.session)
    window = (await windows_of(environment, [delivered("messages", 0, key, raw)], session=message.session))[0]
    await extract_and_index(environment, window)


@given(
    st.lists(BODIES.map(lambda body: {**body, "tenant": TENANT, "event_time": body.get("event_time", "2024-05-01T00:00:00Z")}), max_size=4)
)
@examples(max_examples=150, deadline=None)
async def test_a_foreign_producers_message_is_processed_or_refused(environment: Environment, bodies: list[dict[str, Any]]) -> None:
    values = [orjson.dumps(body) for body in bodies if is_json(body)]
    keys = [encode_key(TENANT, body["session"] or "-") for body in bodies if is_json(body)]
    await windows_of(environment, [delivered("messages", index, *each) for index, each in enumerate(zip(keys, values, strict=True))])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (b'"event_time":"0001-01-01T00:00:00+14:00"', "malformed"),
        (b'"event_time":"9999-12-31T23:59:59-14:00"', "malformed"),
        (b'"event_time":"2024-05-01T00:00:00Z","schema_version":"%s.0"' % (b"9" * 5000), "malformed"),
        (b'"event_time":"2024-05-01T00:00:00Z","metadata":{"n":%s}' % (b"9" * 5000), "malformed"),
        (b'"event_time":"2024-05-01T00:00:00Z","metadata":{"n":%s}' % (b"[" * 200 + b"]" * 200), "malformed"),
        (b'"event_time":"2024-05-01T00:00:00Z","text":"%s"' % (b"y" * 20_000), "too_large"),
        # Without an id a message is written again, and its numbers may then take more bytes.
        (b'"event_time":"2024-05-01T00:00:00Z","text":"y","metadata":{"n":[%s]}' % b",".join([b"1E9"] * 4_000), "too_large"),
    ],
)
async def test_a_dead_letter_states_the_reason(environment: Environment, fields: bytes, reason: str) -> None:
    value = b'{"tenant":"acme","user":"u","session":"s",%s}' % fields
    stage = sessions_stage(environment)
    batch = await stage.process([delivered("messages", 0, encode_key(TENANT, "s"), value)])
    assert [each.reason for each in batch.rejections] == [reason]


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        (b'"Text":"My sister is called Lene."', "Text: unknown, write what was said into text"),
        (b'"content":{"body":"Hi"}', "content.type: give the type of the part"),
        (b'"content":[{"type":"text","text":7}]', "content.0.text: give a string, not a number"),
        (b'"metadata":{}', "text: a message needs text (or content) or a tool call"),
        (b'"text":"Hi","event_time":0', "event_time: 1970-01-01T00:00:00+00:00 is before 1971"),
        (b'"text":"Hi","time_zone":"Mars"', "time_zone: 'Mars' is not the IANA name of a time zone"),
    ],
)
async def test_a_dead_letter_names_the_invalid_field(environment: Environment, fields: bytes, detail: str) -> None:
    value = b'{"tenant":"acme","user":"u","session":"s","event_time":"2024-05-01T00:00:00Z",%s}' % fields
    batch = await sessions_stage(environment).process([delivered("messages", 0, encode_key(TENANT, "s"), value)])
    ((reason, found),) = [(each.reason, each.detail) for each in batch.rejections]
    assert reason == "malformed"
    assert detail in found


async def test_an_unknown_command_is_named(environment: Environment) -> None:
    value = b'{"command":"erase","tenant":"acme","user":"u","session":"s","id":"m1"}'
    batch = await sessions_stage(environment).process([delivered("messages", 0, encode_key(TENANT, "s"), value)])
    ((reason, found),) = [(each.reason, each.detail) for each in batch.rejections]
    assert reason == "malformed"
    assert "command: Input should be 'edit', 'delete'" in found


async def test_a_message_may_have_a_command_of_its_producer(environment: Environment) -> None:
    value = b'{"command":"erase","tenant":"acme","user":"u","session":"s","event_time":"2024-05-01T00:00:00Z","text":"Hi"}'
    batch = await sessions_stage(environment).process([delivered("messages", 0, encode_key(TENANT, "s"), value)])
    assert not batch.rejections


async def test_windows_have_messages_of_other_apis_prepared() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = plain_settings(Path(folder), kafka=KafkaSettings(partitions=1))
        tenants = known_tenants({TENANT: SCHEMA}, messages=MessageSettings(time_zone="Australia/Brisbane", unescape=("html",)))
        value = orjson.dumps(
            {
                "tenant": TENANT,
                "user": "ann",
                "session": "s",
                "event_time": "2024-05-12T21:30:00Z",
                "role": "user",
                "content": [{"type": "text", "text": "I&#39;m in <b>Bergen</b>."}, {"type": "image_url", "image_url": {"url": "data:,"}}],
            }
        )
        (window,) = await windows_of((settings, tenants), [delivered("messages", 0, encode_key(TENANT, "s"), value)], session="s")
    (message,) = Window.from_json(window.value or b"").messages
    assert (message.text, message.event_time.isoformat()) == ("I'm in Bergen.\n[image]", "2024-05-13T07:30:00+10:00")


async def test_the_largest_message_fits_a_window(environment: Environment) -> None:
    name = "😀" * 256
    empty = {"tenant": TENANT, "user": name, "session": name, "id": name, "event_time": "2024-05-01T00:00:00Z", "text": ""}
    room = environment[0].kafka.max_record_bytes - WINDOW_HEAD_BYTES - len(orjson.dumps(empty))
    value = orjson.dumps({**empty, "text": "y" * room})
    (window,) = await windows_of(environment, [delivered("messages", 0, encode_key(TENANT, name), value)], session=name)
    assert len(window.value or b"") <= environment[0].kafka.max_record_bytes


def is_json(body: dict[str, Any]) -> bool:
    try:
        orjson.dumps(body)
        encode_key(body["session"] or "-")
    except (TypeError, RecordError):
        return False
    return True


def sessions_stage(environment: Environment) -> PartitionHarness:
    settings, tenants = environment
    return PartitionHarness(SessionsHandler(partition=0, settings=settings, tenants=tenants, tail=None, metrics=Metrics()), SessionCodec())


async def windows_of(environment: Environment, records: Sequence[ConsumedRecord], *, session: str | None = None) -> list[OutgoingRecord]:
    """The windows of the records and of a flush after them. No stage refuses a session that intake has accepted."""
    command = SessionCommand(command="flush", tenant=TENANT)
    flush = delivered("messages", len(records), encode_key(TENANT), command.to_json(), headers=((KIND, COMMAND),))
    stage = sessions_stage(environment)
    batch = await stage.process([*records, flush])
    assert {each.reason for each in batch.rejections} <= (CLEAR_REASONS if session is None else set())
    stage.handler.due(datetime.now(UTC))
    return [each for each in batch.outputs if each.topic == "varve.windows"]


async def extract_and_index(environment: Environment, window: OutgoingRecord) -> None:
    """Takes a window through extraction, events and entities, to what the index writes."""
    settings, tenants = environment
    read = Window.from_json(window.value or b"")
    extraction = await OfflineExtractor(embedder=CountingEmbedder()).extract(read, scenario(SCHEMA), ExtractionContext())
    events = PartitionHarness(EventsHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics()), LedgerCodec())
    entities = PartitionHarness(
        EntitiesHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics(), clock=SystemClock()), EntityCodec()
    )
    published = await events.process([delivered("extractions", 0, window.key, extraction.to_json())])
    contributions = [each for each in published.outputs if each.topic == "varve.contributions"]
    grown = await entities.process([delivered("contributions", index, each.key, each.value) for index, each in enumerate(contributions)])
    assert not published.rejections
    assert not grown.rejections
    for output in (*published.outputs, *grown.outputs):
        if output.topic == "varve.memories" and output.value is not None:
            change = MemoryChange.from_json(output.value)
            assert change.memory is not None or change.op == "step"
            assert change.memory is None or iso_time(change.memory.event_time).endswith("Z")
