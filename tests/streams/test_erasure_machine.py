"""Ingest, correct, erase, kill, rebuild, replay and switch in any order: all words of an erased user are removed, and no other user's.

``VARVE_TEST_ERASURE_EXAMPLES`` says how many sequences of operations are tried (``make erasure``: 20). Each has separate topics and a
separate store, so that its checks, replays and rebuilds read only its own records. Each is a separate test, so that processes share the
work.
"""

import asyncio
import os
import re
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar
from unittest.mock import patch
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from control.errors import ErasureUnderWayError
from control.generations.switching import switch
from control.tenant_changes import add_generation
from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.records import Message, MessageChange, SessionCommand
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.client import GuardedRedis, open_redis
from runtime.settings import ControlSettings, Settings
from stores.build import build_store
from stores.port import MemoryStore, TenantScope
from streams.operations.erasure.erase import erase
from streams.operations.erasure.run import ErasureRun
from streams.operations.rebuild import rebuild, snapshot
from streams.operations.replay import ReplayStart, replay
from streams.run import serve_stage
from streams.stages.catalog import STAGES
from tests.api.running_service import bearer
from tests.api.running_service import serving as service_of
from tests.control_log import add_tenant, write
from tests.streams.durable_steps import Killed, killed
from tests.streams.flow import caught_up, followed, serving
from tests.streams.standing_words import redis_contents, standing_records, stored_contents, words_in

EXAMPLES: Final = int(os.environ.get("VARVE_TEST_ERASURE_EXAMPLES", "1"))
STEPS: Final = 6 if EXAMPLES == 1 else 12
USERS: Final = ("ada", "bob")
KILLED_BEFORE: Final = ("_skip_windows", "_retract", "_command_stages", "_trace_later_records", "_remove_records", "_write_receipts")
REPLAYED: Final = ("extraction", "events", "entities", "index")
WITHOUT_RECALLS: Final = [name for name in STAGES if name != "recalls"]
_WORD: Final = re.compile(rb"w[0-9a-f]{12}w")

T = TypeVar("T")

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1200)]


