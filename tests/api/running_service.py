"""A query service on a real Kafka, Redis, Edge store and embedding model, and the memories in its store."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from asgi_lifespan import LifespanManager

from api.app import create_app
from api.composition import OpenDependencies, open_dependencies
from api.kafka_probes import KafkaProbes
from api.serve import readiness_of
from memory.ids import entity_id
from memory.keys import entity_key
from memory.records import Memory
from models.embedding.build import build_embedder
from runtime.kafka import KafkaOffsets, client_options
from runtime.metrics import metrics
from runtime.probe import Check
from runtime.redis.recall_history import RecallHistory
from runtime.redis.session_tail import SessionTail
from runtime.settings import Settings
from stores.build import build_store
from tests.api.service_process import DEADLINE_S
from tests.stores.factories import store_memories
from tests.waiting import until_async

PARTITIONS = 3
PATIENCE_S = 60.0
LONGEST_PAUSE_S = 1.0
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


class InProcessTransport(httpx.ASGITransport):
    """Calls a service of this process, and lets it do its other work before each call, as a socket would.

    A request that waits for nothing gives nobody a turn: a loop of such requests would keep the service from following the control log.
    A machine that stops for seconds makes the service answer 503 with ``Retry-After``; then the request is repeated, as clients do.

    Args:
        app: The service.
        patience_s: How long a request is repeated. 0: the first answer counts.
    """

    def __init__(self, *, app: Any, patience_s: float = PATIENCE_S) -> None:
        super().__init__(app=app)
        self._patience_s = patience_s

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        deadline = time.monotonic() + self._patience_s
        while True:
            await asyncio.sleep(0.002)
            response = await super().handle_async_request(request)
            is_passing = response.status_code == httpx.codes.SERVICE_UNAVAILABLE and "Retry-After" in response.headers
            if not is_passing or time.monotonic() >= deadline:
                return response
            await response.aclose()
            await asyncio.sleep(min(float(response.headers["Retry-After"]), LONGEST_PAUSE_S))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningService:
    """A running service, a client of it, and the clients of its stores."""

    settings: Settings
    keys: dict[str, str]
    http: httpx.AsyncClient
    tail: SessionTail
    recall_history: RecallHistory

    def auth(self, tenant: str) -> dict[str, str]:
        return bearer(self.keys[tenant])

    async def answer(self, path: str, body: dict[str, Any], *, http: httpx.AsyncClient | None = None) -> dict[str, Any]:
        """The answer to a POST of the tenant ``acme``, with a client of this service or of another one over the same stores."""
        response = await (http or self.http).post(path, json=body, headers=self.auth("acme"))
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer


@asynccontextmanager
async def serving(
    settings: Settings,
    *,
    key: str | None = None,
    open_dependencies: OpenDependencies = open_dependencies,
    patience_s: float = PATIENCE_S,
) -> AsyncIterator[httpx.AsyncClient]:
    """Runs a service in this process, and gives a client of it with an API key; ``patience_s`` as in :class:`InProcessTransport`."""
    headers = None if key is None else bearer(key)
    async with (
        LifespanManager(create_app(settings, open_dependencies=open_dependencies), startup_timeout=60, shutdown_timeout=60) as running,
        httpx.AsyncClient(
            transport=InProcessTransport(app=running.app, patience_s=patience_s), base_url="http://varve", headers=headers, timeout=60
        ) as http,
    ):
        yield http


async def readiness_checks(settings: Settings) -> dict[str, Check]:
    """The readiness of the dependencies of these settings, checked once."""
    async with (
        open_dependencies(settings) as dependencies,
        KafkaProbes(settings=settings, clock_limits_s=dependencies.producer.clock_limits_s) as kafka,
    ):
        readiness = readiness_of(dependencies, kafka)
        await readiness.ask_all()
        return readiness.checks


async def index(settings: Settings, memories: Sequence[Memory]) -> None:
    embedder, store = build_embedder(settings.embedding, cache=settings.cache_path), build_store(settings)
    await store_memories(store, *memories, embedder=embedder)
    await store.close()
    await embedder.close()


def memory(tenant: str, user: str, content: str, **fields: Any) -> Memory:
    return Memory(
        **{
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{tenant}/{user}/{content}")),
            "tenant": tenant,
            "user": user,
            "kind": "event",
            "type": "life_event",
            "content": content,
            "event_time": NOON,
            "message_ids": [f"{user}-m1", f"{user}-m2"],
            **fields,
        }
    )


ENTITY_KEY = entity_key("ann/1", "Zürich")
OSLO = memory("acme", "ann", "Ann moved to Oslo in March 2024")
CAT = memory(
    "acme",
    "ann",
    "Ann has a cat called Miso",
    said="Ann: My little one, Miso, purrs.",
    search_text="Ann (6 May 2024): Ann's little one, Miso, purrs.",
)
BERLIN = memory("acme", "bob", "Bob moved to Berlin in June 2022")
LIMA = memory("umbrella", "ann", "Ann moved to Lima in January 2021")
PROFILE = memory(
    "acme",
    "ann",
    "Profile of Ann: lives in Oslo",
    id=entity_id("acme", "user_profile", ENTITY_KEY),
    kind="entity",
    type="user_profile",
    entity_key=ENTITY_KEY,
)
MEMORIES = (OSLO, CAT, BERLIN, LIMA, PROFILE)


async def record_at(service: RunningService, position: dict[str, Any]) -> ConsumerRecord:
    partition = TopicPartition(position["topic"], position["partition"])
    async with AIOKafkaConsumer(**client_options(service.settings.kafka)) as consumer:
        consumer.assign([partition])
        consumer.seek(partition, position["offset"])
        async with asyncio.timeout(60):
            return await consumer.getone()


async def end_offsets(service: RunningService, topic: str) -> dict[TopicPartition, int]:
    async with KafkaOffsets(kafka=service.settings.kafka) as offsets:
        return await offsets.end_offsets([service.settings.topic(topic)])


async def change_count(service: RunningService) -> int:
    """The number of records of corrections and of messages."""
    ends = [await end_offsets(service, topic) for topic in ("extractions", "messages")]
    return sum(sum(each.values()) for each in ends)


def expect_problem(response: httpx.Response, status: int, detail: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert detail in body["detail"]
    return body


def path_count(path: str, outcome: str) -> float:
    """How often a path of this process's recalls has ended so."""
    return metrics().registry.get_sample_value("varve_recall_paths_total", {"path": path, "outcome": outcome}) or 0.0


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def when_known(service: RunningService, key: str) -> dict[str, str]:
    """The headers of a new key, once the running service follows so far."""
    await until_async(
        lambda: service.http.get("/v1/memories/none", headers=bearer(key)), lambda answer: answer.status_code != 401, deadline_s=DEADLINE_S
    )
    return bearer(key)
