"""An erasure while the user sends messages and older corrections arrive: nothing older than the erasure remains anywhere."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from memory.headers import COMMAND, CORRECTION, KIND
from memory.keys import distinct_key, encode_key
from memory.records import Change, Correction, EntityCorrection, EventFields, EventSeen, Memory, Message, SessionCommand
from operators.entities.correction import BY_HAND
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore, TenantScope
from streams.operations.erasure.erase import erase
from streams.operations.erasure.run import ErasureRun
from streams.operations.rebuild import rebuild, snapshot
from streams.operations.replay import ReplayStart, replay
from streams.stages.catalog import STAGES
from tests.streams.flow import TENANT, caught_up, serving
from tests.streams.standing_words import redis_contents, standing_records, stored_contents, words_in

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

STEPS: Final = (
    "_drop_open_windows",
    "_skip_windows",
    "_retract",
    "_replace_shared_results",
    "_command_stages",
    "_forget_views",
    "_trace_later_records",
    "_remove_records",
    "_check_shared_results",
    "_write_receipts",
)
WORD: Final = re.compile(rb"w[0-9]{3}[a-z]+w")
WITHOUT_RECALLS: Final = [name for name in STAGES if name != "recalls"]


class Talk:
    """Ada and Bob talk. Each text has a unique word."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.number = 0
        self.asked_at = datetime.now(UTC)
        """When the corrections were requested."""
        self._words: list[str] = []

    def word(self, kind: str) -> str:
        self.number += 1
        self._words.append(f"w{self.number:03}{kind}w")
        return self._words[-1]

    def words(self, *kinds: str) -> list[str]:
        return [each for each in self._words if each[4:-1] in kinds]

    async def say(self, user: str, kind: str) -> None:
        word, session = self.word(kind), f"s-{user}-{self.number}"
        at = datetime.now(UTC) - timedelta(minutes=1)
        text = f"I like {word} tea."
        message = Message(tenant=TENANT, user=user, session=session, id=f"m-{self.number}", text=text, event_time=at)
        flush = SessionCommand(command="flush", tenant=TENANT, session=session).to_json()
        key, topic = encode_key(TENANT, session), self.settings.topic("messages")
        async with Producer(kafka=self.settings.kafka) as producer:
            await producer.send_many([OutgoingRecord(topic, key, message.to_json())])
            await producer.send_many([OutgoingRecord(topic, key, flush, ((KIND, COMMAND),))])

    async def correct(self, memory: Memory, kind: str) -> None:
        """Sends a correction of a memory that the service read before, as a request that was held up does."""
        word = self.word(kind)
        fields: dict[str, Any] = {"id": f"c-{word}", "tenant": TENANT, "user": memory.user, "action": "correct", "by": "support"}
        if memory.kind == "entity":
            value = {"search": None, "replace": word}
            change = Change(op="apply", property="name", source_id=f"c-{word}", value=value, event_time=self.asked_at, extractor=BY_HAND)
            fields["entity"] = EntityCorrection(entity_type=memory.type, entity_key=memory.entity_key or "", changes=[change])
        else:
            seen = EventSeen(window_id=memory.window_id or "", type=memory.type, content=memory.content, message_ids=memory.message_ids)
            fields |= {"event": seen, "fields": EventFields(content=f"Ada moved to {word}")}
        record = Correction(memory_id=memory.id, generation=memory.generation, time=self.asked_at, **fields)
        key, topic = distinct_key(TENANT, memory.user or ""), self.settings.topic("extractions")
        async with Producer(kafka=self.settings.kafka) as producer:
            await producer.send_many([OutgoingRecord(topic, key, record.to_json(), ((KIND, CORRECTION),))])


def before_each_step(monkeypatch: pytest.MonkeyPatch, act: Callable[[str], Awaitable[None]]) -> None:
    """Has something happen before each step of an erasure."""

    def held(name: str, step: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def first_act(*arguments: Any, **named: Any) -> Any:
            await act(name)
            return await step(*arguments, **named)

        return first_act

    for name in STEPS:
        monkeypatch.setattr(ErasureRun, name, held(name, getattr(ErasureRun, name)))


async def memories(store: MemoryStore, user: str) -> list[Memory]:
    return await store.scroll(TenantScope(TENANT, user), limit=100)


async def words_everywhere(settings: Settings, store: MemoryStore) -> dict[str, set[bytes]]:
    found = await standing_records(settings, without=["recalls"]) | await redis_contents(settings)
    found["store"] = await stored_contents(store, TENANT)
    return {place: words_in(contents, WORD) for place, contents in found.items()}


async def test_what_arrives_meanwhile_is_kept_or_gone(
    leased: Settings, store: MemoryStore, redis: GuardedRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(leased)
    async with serving(leased, WITHOUT_RECALLS):
        for _ in range(2):
            await talk.say("ada", "old")
            await talk.say("bob", "bob")
        await caught_up(leased, WITHOUT_RECALLS)
        known = await memories(store, "ada")
        event = next(each for each in known if each.kind == "event")
        profile = next(each for each in known if each.type == "user_profile")

        talk.asked_at = datetime.now(UTC)

        async def write(step: str) -> None:
            kind = "late" if STEPS.index(step) <= STEPS.index("_trace_later_records") else "void"
            await talk.say("ada", "amid")
            await talk.correct(event, kind)
            await talk.correct(profile, kind)
            await caught_up(leased, WITHOUT_RECALLS)

        with monkeypatch.context() as patched:
            before_each_step(patched, write)
            (receipt,) = await erase(leased, TENANT, ["ada"], by="test", store=store, redis=redis)
        assert receipt.finished_at is not None
        await talk.correct(event, "void")
        await talk.say("ada", "new")
        await caught_up(leased, WITHOUT_RECALLS)
        found = await words_everywhere(leased, store)
        live = [line async for line in snapshot(store, TENANT)]
    await rebuild(leased, store=store, redis=redis)
    async with serving(leased, WITHOUT_RECALLS):
        await caught_up(leased, WITHOUT_RECALLS)
    assert [line async for line in snapshot(store, TENANT)] == live, "compaction has not removed the erasure's commands yet"
    await replay(leased, "events", ReplayStart())
    async with serving(leased, WITHOUT_RECALLS):
        await caught_up(leased, WITHOUT_RECALLS)
    assert [line async for line in snapshot(store, TENANT)] == live
    log = leased.topic("extractions")
    erased = {place: old for place, words in found.items() if (old := {each for each in words if re.search(b"old|late|void", each)})}
    assert not {each for each in erased.pop(log, set()) if b"late" in each}
    assert not erased, "a correction that arrives after the records are removed is in the log, and in no state"
    assert {each for each in found["store"] if b"new" in each or b"bob" in each} == {each.encode() for each in talk.words("new", "bob")}
