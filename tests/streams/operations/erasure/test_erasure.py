"""An erased user is named nowhere any more, by no replay and no rebuild, and on no disk once Kafka has compacted its logs."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from redis.asyncio import Redis

from control import Change, Draft, read_audit, read_control
from control.erasure import Erasure, subject_of
from control.erasure_changes import finish_erasure
from control.errors import UnknownTenantError
from control.unfinished_erasures import ErasureRequest, UnfinishedErasures
from memory.keys import encode_key
from memory.records import Message
from memory.topics import ALL, DEAD_LETTERS
from runtime.clocks import SystemClock
from runtime.dead_letters import DeadLetterBox, DeadLetterSelection
from runtime.kafka import OutgoingRecord, Producer
from runtime.kafka.client import admin_client
from runtime.redis.client import GuardedRedis, open_redis
from runtime.redis.session_tail import SessionTail
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.errors import ReplayRefusedError, StageBehindError
from streams.operations.erasure.erase import erase
from streams.operations.erasure.naming import Naming
from streams.operations.erasure.remnants import STORE, UNDER_WAY, Remnant, remnants
from streams.operations.rebuild import rebuild, snapshot
from streams.operations.replay import ReplayStart, replay
from streams.stages.catalog import STAGES
from tests.control_log import write
from tests.streams.flow import TENANT, caught_up, flush, send_sample, serving
from tests.streams.harness import until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

LEAVING, STAYING = "ada", "bob"
EAGER = {"segment.ms": "100", "min.cleanable.dirty.ratio": "0.01", "max.compaction.lag.ms": "100", "delete.retention.ms": "100"}
DEADLINE_S = 240.0
WITHOUT_RECALLS = [name for name in STAGES if name != "recalls"]
"""Where nothing recalls, that stage may never have run."""
BEFORE_ENTITIES = ["sessions", "extraction", "events"]
REPLAYED = ("recalls", "index", "entities", "events", "extraction")
_VERSION = re.compile(rb'"version":[0-9]+,')


async def test_an_erased_user_is_named_nowhere(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    await send_sample(leased, session="s-1", user=LEAVING)
    await send_sample(leased, session="s-2", user=STAYING)
    await _say(leased, "My PIN is 4711, in a window that is still open.", session="s-3")
    await _say(leased, "I was born in a time to come.", session="s-1", at=datetime(2999, 1, 1, tzinfo=UTC))
    async with serving(leased):
        await caught_up(leased)
        standing = {each.place: each.standing for each in await _remnants(leased, store, LEAVING)}
        assert {"messages", "windows", "extractions", "memories"} <= {
            each.removeprefix(leased.kafka.topic_prefix) for each in standing if standing[each]
        }
        assert standing[STORE] > 0
        assert len(await _named_in_redis(leased)) > 1
        others = await _memories(store, STAYING)
        assert others
        assert await _letters(leased) == 1

        (receipt,) = await erase(leased, TENANT, [LEAVING], by="test", reason="asked for it", store=store, redis=redis)

        assert await _standing(leased, store) == {}
        assert await _memories(store, STAYING) == others, "the other user has what there was"
        assert await _letters(leased) == 0
        tail = SessionTail(redis=redis)
        assert [(await tail.read(TENANT, session)).messages for session in ("s-1", "s-3")] == [(), ()]
        assert await _named_in_redis(leased) == []
        _check_receipt(receipt)
        await _check_control_log(leased, receipt)

    await _check_replays(leased, store, others)
    others = await _memories(store, STAYING)
    await rebuild(leased, store=store, redis=redis)
    async with serving(leased):
        await caught_up(leased)
        assert await _standing(leased, store) == {}
        assert await _memories(store, STAYING) == others

        await _say(leased, "I moved to Lisbon in May.", session="s-1")
        await flush(leased)
        await caught_up(leased)
        assert len(await _memories(store, LEAVING)) > 0, "messages after an erasure are new data"
        receipts = await erase(leased, TENANT, [LEAVING, STAYING, LEAVING, "never came"], by="test", store=store, redis=redis)
        assert [each.subject for each in receipts] == [subject_of(TENANT, each) for each in (LEAVING, STAYING, "never came")]
        assert [each.found["windows"] > 0 for each in receipts] == [True, True, False]
        assert await _standing(leased, store) == {}
        assert await _standing(leased, store, user=STAYING) == {}
        assert [line async for line in snapshot(store, TENANT)] == []
    await _check_disks(leased, store)


async def test_an_interrupted_erasure_continues(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    await send_sample(leased, session="s-1", user=LEAVING)
    async with serving(leased, BEFORE_ENTITIES):
        await flush(leased)
        await caught_up(leased, BEFORE_ENTITIES)
    with pytest.raises(UnknownTenantError, match="there is no tenant 'nobody'"):
        await erase(leased, "nobody", [LEAVING], by="test", store=store, redis=redis)
    with pytest.raises(StageBehindError, match=r"sessions still has .* records to handle after 1 s: start its workers"):
        await erase(leased, TENANT, [LEAVING], by="test", store=store, redis=redis, patience_s=1.0)
    (begun,) = Draft(await read_control(leased)).erasures(TENANT)
    assert begun.finished_at is None
    assert [each.user for each in await UnfinishedErasures(redis=redis).every()] == [LEAVING], "a resuming process needs the name"
    assert (await _standing(leased, store))[UNDER_WAY] == 1
    async with serving(leased, BEFORE_ENTITIES):
        with pytest.raises(StageBehindError, match=r"entities still has .* records to handle after 3 s"):
            await erase(leased, TENANT, [LEAVING], by="test", store=store, redis=redis, patience_s=3.0)
    (begun,) = Draft(await read_control(leased)).erasures(TENANT)
    assert "windows" in begun.reaches
    assert "extractions" not in begun.reaches, "a later command must not be skipped"
    async with serving(leased, WITHOUT_RECALLS):
        async with another_at(redis, LEAVING, "eve"):
            notices: list[str] = []
            erasing = asyncio.create_task(
                erase(leased, TENANT, [LEAVING, "eve"], by="test", store=store, redis=redis, notice=notices.append)
            )
            await until(lambda: any("another process erases 2 of the users" in each for each in notices))
            await write(leased, _finished("eve"))
        receipt, others_receipt = await erasing
        assert receipt.subject == begun.subject
        assert receipt.finished_at is not None
        assert others_receipt.found == {"windows": 7}, "what another has done meanwhile is not done again"
        assert await _standing(leased, store) == {}


@asynccontextmanager
async def another_at(redis: GuardedRedis, *users: str) -> AsyncIterator[None]:
    """Another process is at the erasures of users for the length of a block."""
    noted = [ErasureRequest(tenant=TENANT, user=each, by="another", asked_at=datetime.now(UTC)) for each in users]
    async with UnfinishedErasures(redis=redis).held(noted, asked=True) as mine:
        assert mine == noted
        yield


def _finished(user: str) -> Change[Erasure]:
    now = datetime.now(UTC)
    return lambda draft: finish_erasure(
        draft, subject_of(TENANT, user), begun_at=now, at=now, gone_by=now, found={"windows": 7}, remains=()
    )


async def _say(settings: Settings, text: str, *, session: str, at: datetime | None = None) -> None:
    now = datetime.now(UTC)
    said = Message(tenant=TENANT, user=LEAVING, session=session, id=f"{session}-{now.timestamp()}", text=text, event_time=at or now)
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send(settings.topic("messages"), key=encode_key(TENANT, session), value=said.to_json())


async def _memories(store: MemoryStore, user: str) -> list[bytes]:
    quoted = f'"user":"{user}"'.encode()
    return [line async for line in snapshot(store, TENANT) if quoted in line]


def _events(memories: list[bytes]) -> list[bytes]:
    return [_VERSION.sub(b"", each) for each in memories if b'"kind":"event"' in each]


async def _remnants(settings: Settings, store: MemoryStore, user: str) -> list[Remnant]:
    async with open_redis(settings.redis) as redis:
        return await remnants(settings, TENANT, user, store=store, redis=redis)


async def _standing(settings: Settings, store: MemoryStore, *, user: str = LEAVING) -> dict[str, int]:
    found = await _remnants(settings, store, user)
    return {each.place: each.standing for each in found if each.standing}


async def _named_in_redis(settings: Settings) -> list[bytes]:
    """The keys that name the user, or whose values do."""
    naming, own = Naming(TENANT, LEAVING), encode_key(TENANT, LEAVING)
    async with Redis.from_url(settings.redis.url) as client:
        return [
            key
            async for key in client.scan_iter(match=f"{settings.redis.prefix}*")
            if own in key or any(naming.in_record(DEAD_LETTERS, b"", each) for each in await _values_in_redis(client, key))
        ]


async def _values_in_redis(client: Any, key: bytes) -> list[bytes]:
    match await client.type(key):
        case b"hash":
            found = await client.hvals(key)
        case b"zset":
            found = await client.zrange(key, 0, -1)
        case b"list":
            found = await client.lrange(key, 0, -1)
        case _:
            found = await client.mget(key)
    return [each for each in found if each is not None]


async def _letters(settings: Settings) -> int:
    async with Producer(kafka=settings.kafka) as producer:
        box = DeadLetterBox(settings=settings, producer=producer, clock=SystemClock())
        return len(await box.letters(DeadLetterSelection(tenant=TENANT)))


def _check_receipt(receipt: Erasure) -> None:
    assert receipt.finished_at is not None
    assert receipt.gone_by is not None
    assert receipt.found["windows"] > 1
    assert receipt.found["events"] > 3
    assert receipt.found["entities"] >= 1
    assert receipt.found["dead_letters"] == 1
    assert receipt.remains == ()


async def _check_control_log(settings: Settings, receipt: Erasure) -> None:
    (known,) = Draft(await read_control(settings)).erasures(TENANT)
    assert known.model_copy(update={"revision": receipt.revision}) == receipt
    check, audited = await read_audit(settings)
    assert check.problems == []
    actions = [each.action for each in audited if each.subject == receipt.key.decode()]
    assert actions[0] == "erasure begin"
    assert actions[-1] == "erasure finish"
    assert not any(f'"{LEAVING}"'.encode() in each.to_json() for each in audited), "the audit is kept forever"


async def _check_replays(settings: Settings, store: MemoryStore, others: list[bytes]) -> None:
    with pytest.raises(ReplayRefusedError, match="no longer begins at offset 0"):
        await replay(settings, "sessions", ReplayStart())
    for stage in REPLAYED:
        assert await replay(settings, stage, ReplayStart()), stage
        async with serving(settings):
            await caught_up(settings)
        assert await _standing(settings, store) == {}, stage
        notices = await _memories(store, STAYING)
        # A window that is extracted again is later in the log: its results have a later version.
        assert notices == others or (stage == "extraction" and _events(notices) == _events(others)), stage


async def _check_disks(settings: Settings, store: MemoryStore) -> None:
    """Hurries Kafka, and writes something harmless into every partition: only a segment that another follows is compacted."""
    prefix = settings.kafka.topic_prefix
    compacted = [settings.topic(each.name) for each in ALL if each.cleanup == "compact" and each.partitions is None]
    compacted += [stage.changelog(prefix) for stage in STAGES.values() if stage.has_table]
    async with admin_client(settings.kafka) as admin:
        for name in compacted:
            config = {"cleanup.policy": "compact", **EAGER}
            await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, config)])
    async with asyncio.timeout(DEADLINE_S), Producer(kafka=settings.kafka) as producer:
        while left := await _on_disk(settings, store, compacted):
            nudges = [
                OutgoingRecord(name, encode_key("nobody", "nothing"), None, partition=partition)
                for name in left
                for partition in range(settings.kafka.partitions)
            ]
            await producer.send_many(nudges)
            await asyncio.sleep(1.0)


async def _on_disk(settings: Settings, store: MemoryStore, topics: list[str]) -> dict[str, int]:
    found = await _remnants(settings, store, LEAVING)
    return {each.place: each.on_disk for each in found if each.on_disk and each.place in topics}
