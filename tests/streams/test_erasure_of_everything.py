"""A receipt is true for all that a user can leave at once.

Parked windows of the live worker and of a generation that is being built, dead letters, a replay that runs, an open session, recalls,
cached answers of a model, entity views, traces, local files and every answer over HTTP.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from control.erasure import Erasure
from control.tenant_changes import add_generation, set_tenant
from loadtest.answers import extraction_answer
from loadtest.llm_simulator import LLMSimulator
from loadtest.requests import ChatRequest
from memory.keys import encode_key
from memory.records import Message
from runtime.kafka import KafkaOffsets, Producer
from runtime.kafka.parked_note import read_parked
from runtime.redis.client import GuardedRedis
from runtime.settings import ControlSettings, DeliverySettings, LLMSettings, Settings
from stores.port import MemoryStore
from streams.operations.erasure.erase import erase
from streams.operations.rebuild import snapshot
from streams.operations.replay import ReplayStart, replay
from streams.run import serve_stage
from streams.stages.catalog import STAGES
from tests.api.running_service import bearer
from tests.api.running_service import serving as service_of
from tests.control_log import add_key, add_operator, write
from tests.recorded_spans import recorded_spans
from tests.streams import standing_words
from tests.streams.flow import DEADLINE_S, POLL_S, TENANT, caught_up, followed, serving
from tests.streams.harness import until
from tests.streams.standing_words import places_naming, redis_contents, standing_records, stored_contents, table_contents

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

LEAVING, STAYING = "ada", "bob"
NEW: Final = "v2"
UNUSABLE: Final = "UNUSABLE"
"""In a message: the model's answer quotes it, and is no JSON."""
_WORD: Final = re.compile(rb"[AB]W[0-9]{3}X")
"""Words of ada begin with A, words of bob with B."""
EXTRACTION: Final = STAGES["extraction"]


def answer(request: ChatRequest) -> str:
    """The simulated model's answer; not JSON where a message says so."""
    text = "\n".join(content for _, content in request.messages if UNUSABLE in content)
    return f"I will not answer this: {text}" if text else extraction_answer(request)


@pytest.fixture
async def simulator() -> AsyncIterator[LLMSimulator]:
    async with LLMSimulator(answer=answer) as simulator:
        yield simulator


@pytest.fixture
def leased(flow: Settings, simulator: LLMSimulator) -> Settings:
    """The flow with a model."""
    return flow.model_copy(
        update={
            "control": ControlSettings(lease_s=8.0),
            "delivery": DeliverySettings(batch_interval_s=0.0, park_after_s=0.0),
            "llm": LLMSettings(base_url=simulator.base_url, model="simulated"),
        }
    )