class ErasureMachine(RuleBasedStateMachine):
    """One tenant of a flow. Every message has a word that no other user says, so that a leftover shows."""

    flow: Settings
    store: MemoryStore
    redis: GuardedRedis
    loop: asyncio.AbstractEventLoop

    def __init__(self) -> None:
        super().__init__()
        self.tenant = f"acme-{uuid4().hex[:8]}"
        self.key = ""
        self.said: dict[str, set[bytes]] = {each: set() for each in USERS}
        """Words that hold."""
        self.edited: dict[str, set[bytes]] = {each: set() for each in USERS}
        """Words of earlier versions of edited messages."""
        self.editable: dict[str, list[tuple[str, str, bytes]]] = {each: [] for each in USERS}
        """Session, id and word of messages in closed windows that several users share."""
        self.erased: set[bytes] = set()
        """Words that a receipt reports as removed."""
        self.under_way: set[str] = set()
        self.generations = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs something in the loop of the test, which has the servers."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    @initialize(is_random=st.booleans())
    def begin(self, is_random: bool) -> None:
        # Hypothesis always begins with its simplest sequence, one rule again and again.
        assume(is_random)
        self.key = self.run(add_tenant(self.flow, self.tenant, schema="companion"))
        self.run(self._say(*USERS))
        self.check()

    @rule(user=st.sampled_from(USERS))
    def say(self, user: str) -> None:
        self.run(self._say(user))
        self.check()

    @rule()
    def chat(self) -> None:
        """All users speak in one session."""
        self.run(self._chat())
        self.check()

    @precondition(lambda self: any(self.editable[user] for user in USERS if user not in self.under_way))
    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        user = data.draw(st.sampled_from([each for each in USERS if self.editable[each] and each not in self.under_way]))
        self.run(self._edit(user))
        self.check()

    @rule(user=st.sampled_from(USERS))
    def correct(self, user: str) -> None:
        self.run(self._correct(user))
        self.check()

    @rule(user=st.sampled_from(USERS))
    def erase(self, user: str) -> None:
        self.run(self._erase(user))
        self.under_way.discard(user)
        self.erased |= self.said[user] | self.edited[user]
        self.said[user], self.edited[user], self.editable[user] = set(), set(), []
        self.check()

    @precondition(lambda self: not self.under_way)
    @rule(user=st.sampled_from(USERS), step=st.sampled_from(KILLED_BEFORE))
    def kill(self, user: str, step: str) -> None:
        self.run(self._kill(user, step))
        self.under_way.add(user)

    @rule(is_forced=st.booleans())
    def rebuild(self, is_forced: bool) -> None:
        self.run(self._rebuild(is_forced=is_forced))
        self.check()

    @rule(stage=st.sampled_from(REPLAYED))
    def replay(self, stage: str) -> None:
        self.run(self._replay(stage))
        self.check()

    @precondition(lambda self: not self.under_way)
    @rule()
    def switch(self) -> None:
        self.generations += 1
        self.run(self._switch(f"v{self.generations}"))
        self.check()

    def teardown(self) -> None:
        if self.key:
            for user in tuple(self.under_way):
                self.erase(user)

    def check(self) -> None:
        """No erased word is anywhere; all words of users of whom no erasure has begun are found."""
        everywhere = self.run(self._words_everywhere())
        assert not {place: words & self.erased for place, words in everywhere.items() if words & self.erased}
        stored = everywhere["store"]
        missing = {user: words - stored for user, words in self.said.items() if user not in self.under_way and words - stored}
        assert not missing, f"lost: {missing}"

    async def _say(self, *users: str) -> None:
        for user in users:
            words = {f"w{uuid4().hex[:12]}w" for _ in range(2)}
            await self._send(user, words)
            self.said[user] |= {each.encode() for each in words}
        await self._serve()

    async def _chat(self) -> None:
        session, now = f"g-{uuid4().hex[:8]}", datetime.now(UTC) - timedelta(minutes=1)
        turns = [(user, f"{session}-{number}", f"w{uuid4().hex[:12]}w") for number, user in enumerate(USERS * 2)]
        await self._send_to(session, [self._message(user, session, name, word, now) for user, name, word in turns])
        for user, name, word in turns:
            self.said[user].add(word.encode())
            self.editable[user].append((session, name, word.encode()))
        await self._serve()

    async def _edit(self, user: str) -> None:
        session, name, before = self.editable[user].pop()
        after = f"w{uuid4().hex[:12]}w"
        text = f"I moved to {after} in June and I love living there."
        change = MessageChange(command="edit", tenant=self.tenant, user=user, session=session, id=name, text=text)
        async with Producer(kafka=self.flow.kafka) as producer:
            await producer.send(self.flow.topic("messages"), key=encode_key(self.tenant, session), value=change.to_json())
        self.said[user] = self.said[user] - {before} | {after.encode()}
        self.edited[user].add(before)
        await self._serve()

    async def _send(self, user: str, words: set[str]) -> None:
        session, now = f"s-{uuid4().hex[:8]}", datetime.now(UTC) - timedelta(minutes=1)
        messages = [self._message(user, session, f"{session}-{number}", word, now) for number, word in enumerate(sorted(words))]
        await self._send_to(session, messages)

    def _message(self, user: str, session: str, name: str, word: str, at: datetime) -> Message:
        text = f"I moved to {word} in May and I love living there."
        return Message(tenant=self.tenant, user=user, session=session, id=name, text=text, event_time=at)

    async def _send_to(self, session: str, messages: Sequence[Message]) -> None:
        """Produces messages of a session, and closes its window."""
        key, topic = encode_key(self.tenant, session), self.flow.topic("messages")
        flush = SessionCommand(command="flush", tenant=self.tenant, session=session).to_json()
        async with Producer(kafka=self.flow.kafka) as producer:
            await producer.send_many([OutgoingRecord(topic, key, each.to_json()) for each in messages])
            await producer.send_many([OutgoingRecord(topic, key, flush, ((KIND, COMMAND),))])

    async def _serve(self) -> None:
        async with serving(self.flow, WITHOUT_RECALLS):
            await caught_up(self.flow, WITHOUT_RECALLS)

    async def _correct(self, user: str) -> None:
        found = [each for each in await self.store.scroll(TenantScope(self.tenant, user), limit=50) if each.kind == "event"]
        if not found:
            return
        async with service_of(self.flow) as http:
            headers = bearer(self.key)
            body = {"properties": {"place": "Turku"}}
            response = await http.request("PATCH", f"/v1/memories/{found[0].id}", json=body, headers=headers)
            assert response.status_code in {200, 404, 422}, response.text
        await self._serve()

    async def _erase(self, user: str) -> None:
        async with serving(self.flow, WITHOUT_RECALLS):
            await caught_up(self.flow, WITHOUT_RECALLS)
            (receipt,) = await erase(self.flow, self.tenant, [user], by="test", store=self.store, redis=self.redis)
            await caught_up(self.flow, WITHOUT_RECALLS)
        assert receipt.finished_at is not None
        assert receipt.remains == ()

    async def _kill(self, user: str, step: str) -> None:
        async with serving(self.flow, WITHOUT_RECALLS):
            await caught_up(self.flow, WITHOUT_RECALLS)
            with patch.object(ErasureRun, step, killed), pytest.raises(Killed):
                await erase(self.flow, self.tenant, [user], by="test", store=self.store, redis=self.redis)

    async def _rebuild(self, *, is_forced: bool) -> None:
        if self.under_way and not is_forced:
            with pytest.raises(ErasureUnderWayError):
                await rebuild(self.flow, store=self.store, redis=self.redis)
            return
        await rebuild(self.flow, store=self.store, redis=self.redis, despite_erasures=is_forced)
        await self._serve()

    async def _replay(self, stage: str) -> None:
        if self.under_way and stage != "index":
            with pytest.raises(ErasureUnderWayError):
                await replay(self.flow, stage, ReplayStart())
            return
        await replay(self.flow, stage, ReplayStart())
        await self._serve()

    async def _switch(self, generation: str) -> None:
        await write(self.flow, lambda draft: add_generation(draft, self.tenant, generation))
        stop = asyncio.Event()
        second = asyncio.create_task(serve_stage("extraction", self.flow, stop, generation=generation, only=frozenset({self.tenant})))
        async with serving(self.flow, WITHOUT_RECALLS):
            await followed(self.flow, generation)
            await caught_up(self.flow, WITHOUT_RECALLS)
            await switch(self.flow, self.tenant, generation, by="test")
        stop.set()
        await second

    async def _words_everywhere(self) -> dict[str, set[bytes]]:
        """The words of all users by the place where they stand: what compaction or retention removes does not stand."""
        found = await standing_records(self.flow, without=["recalls"]) | await redis_contents(self.flow)
        found["store"] = [line async for line in snapshot(self.store, self.tenant)]
        found["history"] = await stored_contents(self.store, self.tenant)
        return {place: words_in(contents, _WORD) for place, contents in found.items()}


@pytest.mark.parametrize("example", range(EXAMPLES))
async def test_an_erasure_survives_any_sequence(example: int, flow: Settings) -> None:
    flow = flow.model_copy(update={"control": ControlSettings(lease_s=2.0)})
    ErasureMachine.flow, ErasureMachine.loop = flow, asyncio.get_running_loop()
    ErasureMachine.store = build_store(flow)
    # A sequence takes minutes, so a failing one is shown as it is.
    tried = settings(
        max_examples=1,
        stateful_step_count=STEPS,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    try:
        async with open_redis(flow.redis) as redis:
            ErasureMachine.redis = redis
            await asyncio.to_thread(run_state_machine_as_test, ErasureMachine, settings=tried)
    finally:
        await ErasureMachine.store.close()
