"""The control log on the real broker: ordered, atomic, and known to every process in milliseconds."""

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import ProducerFenced

from control import ControlFollower, ControlWriter, Draft, read_audit, read_control
from control.access_keys import hash_key
from control.errors import ChangeRefusedError, ControlLogBehindError, UnknownTenantError
from control.key_changes import add_key
from control.log import AuditRecord, control_partition
from control.tenant_changes import add_tenant, set_tenant
from control.tenants import follow_tenants
from control.writer import ControlSession
from memory.headers import KIND
from runtime.kafka import Producer, create_topics
from runtime.kafka.transactional import TransactionalProducer
from runtime.metrics import Metrics
from runtime.settings import ControlSettings, Settings
from tests.control_log import following, write
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration

DEADLINE_S = 60.0


@pytest.fixture
async def settings(make_settings: Callable[..., Settings]) -> Settings:
    settings = make_settings(kafka=one_broker(partitions=3), control=ControlSettings(lease_s=2.0))
    await create_topics(settings)
    return settings


async def test_writers_that_race_lose_no_change(settings: Settings) -> None:
    await write(settings, lambda draft: add_tenant(draft, "acme", schema="companion", weight=1.0))
    writers, each = 3, 4

    def more(draft: Draft) -> None:
        set_tenant(draft, "acme", weight=draft.tenant("acme").weight + 1)

    async def run(number: int) -> None:
        for _ in range(each):
            await ControlWriter(settings=settings).write(more, action="more", by=f"writer {number}")

    async with asyncio.TaskGroup() as running:
        for number in range(writers):
            running.create_task(run(number))
    state = await read_control(settings)
    assert state.tenants["acme"].weight == 1 + writers * each
    assert state.tenants["acme"].revision == 1 + writers * each
    check, records = await read_audit(settings)
    assert check.problems == []
    weights = [(each.before or {}).get("weight") for each in records if isinstance(each, AuditRecord) and each.action == "more"]
    assert weights == [1.0 + number for number in range(writers * each)], "each was made on what the one before left"
    assert {each.by for each in records} == {"a test", *(f"writer {number}" for number in range(writers))}


