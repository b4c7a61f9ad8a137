"""The ACLs of `docs/operate/security.md` on a real broker: they permit what Varve does, and nothing to other users."""

import asyncio
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from control import read_audit
from control.erasure_changes import extend_erasure
from control.generations.dropping import drop
from control.generations.switching import require_complete, windows_left
from control.tenant_changes import add_generation, set_generation
from control.tenants import follow_tenants
from control.unfinished_erasures import CANNOT_WRITE
from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.records import Message, SessionCommand, Window
from memory.topics import ALL
from runtime.errors import KafkaUnavailableError, ProducerFencedError, TopicMissingError
from runtime.kafka import KafkaOffsets, Producer, create_topics, read_topic
from runtime.kafka.client import admin_client
from runtime.kafka.clock import kafka_time
from runtime.kafka.transactional import TransactionalProducer
from runtime.metrics import Metrics
from runtime.settings import ControlSettings, KafkaSettings, RedisSettings, SessionSettings, Settings, StoreSettings
from tests.control_log import add_tenant, write
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.streams.flow import caught_up, serving
from tests.streams.secured_kafka import BROKER, SecuredKafka, create_acls
from varve.embedded import jars
from varve.supervisor.process import ManagedProcess

pytestmark = pytest.mark.integration

KEY = encode_key("acme", "s1")
MESSAGE = Message(tenant="acme", user="ada", session="s1", id="m1", text="I moved to Oslo.", event_time=datetime(2024, 5, 1, tzinfo=UTC))
FLUSH = SessionCommand(command="flush", tenant="acme", session="s1")


@pytest.fixture(scope="module")
def secured() -> Iterator[SecuredKafka]:
    cache = Settings().cache_path
    jars.fetch(cache)
    with tempfile.TemporaryDirectory(prefix="varve-kafka-") as folder:
        broker = SecuredKafka(data=Path(folder), cache=cache, short_lived=True)
        process = ManagedProcess(broker.prepare())
        asyncio.run(process.start())
        try:
            asyncio.run(prepare(broker))
            yield broker
        finally:
            asyncio.run(process.stop())


async def prepare(broker: SecuredKafka) -> None:
    await create_acls(broker.as_user(BROKER))
    await create_topics(Settings(kafka=broker.as_user("varve-admin")))


async def test_the_stages_work_with_exactly_their_acls(secured: SecuredKafka, redis_url: str, topic_prefix: str, tmp_path: Path) -> None:
    with EdgeOwnerProcess(tmp_path / "edge") as edge:
        await message_becomes_memory(
            secured,
            Settings(
                data=tmp_path / "data",
                kafka=secured.as_user("varve-flow"),
                redis=RedisSettings(url=redis_url, prefix=topic_prefix, timeout_s=60.0),
                store=StoreSettings(socket=edge.socket),
                sessions=SessionSettings(idle_partition_s=86400.0),
            ),
        )


async def message_becomes_memory(secured: SecuredKafka, settings: Settings) -> None:
    await add_tenant(Settings(kafka=secured.as_user("varve-admin")), "acme", schema="companion")
    async with Producer(kafka=secured.as_user("app")) as app, Producer(kafka=secured.as_user("varve-service")) as service:
        await app.send("varve.messages", key=KEY, value=MESSAGE.to_json())
        await service.send("varve.messages", key=KEY, value=FLUSH.to_json(), headers=((KIND, COMMAND),))
    async with follow_tenants(Settings(kafka=secured.as_user("varve-service")), Metrics()) as tenants:
        assert tenants.get("acme").id == "acme"
    async with serving(settings):
        await caught_up(settings, deadline_s=60)
    windows = [Window.from_json(each.value or b"") async for each in read_topic("varve.windows", settings.kafka)]
    assert [[message.id for message in window.messages] for window in windows] == [["m1"]]
    assert [each async for each in read_topic("varve.memories", settings.kafka)]


