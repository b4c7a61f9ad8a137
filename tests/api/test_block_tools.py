"""Memory tools over HTTP and MCP on the real app, stages, store and Redis, with the topics in this process."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from api.composition import OpenDependencies
from api.dependencies import Dependencies
from api.limits.admission import Admission
from api.limits.quotas import MemoryCounts, Quotas
from api.limits.requests_in_progress import RequestsInProgress
from api.reads.read_audit import ReadAudit
from control.access_keys import hash_key, new_api_key
from control.key_changes import add_key
from control.key_usage import KeyUsage
from memory.headers import KIND
from memory.positions import LogPosition
from runtime.clocks import SystemClock
from runtime.kafka import OutgoingRecord
from runtime.metrics import metrics
from runtime.redis.client import open_redis
from runtime.redis.entity_view import EntityView
from runtime.redis.idempotency_cache import IdempotencyCache
from runtime.redis.rate_limits import RateLimiter
from runtime.settings import RedisSettings, Settings, StoreSettings
from stores.build import build_store
from stores.port import MemoryStore
from tests.api.block_agent import Agent, applied
from tests.api.mcp.served import call, failure, mcp_client, mcp_service
from tests.api.running_service import bearer, serving
from tests.control_log import add, now_known
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.stores.factories import BagOfWordsEmbedder
from tests.streams.agent_remarks import BLOCK, schema
from tests.streams.harness import plain_settings
from tests.streams.linked_remarks import remarks
from tests.streams.merged_remarks import TENANT
from tests.streams.stages.merging.linked_stages import LinkedStages

pytestmark = pytest.mark.integration


class Log:
    """Takes the place of a producer: the stages of this process handle each record before the next one."""

    def __init__(self, stages: LinkedStages) -> None:
        self._stages = stages
        self._turn = asyncio.Lock()
        self.is_unavailable = False
        """Whether the stages handle nothing."""

    async def send_many(self, records: Sequence[OutgoingRecord]) -> list[LogPosition]:
        async with self._turn:
            place = len(self._stages.log["extractions"])
            self._stages.append([*records])
            if not self.is_unavailable:
                await self.settle()
        return [LogPosition(each.topic, 0, place + number) for number, each in enumerate(records)]

    async def settle(self) -> None:
        while await self._stages.step():
            pass


class Served:
    """The app with its stages."""

    def __init__(self, settings: Settings, store: MemoryStore) -> None:
        self.settings = settings
        self.stages = LinkedStages(settings, schema(Characters=400), store)
        self.log = Log(self.stages)
        self._store = store

    def key(self, tenant: str = TENANT, **fields: Any) -> str:
        """A new key of a tenant."""
        key = new_api_key()
        now_known(self.stages.tenants, lambda draft: add_key(draft, tenant, hash_key(key), now=datetime.now(UTC), **fields))
        return key

    @property
    def open_dependencies(self) -> OpenDependencies:
        @asynccontextmanager
        async def opened(settings: Settings) -> AsyncIterator[Dependencies]:
            counts = MemoryCounts(store=self._store)
            async with open_redis(settings.redis) as redis:
                unused = dict.fromkeys(
                    (
                        "console",
                        "control",
                        "tail",
                        "store_positions",
                        "profiles",
                        "recall",
                        "recall_log",
                        "erasures",
                        "overview",
                        "previews",
                        "background",
                    ),
                    cast(Any, None),
                )
                yield Dependencies(
                    settings=settings,
                    clock=SystemClock(),
                    metrics=metrics(),
                    tenants=self.stages.tenants,
                    identity=None,
                    producer=cast(Any, self.log),
                    redis=redis,
                    entity_view=EntityView(redis=redis, ttl_s=60),
                    answers=IdempotencyCache(redis=redis, ttl_s=60, max_bytes=1_000_000),
                    key_uses=KeyUsage(redis=redis),
                    store=cast(Any, self._store),
                    embedder=cast(Any, BagOfWordsEmbedder()),
                    quotas=Quotas(
                        settings=settings.quota,
                        limiter=RateLimiter(redis=redis, purpose="quota", metrics=metrics()),
                        memory_counts=counts,
                        metrics=metrics(),
                    ),
                    in_progress=RequestsInProgress(most=settings.service.max_requests_of_tenant),
                    admission=Admission(settings=settings.service, metrics=metrics()),
                    read_audit=ReadAudit(
                        producer=cast(Any, self.log), topic_prefix="", rate=0, max_pending=1, metrics=metrics(), clock=SystemClock()
                    ),
                    **unused,
                )
                await counts.close()

        return opened

    def http(self) -> AbstractAsyncContextManager[httpx.AsyncClient]:
        return serving(self.settings, open_dependencies=self.open_dependencies)


@pytest.fixture
def edge(tmp_path: Path) -> Iterator[EdgeOwnerProcess]:
    with EdgeOwnerProcess(tmp_path / "edge") as edge:
        yield edge


@pytest.fixture
async def served(edge: EdgeOwnerProcess, tmp_path: Path, redis_url: str) -> AsyncIterator[Served]:
    redis = RedisSettings(url=redis_url, prefix=f"{uuid.uuid4()}:", timeout_s=60.0)
    settings = plain_settings(tmp_path, store=StoreSettings(socket=edge.socket)).model_copy(update={"redis": redis})
    store = build_store(settings)
    yield Served(settings, store)
    await store.close()


async def test_of_two_replacements_of_a_text_one_conflicts(served: Served) -> None:
    async with served.http() as http:
        agents = [Agent(http, served.key(label=f"agent-{number}")) for number in range(5)]
        refused = await agents[0].edit("replace", old="Oslo", text="Rome")
        assert (refused.status_code, "empty" in refused.json()["detail"], served.stages.notes()) == (409, True, {})
        applied(await agents[0].edit("append", text="Lives in Oslo."))
        answers = await asyncio.gather(*(each.edit("replace", old="Oslo", text=f"City {number}") for number, each in enumerate(agents)))
        assert sorted(each.status_code for each in answers) == [200, 409, 409, 409, 409]
        problem = next(each.json() for each in answers if each.status_code == 409)
        assert problem["type"].endswith("edit-conflict")
        assert "is not in the block" in problem["detail"]
        assert "City" in problem["block"]["text"]
        appended = await asyncio.gather(*(each.edit("append", text=f"Fact {number}.") for number, each in enumerate(agents)))
        assert {each.status_code for each in appended} == {200}
        assert sorted((await agents[0].read())["text"].splitlines()[1:]) == [f"Fact {number}." for number in range(5)]
        full = await agents[0].edit("append", text="x" * 390)
        assert (full.status_code, "its limit is 400" in full.json()["detail"]) == (409, True)
        late = await agents[0].edit("append", text="y", version=1)
        assert (late.status_code, "has changed" in late.json()["detail"]) == (409, True)


async def test_a_repeated_request_edits_once(served: Served) -> None:
    async with served.http() as http, open_redis(served.settings.redis) as redis:
        agent = Agent(http, served.key())
        first = await agent.edit("append", text="Has a cat.", key="one")
        again = await agent.edit("append", text="Has a cat.", key="one")
        assert (first.json()["id"], again.headers["Idempotency-Status"]) == (again.json()["id"], "replayed")
        assert "Has a cat." not in again.text, "an erasure does not find a kept answer"
        await redis.drop_keys()
        without_answer = await agent.edit("append", text="Has a cat.", key="one")
        assert applied(without_answer) == first.json()["id"]
        assert (await agent.read())["text"] == "Has a cat."


async def test_a_late_stage_leaves_the_edit_pending(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.routes.blocks._WAIT_S", 0.2)
    async with served.http() as http:
        agent = Agent(http, served.key())
        served.log.is_unavailable = True
        pending = await agent.edit("append", text="Has a cat.", key="one")
        assert (pending.status_code, pending.json()["status"]) == (202, "pending")
        await served.log.settle()
        served.log.is_unavailable = False
        assert applied(await agent.edit("append", text="Has a cat.", key="one")) == pending.json()["id"]
        assert (await agent.read())["text"] == "Has a cat."


async def test_edits_stay_with_their_user(served: Served) -> None:
    whole, bens, reader = served.key(), served.key(user="ben"), served.key(scopes=["recall"])
    await served.stages.say(remarks("ann", 0, "I live in Oslo."))
    async with served.http() as http:
        ann, ben = Agent(http, whole), Agent(http, bens, None)
        edit = applied(await ann.edit("append", text="Lives in Oslo."))
        applied(await ben.edit("append", text="Lives in Rome."))
        assert [(await each.read())["text"] for each in (ann, ben)] == ["Lives in Oslo.", "Lives in Rome."]
        assert (await ben.undo(edit)).status_code == 404
        for refused in (Agent(http, bens), Agent(http, reader)):
            assert (await refused.edit("append", text="x")).status_code == 403
        unnamed = await Agent(http, whole, None).edit("append", text="x")
        assert (unnamed.status_code, "name the user" in unnamed.json()["detail"]) == (422, True)
        assert [each["says"] for each in (await ann.search("Where do I live?"))["results"]] == ["I live in Oslo."]
        assert (await ben.search("Where do I live?"))["results"] == []
        unknown = await http.get("/v1/blocks/core_memory/robot", params={"user": "ann"}, headers=bearer(whole))
        assert (unknown.status_code, f"core_memory/{BLOCK}" in unknown.json()["detail"]) == (404, True)
        listed = await http.get("/v1/blocks", params={"user": "ann"}, headers=bearer(whole))
        assert [each["text"] for each in listed.json()["blocks"]] == ["Lives in Oslo."]
        wrong = await ann.edit("insert", text="x")
        assert (wrong.status_code, "insert needs line" in wrong.json()["detail"]) == (422, True)


async def test_edits_stay_with_their_tenant(served: Served) -> None:
    now_known(served.stages.tenants, add("rival", schema(Characters=400)))
    await served.stages.say(remarks("ann", 0, "I live in Oslo."))
    async with served.http() as http:
        own, rival = Agent(http, served.key()), Agent(http, served.key("rival"))
        edit = applied(await own.edit("append", text="Lives in Oslo.", key="one"))
        assert (await rival.read())["text"] == ""
        other = await rival.edit("append", text="Another Ann.", key="one")
        assert applied(other) != edit
        assert (await rival.undo(edit)).status_code == 404
        assert (await rival.edit("replace", old="Oslo", text="Rome")).status_code == 409
        assert [(await each.read())["text"] for each in (own, rival)] == ["Lives in Oslo.", "Another Ann."]
        assert (await rival.search("Where do I live?"))["results"] == []


async def test_a_search_pages_through_all_events(served: Served) -> None:
    await served.stages.say(*(remarks("ann", number, f"I ate {number} apples.") for number in range(12)))
    async with served.http() as http:
        agent = Agent(http, served.key())
        pages = [await agent.search("apples", page) for page in range(3)]
    assert [len(each["results"]) for each in pages] == [5, 5, 2]
    assert [each["more"] for each in pages] == [True, True, False]
    assert len({each["id"] for page in pages for each in page["results"]}) == 12


async def test_mcp_tools_edit_the_block(served: Served) -> None:
    bens, anns = served.key(user="ben", label="ben"), served.key(user="ann", label="planner")
    async with mcp_service(served.settings, open_dependencies=served.open_dependencies) as url:
        async with mcp_client(url, anns) as client:
            first = await call(client, "block_append", text="Lives in Oslo.")
            assert (first["status"], first["block"]["text"]) == ("applied", "Lives in Oslo.")
            await call(client, "block_insert", line=1, text="Ann.", version=1)
            await call(client, "block_replace", old="Oslo", text="Bergen", block=f"core_memory/{BLOCK}")
            block = await call(client, "block_read")
            assert block["numbered"] == "1: Ann.\n2: Lives in Bergen."
            assert [each["by"].split(" (")[0] for each in block["edits"]] == ["planner"] * 3
            reason = await failure(client, "block_replace", old="Oslo", text="Rome")
            assert "`old` is not in the block" in reason
            assert "edit-conflict" in reason
            assert "name one of" in await failure(client, "block_read", block="core_memory/robot")
            undone = await call(client, "block_undo", edit=block["edits"][0]["id"])
            assert undone["block"]["text"] == "Ann.\nLives in Oslo."
        async with mcp_client(url, bens) as client:
            assert (await call(client, "block_read"))["text"] == ""
            assert "another user" in await failure(client, "block_append", text="x", user="ann")
            assert (await call(client, "block_search", query="Oslo")) == {"page": 0, "results": [], "more": False}


async def test_the_log_has_author_and_reason(served: Served) -> None:
    async with served.http() as http:
        applied(await Agent(http, served.key(label="planner")).edit("append", text="Has a cat.", reason="she said so"))
    (record,) = served.stages.log["extractions"]
    assert dict(record.headers)[KIND] == b"correction"
    assert all(each in (record.value or b"") for each in (b'"edit"', b"planner (", b"she said so"))
