"""The real broker and the real Redis, started, stopped, killed and started again."""

import os
import re
import shutil
import signal
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.record.memory_records import MemoryRecords
from redis.asyncio import Redis

from runtime.settings import Settings
from varve.embedded import jars
from varve.embedded.kafka import GROUPS_KEPT_MINUTES, EmbeddedKafka
from varve.embedded.kafka_storage import CLUSTER_ID
from varve.embedded.redis import EmbeddedRedis
from varve.embedded.start_cache import make_start_cache
from varve.errors import MissingPartError, PortInUseError
from varve.supervisor.process import ManagedProcess

pytestmark = pytest.mark.integration

_ROOT = Path(__file__).parents[2]
COMPOSE = _ROOT / "deploy" / "compose.yaml"
BUNDLED = _ROOT / "helm" / "varve" / "templates" / "bundled.yaml"
BROKERS_PAGE = _ROOT / "docs" / "operate" / "install-kubernetes.md"


async def test_the_sessions_broker_takes_and_gives_a_record(kafka: str, topic_prefix: str) -> None:
    topic = f"{topic_prefix}letters"
    await _create(kafka, topic)
    await _produce(kafka, topic, b"first")
    assert await _consume(kafka, topic, 1) == [b"first"]


async def test_a_group_without_workers_keeps_its_place(kafka: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka)
    await admin.start()
    try:
        (response,) = await admin.describe_configs([ConfigResource(ConfigResourceType.BROKER, "1")])
    finally:
        await admin.close()
    ((*_, entries),) = response.resources
    kept = {entry[0]: entry[1] for entry in entries}["offsets.retention.minutes"]
    assert kept == str(GROUPS_KEPT_MINUTES)
    other_brokers = [yaml.safe_load(COMPOSE.read_text())["services"]["kafka"]["environment"]["KAFKA_OFFSETS_RETENTION_MINUTES"]]
    other_brokers += re.findall(r'"KAFKA_OFFSETS_RETENTION_MINUTES" "(\d+)"', BUNDLED.read_text())
    other_brokers += re.findall(r"^offsets.retention.minutes=(\d+)$", BROKERS_PAGE.read_text(), re.MULTILINE)
    assert other_brokers == [kept] * 3


async def test_records_survive_a_stop_and_a_kill(tmp_path: Path) -> None:
    cache = Settings().cache_path
    jars.fetch(cache)
    broker = EmbeddedKafka(data=tmp_path / "kafka", cache=cache, heap_mb=256, short_lived=True)
    process = ManagedProcess(broker.prepare())
    await process.start()
    try:
        await _create(broker.bootstrap, "letters")
        await _produce(broker.bootstrap, "letters", b"before the stop")
        assert await process.stop(), "the broker did not end by itself"
        process = ManagedProcess(broker.prepare())
        await process.start()
        await _produce(broker.bootstrap, "letters", b"before the kill")
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        await process.stop()
        moved = EmbeddedKafka(data=tmp_path / "kafka", cache=cache, heap_mb=256, short_lived=True)
        process = ManagedProcess(moved.prepare())
        await process.start()
        assert await _consume(moved.bootstrap, "letters", 2) == [b"before the stop", b"before the kill"]
    finally:
        await process.stop()


def test_new_storage_equals_the_format_of_kafka(tmp_path: Path) -> None:
    cache = Settings().cache_path
    jars.fetch(cache)
    for folder in ("ours", "kafkas"):
        EmbeddedKafka(data=tmp_path / folder, cache=cache).prepare()
    shutil.rmtree(tmp_path / "kafkas" / "logs")
    tool = (str(jars.java()), "-XX:TieredStopAtLevel=1", "-cp", jars.class_path(cache), "kafka.tools.StorageTool")
    configuration = str(tmp_path / "kafkas" / "server.properties")
    subprocess.run([*tool, "format", "-t", CLUSTER_ID, "-c", configuration], check=True, capture_output=True)
    ours, kafkas = (tmp_path / folder / "logs" for folder in ("ours", "kafkas"))
    assert _properties(ours) == _properties(kafkas)
    assert _records(ours) == _records(kafkas)


async def test_a_start_cache_fits_or_is_ignored(tmp_path: Path) -> None:
    jars.fetch(Settings().cache_path)
    shutil.copytree(jars.jar_folder(Settings().cache_path), jars.jar_folder(tmp_path), ignore=shutil.ignore_patterns("*.aot"))
    path = await make_start_cache(tmp_path)
    spec = EmbeddedKafka(data=tmp_path / "kafka", cache=tmp_path, heap_mb=256, short_lived=True).prepare()
    java, *options = spec.command
    assert f"-XX:AOTCache={path}" in options
    for mode in ("on", "auto"):  # With "on", the JVM ends if it cannot use the cache.
        process = ManagedProcess(replace(spec, command=(java, f"-XX:AOTMode={mode}", *options)))
        try:
            await process.start()
        finally:
            await process.stop()
        path.write_bytes(b"damaged")


async def test_redis_keys_survive_a_stop_and_a_kill(tmp_path: Path) -> None:
    server = EmbeddedRedis(data=tmp_path / "redis")
    process = ManagedProcess(server.prepare())
    await process.start()
    try:
        await _set(server.url, "stopped", "kept")
        assert await process.stop(), "Redis did not end by itself"
        process = ManagedProcess(server.prepare())
        await process.start()
        await _set(server.url, "killed", "kept")
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        await process.stop()
        process = ManagedProcess(server.prepare())
        await process.start()
        async with Redis.from_url(server.url, decode_responses=True) as client:
            assert await client.mget("stopped", "killed") == ["kept", "kept"]
    finally:
        await process.stop()


@pytest.mark.parametrize("server", ["kafka", "redis"])
def test_a_port_in_use_is_named(server: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        servers: dict[str, EmbeddedKafka | EmbeddedRedis] = {
            "kafka": EmbeddedKafka(data=tmp_path, cache=tmp_path, port=port),
            "redis": EmbeddedRedis(data=tmp_path, port=port),
        }
        with pytest.raises(PortInUseError, match=rf"^port {port} for {server.title()} is in use: .*--{server}-port$"):
            servers[server].prepare()


def test_a_missing_jar_is_named_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(MissingPartError, match=r"HdrHistogram-2\.2\.2\.jar is missing: run `make setup`"):
        EmbeddedKafka(data=tmp_path, cache=tmp_path / "empty").prepare()


def _properties(logs: Path) -> dict[str, str]:
    lines = [line.split("=") for line in (logs / "meta.properties").read_text().splitlines() if not line.startswith("#")]
    return {name: "an id" if name == "directory.id" and len(value) == 22 else value for name, value in lines}


def _records(logs: Path) -> list[tuple[bytes | None, bytes | None]]:
    """Keys and values of the snapshot of features; its times differ."""
    records, found = MemoryRecords((logs / "bootstrap.checkpoint").read_bytes()), []
    while (batch := records.next_batch()) is not None:
        found += [(record.key, record.value) for record in batch]
    return found


async def _create(bootstrap: str, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, 1, 1)])
    finally:
        await admin.close()


async def _produce(bootstrap: str, topic: str, value: bytes) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all") as producer:
        await producer.send_and_wait(topic, value)


async def _consume(bootstrap: str, topic: str, count: int) -> list[bytes]:
    partition = TopicPartition(topic, 0)
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([partition])
        await consumer.seek_to_beginning(partition)
        return [(await consumer.getone(partition)).value for _ in range(count)]


async def _set(url: str, key: str, value: str) -> None:
    async with Redis.from_url(url) as client:
        await client.set(key, value)