@pytest.mark.parametrize(
    ("user", "topic"),
    [
        *(("app", f"varve.{each.name}") for each in ALL if each.name != "messages"),
        *(("varve-service", f"varve.{name}") for name in ("windows", "contributions", "memories", "control", "audit")),
        *(("varve-flow", f"varve.{name}") for name in ("control", "audit")),
        *(("varve-operating", f"varve.{name}") for name in ("messages", "memories")),
        ("stranger", "varve.messages"),
    ],
)
async def test_other_principals_cannot_write(secured: SecuredKafka, user: str, topic: str) -> None:
    with pytest.raises(KafkaUnavailableError, match="uthoriz"):
        async with Producer(kafka=secured.as_user(user), timeout_s=5) as producer:
            await producer.send(topic, key=KEY, value=b"{}")


@pytest.mark.parametrize("user", ["app", "varve-service", "stranger"])
async def test_other_principals_cannot_read(secured: SecuredKafka, user: str) -> None:
    # An empty topic is not read. This record is a deletion of nothing.
    async with Producer(kafka=secured.as_user("varve-flow"), timeout_s=30) as producer:
        await producer.send("varve.memories", key=KEY, value=None)
    kafka = secured.as_user(user, request_timeout_s=5.0)
    # A user without the right to describe a topic does not learn that it exists.
    with pytest.raises((KafkaUnavailableError, TopicMissingError), match=r"uthoriz|missing"):
        assert [each async for each in read_topic("varve.memories", kafka)]


@pytest.mark.parametrize(("user", "is_known"), [("varve-flow", True), ("varve-service", True), ("varve-operating", True), ("app", False)])
async def test_kafkas_clock_needs_a_right(secured: SecuredKafka, user: str, is_known: bool) -> None:
    kafka = secured.as_user(user)
    async with admin_client(kafka) as admin:
        assert (await kafka_time(admin, kafka) is not None) == is_known


async def test_the_operators_service_works_with_exactly_its_acls(secured: SecuredKafka) -> None:
    settings = Settings(kafka=secured.as_user("varve-operating"))
    await add_tenant(settings, "operated", schema="companion")
    await write(settings, lambda draft: add_generation(draft, "operated", "v2"))
    await require_complete(settings, "operated", "v2", incomplete=True)
    await write(settings, lambda draft: set_generation(draft, "operated", "v2"))
    assert await windows_left(settings, "v2") >= 0
    assert all([each.value async for each in read_topic("varve.windows", settings.kafka)])
    assert await drop(settings, "operated", "", by="a test") == 0
    check, records = await read_audit(settings)
    assert not check.problems_with(None)
    assert [each.action for each in records if each.subject == "tenant/operated"][-1] == "generation drop"
    async with follow_tenants(Settings(kafka=secured.as_user("varve-service")), Metrics()) as tenants:
        assert tenants.get("operated").generation == "v2"


async def test_a_service_without_rights_leaves_erasures_to_others(secured: SecuredKafka) -> None:
    """It takes up what it finds: the error of its first write says that another process may do better."""
    settings = Settings(kafka=secured.as_user("varve-service"), control=ControlSettings(write_timeout_s=1.0))
    with pytest.raises(CANNOT_WRITE, match="uthoriz"):
        await write(settings, lambda draft: extend_erasure(draft, "0" * 64, {"messages": {0: 1}}))


@pytest.mark.parametrize(
    ("user", "transactional_id"), [("app", "varve.sessions.0"), ("varve-flow", "varve.control"), ("varve-operating", "varve.sessions.0")]
)
async def test_other_principals_cannot_fence_a_writer(secured: SecuredKafka, user: str, transactional_id: str) -> None:
    producer = TransactionalProducer(kafka=secured.as_user(user), transactional_id=transactional_id, partitions=2)
    with pytest.raises((KafkaUnavailableError, ProducerFencedError), match="uthoriz"):
        async with asyncio.timeout(60):
            await producer.start()
    await producer.stop()


@pytest.mark.parametrize("wrong", [{"sasl_password": "guessed"}, {"security_protocol": "PLAINTEXT"}])
async def test_an_unknown_principal_cannot_connect(secured: SecuredKafka, wrong: dict[str, str]) -> None:
    kafka = KafkaSettings.model_validate({**secured.as_user("app", request_timeout_s=3.0).model_dump(), **wrong})
    with pytest.raises(KafkaUnavailableError):
        async with KafkaOffsets(kafka=kafka) as offsets:
            await offsets.end_offsets(["varve.messages"])