class Conversation:
    """Two users of one tenant who talk over HTTP, one message a session; every message has its own word.

    Args:
        settings: The settings of the flow.
        http: A client of the service.
        key: The tenant's key.
        operator: An operator's key.
    """

    def __init__(self, settings: Settings, http: httpx.AsyncClient, key: str, operator: str) -> None:
        self.settings = settings
        self.http = http
        self.words: dict[str, set[bytes]] = {LEAVING: set(), STAYING: set()}
        self._headers = bearer(key)
        self._operator = bearer(operator)
        self._sessions: dict[str, str] = {}
        self._number = 0

    async def say(self, user: str, text: str = "", *, is_closed: bool = True) -> None:
        """Says something with a new word."""
        message = self._message(user, text, at=datetime.now(UTC) - timedelta(minutes=1))
        fields = message.model_dump(mode="json", include={"user", "session", "id", "text", "event_time"})
        await self.ask("POST", "/v1/messages", json=fields, idempotency_key=f"key-{self._number}")
        if is_closed:
            await self.ask("POST", "/v1/flush", json={"session": message.session})

    async def produce_from_the_future(self, user: str) -> None:
        """Produces a message that the sessions stage refuses. The service would not accept it."""
        message = self._message(user, "", at=datetime(2999, 1, 1, tzinfo=UTC))
        async with Producer(kafka=self.settings.kafka) as producer:
            topic = self.settings.topic("messages")
            await producer.send(topic, key=encode_key(TENANT, message.session), value=message.to_json())

    def _message(self, user: str, text: str, *, at: datetime) -> Message:
        self._number += 1
        word = f"{'A' if user == LEAVING else 'B'}W{self._number:03}X"
        session = f"s-{self._number}"
        self._sessions[session] = user
        self.words[user].add(word.encode())
        text = f"I moved to {word} in May. {text}"
        return Message(tenant=TENANT, user=user, session=session, id=f"m-{self._number}", text=text, event_time=at)

    async def ask(self, method: str, path: str, *, idempotency_key: str | None = None, **request: Any) -> bytes:
        headers = self._operator if path.startswith("/v1/admin") else self._headers
        if idempotency_key is not None:
            headers = {**headers, "Idempotency-Key": idempotency_key}
        response = await self.http.request(method, path, headers=headers, **request)
        assert response.status_code < 300 or (method == "GET" and response.status_code == 404), (path, response.text)
        return response.content

    async def answers(self) -> dict[str, bytes]:
        """Everything that the service says of the two users."""
        found: dict[str, bytes] = {}
        for user in (LEAVING, STAYING):
            for path in ("recall", "context"):
                found[f"{path} {user}"] = await self.ask("POST", f"/v1/{path}", json={"query": "Where did I move in May?", "user": user})
            found[f"entity {user}"] = await self.ask("GET", f"/v1/entities/user_profile/{user}")
            found[f"history {user}"] = await self.ask("GET", f"/v1/entities/user_profile/{user}/history")
        for session in self._sessions:
            found[f"session {session}"] = await self.ask("GET", f"/v1/sessions/{session}")
        states = ("open", "redriven", "superseded", "purged")
        for path in ("/v1/dead-letters", "/v1/admin/dead-letters"):
            found[path] = await self.ask("GET", path, params={"state": states})
            for partition in range(self.settings.kafka.partitions):
                for offset in range(8):
                    found[f"{path}/{partition}/{offset}"] = await self.ask("GET", f"{path}/{partition}/{offset}")
        for path in ("export", "audit", "erasures", "control"):
            found[path] = await self.ask("GET", f"/v1/admin/{path}", params={"tenant": TENANT} if path == "erasures" else {})
        return found


