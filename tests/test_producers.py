"""The producers of examples/producers/ run against a real broker, and the sessions stage accepts what they write unchanged.

A language whose packages Varve does not bring runs under ``make test-producers``.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

from memory.keys import encode_key, partition_of
from memory.records import Message
from memory.signatures import SIGNATURE, Signature
from runtime.kafka import client_options, create_topic
from runtime.settings import Settings
from tests.one_broker import one_broker
from varve.embedded import jars

pytestmark = pytest.mark.integration

EXAMPLES: Final = Path(__file__).parents[1] / "examples" / "producers"
ENVIRONMENT: Final = os.environ.get("VARVE_TEST_PRODUCERS")
PARTITIONS: Final = 7
TENANT: Final = "acme"
SESSION: Final = "tea/room ~!*'()+%-_.\"ü😀"
"""Every character that the languages' URL encoders treat differently."""
KEY: Final = bytes(range(32))
SIGNED: Final = {"SIGNING_KEY_ID": "2026-11", "SIGNING_KEY": KEY.hex()}
TRACE: Final = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

external = pytest.mark.external
LANGUAGES: Final = [
    "aiokafka",
    *(pytest.param(language, marks=external) for language in ("confluent", "java", "go", "typescript")),
]


def build(language: str, folder: Path) -> list[str]:
    """Compiles the example where that is usual, and says how it is run."""
    match language:
        case "aiokafka":
            return [sys.executable, str(EXAMPLES / "aiokafka_producer.py")]
        case "confluent":
            return [f"{installed()}/bin/python", str(EXAMPLES / "confluent_producer.py")]
        case "java":
            javac, java = tool("javac"), tool("java")
            path = jars.class_path(Settings().cache_path)
            call(javac, "-encoding", "UTF-8", "-cp", path, "-d", str(folder), str(EXAMPLES / "java" / "VarveProducer.java"), folder=folder)
            return [java, "-Dsun.jnu.encoding=UTF-8", "-cp", f"{folder}{os.pathsep}{path}", "VarveProducer"]
        case "go":
            go = tool("go")
            installed()
            call(go, "build", "-o", str(folder / "producer"), ".", folder=EXAMPLES / "go")
            return [str(folder / "producer")]
        case _:
            npm, node = tool("npm"), tool("node")
            installed()
            shutil.copytree(EXAMPLES / "typescript", folder, dirs_exist_ok=True)
            call(npm, "ci", "--prefer-offline", "--no-audit", "--no-fund", folder=folder)
            call(npm, "run", "build", folder=folder)
            return [node, str(folder / "producer.js")]


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def installed() -> str:
    if ENVIRONMENT is None:
        pytest.skip("its packages are not installed: make test-producers brings them")
    return ENVIRONMENT


def call(*command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    done = run(list(command), folder, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    # Java reads its arguments by the locale.
    values = {**os.environ, "LC_ALL": "C.UTF-8", **environment}
    return subprocess.run(command, cwd=folder, env=values, capture_output=True, text=True, timeout=200, check=False)


@pytest.fixture
async def settings(make_settings: Callable[..., Settings]) -> Settings:
    """Settings whose messages' topic is on the broker."""
    settings = make_settings(kafka=one_broker(partitions=PARTITIONS))
    await create_topic(messages(settings), config={}, kafka=settings.kafka)
    return settings


def messages(settings: Settings) -> str:
    return f"{settings.kafka.topic_prefix}messages"


async def records_of(settings: Settings, *, count: int) -> list[ConsumerRecord]:
    """All records of the topic, as soon as there are that many."""
    consumer = AIOKafkaConsumer(**client_options(settings.kafka), auto_offset_reset="earliest")
    consumer.assign([TopicPartition(messages(settings), partition) for partition in range(PARTITIONS)])
    await consumer.start()
    try:
        found: list[ConsumerRecord] = []
        async with asyncio.timeout(60):
            while len(found) < count:
                for batch in (await consumer.getmany(timeout_ms=1000)).values():
                    found += batch
        return found
    finally:
        await consumer.stop()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_example_produces_readable_messages(language: str, settings: Settings, tmp_path: Path) -> None:
    words = (settings.kafka.bootstrap, messages(settings), TENANT, SESSION)
    command = await asyncio.to_thread(build, language, tmp_path)
    await asyncio.to_thread(call, *command, *words, folder=tmp_path, TRACEPARENT=TRACE, **SIGNED)
    records = await records_of(settings, count=3)
    key = encode_key(TENANT, SESSION)
    assert {(record.key, record.partition) for record in records} == {(key, partition_of(key, PARTITIONS))}
    read = [Message.from_json(record.value) for record in records]
    assert [(each.tenant, each.session, each.id, each.role) for each in read] == [
        (TENANT, SESSION, "m1", "user"),
        (TENANT, SESSION, "m2", "assistant"),
        (TENANT, SESSION, "m3", "user"),
    ]
    assert read[0].text == "I moved to Zürich."
    for record in records:
        headers = dict(record.headers)
        signature = Signature.parse(headers.pop(SIGNATURE))
        assert signature is not None
        assert signature.key_id == "2026-11"
        assert signature.is_right(record.value, KEY)
        assert abs(signature.signed_ms - record.timestamp) < 3_600_000
        assert headers == {"traceparent": TRACE.encode()}


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
async def test_every_codec_of_kafka_is_read(codec: str, settings: Settings) -> None:
    text = "The lake is lovely. " * 100
    value = Message(tenant=TENANT, user="ada", session=SESSION, role="user", text=text, event_time=datetime.now(UTC)).to_json()
    async with AIOKafkaProducer(**client_options(settings.kafka), compression_type=codec) as producer:
        await producer.send_and_wait(messages(settings), value)
    assert [record.value for record in await records_of(settings, count=1)] == [value]


@external
@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_example_fails_where_nothing_is_delivered(language: str, settings: Settings, tmp_path: Path) -> None:
    installed()
    words = (settings.kafka.bootstrap, f"{settings.kafka.topic_prefix}missing", TENANT, SESSION)
    command = await asyncio.to_thread(build, language, tmp_path)
    done = await asyncio.to_thread(run, [*command, *words], tmp_path, DELIVERY_TIMEOUT_MS="5000")
    assert done.returncode != 0, done.stdout
    assert done.stderr.strip() != ""
    assert "offset" not in done.stdout