async def test_concurrent_changes_of_one_process_are_serialized(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    open_session = ControlSession.open

    async def counted(session: ControlSession) -> None:
        opened.append(session)
        await open_session(session)

    monkeypatch.setattr(ControlSession, "open", counted)
    writer = ControlWriter(settings=settings)
    changes = [partial(add_tenant, tenant_id=f"t{number}", schema="companion") for number in range(20)]
    written = await asyncio.gather(*(writer.write(each, action="add", by=f"caller {n}") for n, each in enumerate(changes)))
    assert len(opened) == 1, "one hold of the id serves all that wait"
    assert [each.position for each in written] == sorted({each.position for each in written})
    check, records = await read_audit(settings)
    assert check.problems == []
    assert [each.by for each in records if each.subject.startswith("tenant/")] == [f"caller {number}" for number in range(20)]
    await writer.write(partial(set_tenant, tenant_id="t0", weight=2.0), action="set", by="a test")
    assert len(opened) == 2, "nothing is held while nobody writes"


async def test_a_writer_reads_changes_of_other_writers(settings: Settings) -> None:
    """Though it holds the id all the while, and what it is asked first changes nothing."""
    await write(settings, lambda draft: add_tenant(draft, "acme", schema="companion"))
    begun, others_are_done = threading.Event(), threading.Event()

    def nothing(draft: Draft) -> None:
        begun.set()
        assert others_are_done.wait(DEADLINE_S)

    writer = ControlWriter(settings=settings)
    async with asyncio.TaskGroup() as running:
        running.create_task(writer.write(nothing, action="nothing", by="a test"))
        assert await asyncio.to_thread(begun.wait, DEADLINE_S)
        late = running.create_task(writer.write(lambda draft: set_tenant(draft, "late", weight=2.0), action="set", by="a test"))
        await write(settings, lambda draft: add_tenant(draft, "late", schema="companion", weight=5.0))
        others_are_done.set()
    assert late.result().result.weight == 2.0
    assert (await read_control(settings)).tenants["late"].weight == 2.0
    assert (await read_audit(settings))[0].problems == []


async def test_a_refused_change_writes_nothing(settings: Settings) -> None:
    await write(settings, lambda draft: add_tenant(draft, "acme", schema="companion"))
    before = await read_control(settings)
    with pytest.raises(ChangeRefusedError):
        await write(settings, lambda draft: add_tenant(draft, "acme", schema="companion"))
    with pytest.raises(UnknownTenantError):
        await write(settings, lambda draft: set_tenant(draft, "nobody", weight=2.0))
    again = await ControlWriter(settings=settings).write(lambda draft: set_tenant(draft, "acme", weight=1.0), action="same", by="a test")
    assert again.documents == ()
    assert (await read_control(settings)).position == before.position


async def test_a_follower_knows_in_milliseconds(settings: Settings) -> None:
    async with following(settings) as follower:
        waits = []
        for number in range(10):
            seen = asyncio.create_task(_seen(follower, f"t{number}"))
            written = await ControlWriter(settings=settings).write(
                partial(add_tenant, tenant_id=f"t{number}", schema="companion"), action="add", by="a test"
            )
            started = time.monotonic()
            await seen
            await follower.wait_for(written.position, timeout_s=DEADLINE_S)
            waits.append(time.monotonic() - started)
        assert sorted(waits)[len(waits) // 2] < 0.5
        with pytest.raises(ControlLogBehindError, match="was not read up to offset"):
            await follower.wait_for(written.position + 100, timeout_s=0.05)


async def test_an_open_transaction_of_a_dead_writer_is_aborted(settings: Settings) -> None:
    """Killed between writing and committing: readers continue, and the next writer aborts the open transaction."""
    await write(settings, lambda draft: add_tenant(draft, "acme", schema="companion"))
    dead = TransactionalProducer(kafka=settings.kafka, transactional_id=settings.topic("control"), partitions=3)
    await dead.start()
    assert dead._client is not None
    where = control_partition(settings)
    await dead._client.begin_transaction()
    await dead._client.send_and_wait(where.topic, b"{}", key=b"tenant/acme", partition=where.partition)
    async with following(settings) as follower:
        confirmed = follower.confirmed_at
        await _until(lambda: follower.confirmed_at > confirmed)
        assert follower.is_current
        await write(settings, lambda draft: set_tenant(draft, "acme", weight=2.0))
        await _until(lambda: follower.state.tenants["acme"].weight == 2.0)
        assert follower.state.unreadable == {}
        with pytest.raises(ProducerFenced):
            await dead._client.commit_transaction()
        await dead.stop()
    assert (await read_audit(settings))[0].problems == []


async def test_a_process_that_cannot_follow_admits_no_request(settings: Settings) -> None:
    key = "vk_key"
    await write(settings, lambda draft: _with_key(draft, key))
    async with follow_tenants(settings, Metrics()) as tenants:
        holder = tenants.by_api_key_hash(hash_key(key))
        assert holder is not None
        assert holder.tenant.id == "acme"
        follower = tenants._view
        assert isinstance(follower, ControlFollower)
        await follower.stop()
        await _until(lambda: not tenants.is_current)
        with pytest.raises(ControlLogBehindError, match="could not be followed for 2 s"):
            tenants.by_api_key_hash(hash_key(key))
        with pytest.raises(ControlLogBehindError):
            tenants.get("acme")


async def test_a_tenant_is_unknown_only_after_catching_up(settings: Settings) -> None:
    async with follow_tenants(settings, Metrics()) as tenants:
        with pytest.raises(ControlLogBehindError, match="not known yet"):
            tenants.get("late")
        await write(settings, lambda draft: add_tenant(draft, "late", schema="companion"))
        await _until(lambda: _outcome(lambda: tenants.get("late")) is None)
        await _until(lambda: isinstance(_outcome(lambda: tenants.get("never")), UnknownTenantError))


async def test_a_recreated_log_is_read_from_its_start(settings: Settings) -> None:
    await write(settings, lambda draft: add_tenant(draft, "before", schema="companion"))
    async with following(settings) as follower:
        assert set(follower.state.tenants) == {"before"}
        follower.state.position += 1_000
        await _until(lambda: follower.state.position < 1_000 and "before" in follower.state.tenants)


async def test_foreign_records_do_not_stop_a_reader(settings: Settings) -> None:
    await write(settings, lambda draft: add_tenant(draft, "acme", schema="companion"))
    where = control_partition(settings)
    async with Producer(kafka=settings.kafka) as producer, following(settings) as follower:
        for key, value in ((b"colour/red", b"{}"), (b"\xff", b"\xff"), (b"tenant/umbrella", b"[]")):
            await producer.send(where.topic, key=key, value=value, headers=((KIND, b"x"),), partition=where.partition)
        await _until(lambda: follower.state.unreadable.keys() == {b"\xff", b"tenant/umbrella"})
        assert set(follower.state.tenants) == {"acme"}


def _with_key(draft: Draft, key: str) -> None:
    from datetime import UTC, datetime

    add_tenant(draft, "acme", schema="companion")
    add_key(draft, "acme", hash_key(key), now=datetime.now(UTC))


async def _seen(follower: ControlFollower, tenant: str) -> None:
    await _until(lambda: tenant in follower.state.tenants)


def _outcome(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except (ControlLogBehindError, UnknownTenantError) as error:
        return error
    return None


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not condition():  # noqa: ASYNC110 - no event reports the condition
            await asyncio.sleep(0.002)


async def test_a_follower_outlives_whatever_breaks_its_client(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen where a broker was killed: the client's own code broke, the follower ended with it, and the process admitted nobody any more."""
    failures = iter([AttributeError("torn down"), RuntimeError("not started"), AssertionError()])

    class BreakingConsumer(AIOKafkaConsumer):  # type: ignore[misc]
        async def start(self) -> None:
            error = next(failures, None)
            if error is not None:
                raise error
            await super().start()

    monkeypatch.setattr("control.follower.AIOKafkaConsumer", BreakingConsumer)
    await write(settings, lambda draft: add_tenant(draft, "acme", schema="companion"))
    async with following(settings) as follower:
        assert set(follower.state.tenants) == {"acme"}
    assert next(failures, None) is None