async def test_a_receipt_is_true_whatever_is_under_way(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    key, operator = await add_key(leased, TENANT), await add_operator(leased)
    await write(leased, lambda draft: add_generation(draft, TENANT, NEW))
    with recorded_spans() as spans:
        async with service_of(leased) as http:
            talk = Conversation(leased, http, key, operator)
            async with workers(leased):
                await fill_all_places(talk)
                await park_windows(talk)
                await talk.say(LEAVING, is_closed=False)
                before = await words_standing(leased, store, talk, spans)
                assert before >= {"redis", "store", "recall ada", "entity ada"}, before
                assert len({each for each in before if each.startswith("/v1/dead-letters/")}) >= 2, "both stages have refused something"
            # The state of the index is as before, but it reads everything again while the user is erased.
            for stage in ("events", "index"):
                assert await replay(leased, stage, ReplayStart())
            async with workers(leased):
                (receipt,) = await erase(leased, TENANT, [LEAVING], by="test", store=store, redis=redis)
                check_receipt(receipt)
                assert await words_standing(leased, store, talk, spans) == set()
                await until(lambda: not words_in_files(leased), deadline_s=60)
                assert await places_naming(leased, TENANT, LEAVING, store=store, redis=redis) == {}

                await grant(leased, None)
                await caught_up(leased)
                await followed(leased, NEW)
                assert await words_standing(leased, store, talk, spans) == set()
                stored = words_in([line async for line in snapshot(store, TENANT)])
                assert stored == talk.words[STAYING], "the other user has all that was said"
                assert await places_naming(leased, TENANT, LEAVING, store=store, redis=redis) == {}


async def fill_all_places(talk: Conversation) -> None:
    """Memories in both generations, dead letters of two stages, recalls and cached answers."""
    settings = talk.settings
    for user in (LEAVING, STAYING):
        await talk.say(user)
        await talk.say(user)
    await talk.produce_from_the_future(LEAVING)
    await talk.say(LEAVING, UNUSABLE)
    await caught_up(settings)
    await followed(settings, NEW)
    recalled = await talk.ask("POST", "/v1/recall", json={"query": "Where did I move in May?", "user": LEAVING})
    assert words_in([recalled])
    found = json.loads(recalled)
    useful = [(found["results"] + found["entities"])[0]["id"]]
    await talk.ask("POST", "/v1/feedback", json={"recall_id": found["recall_id"], "user": LEAVING, "useful": useful})
    of_all = json.loads(await talk.ask("POST", "/v1/recall", json={"query": "Where did I move in May?"}))
    await talk.ask("POST", "/v1/feedback", json={"recall_id": of_all["recall_id"], "useful": useful})
    await caught_up(settings)


async def park_windows(talk: Conversation) -> None:
    """Windows of both users that both extraction workers have parked, since the tenant has no budget."""
    settings = talk.settings
    await grant(settings, 0)
    for user in (STAYING, LEAVING, STAYING, LEAVING, STAYING):
        await talk.say(user)
    async with asyncio.timeout(DEADLINE_S):
        for suffix in ("", NEW):
            while await parked(settings, suffix) != 5:  # noqa: ASYNC110 - Kafka is polled
                await asyncio.sleep(POLL_S)


def check_receipt(receipt: Erasure) -> None:
    assert receipt.finished_at is not None
    assert receipt.remains == ()
    assert receipt.found["dead_letters"] >= 2


@asynccontextmanager
async def workers(settings: Settings) -> AsyncIterator[None]:
    """All stages, and the workers that build the new generation."""
    stop = asyncio.Event()
    async with AsyncExitStack() as resources, asyncio.TaskGroup() as running:
        running.create_task(serve_stage("extraction", settings, stop, generation=NEW, only=frozenset({TENANT})))
        await resources.enter_async_context(serving(settings))
        try:
            yield
        finally:
            stop.set()


async def grant(settings: Settings, hard_tokens: int | None) -> None:
    budget = {"hard_tokens": hard_tokens, "policy": "wait"}
    await write(settings, lambda draft: set_tenant(draft, TENANT, budget=budget))


async def parked(settings: Settings, suffix: str) -> int:
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        group = EXTRACTION.group(settings.kafka.topic_prefix, suffix)
        return (await read_parked(offsets, group, [settings.topic("windows")])).count


async def words_standing(settings: Settings, store: MemoryStore, talk: Conversation, spans: InMemorySpanExporter) -> set[str]:
    """The places that have words of the leaving user. Records that retention removes do not count, only what is read of them."""
    found = {name: [content] for name, content in (await talk.answers()).items()}
    found |= await standing_records(settings, generations=[NEW])
    found["store"] = await stored_contents(store, TENANT)
    found["redis"] = [part for parts in (await redis_contents(settings)).values() for part in parts]
    found["traces"] = [span.to_json().encode() for span in spans.get_finished_spans()]
    return {place for place, contents in found.items() if any(each.startswith(b"A") for each in words_in(contents))}


def words_in_files(settings: Settings) -> set[bytes]:
    """Words of the leaving user in the files of the local tables."""
    return {each for each in words_in(table_contents(settings)) if each.startswith(b"A")}


def words_in(contents: Iterable[bytes]) -> set[bytes]:
    """The words of both users in contents."""
    return standing_words.words_in(contents, _WORD)
