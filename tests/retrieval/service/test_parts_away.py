"""What the service still does while a part that it stands on is away."""

import socket
from pathlib import Path

import pytest

from runtime.settings import StoreSettings
from tests.retrieval.service.world import (
    OSLO,
    World,
    problem,
    serving,
)

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture
def nowhere() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


async def test_while_kafka_and_redis_are_away_it_still_recalls(world: World, nowhere: str) -> None:
    settings = world.settings.model_copy(
        update={
            "kafka": world.settings.kafka.model_copy(update={"bootstrap": nowhere, "request_timeout_s": 1.0}),
            "redis": world.settings.redis.model_copy(update={"url": f"redis://{nowhere}/0"}),
            "service": world.settings.service.model_copy(update={"produce_timeout_s": 1.0, "probe_timeout_s": 5.0}),
        }
    )
    async with serving(settings) as http:
        recalled = await http.post("/v1/recall", json={"query": "Where is Ann?", "session": "talk"}, headers=world.of("acme"))
        assert recalled.status_code == 200, recalled.text
        assert recalled.json()["results"]
        assert recalled.json()["degraded"] == ["session_tail"]
        message = {"user": "ann", "session": "s", "text": "x"}
        one = await http.post("/v1/messages", json={**message, "id": "m1"}, headers=world.of("acme"))
        assert problem(one, 503, "Kafka does not answer")["id"] == "m1"
        assert int(one.headers["retry-after"]) > 0
        batch = await http.post("/v1/messages", json=[message, message], headers=world.of("acme"))
        assert [item["status"] for item in problem(batch, 503, "Kafka does not answer")["items"]] == [503, 503]
        assert int(batch.headers["retry-after"]) > 0
        problem(await http.post("/v1/flush", json={}, headers=world.of("acme")), 503, "Kafka does not answer")
        problem(await http.get("/v1/sessions/s", headers=world.of("acme")), 503, "Redis does not answer")
        ready = await http.get("/readyz")
        assert ready.status_code == 503
        assert {name: check["ok"] for name, check in ready.json()["checks"].items()} == {
            "kafka": False,
            "store": True,
            "redis": False,
            "embedder": True,
        }


async def test_while_redis_alone_is_away_it_is_ready(world: World, nowhere: str) -> None:
    settings = world.settings.model_copy(update={"redis": world.settings.redis.model_copy(update={"url": f"redis://{nowhere}/0"})})
    async with serving(settings) as http:
        ready = await http.get("/readyz")
        assert (ready.status_code, ready.json()["checks"]["redis"]["ok"]) == (200, False)


async def test_while_the_store_is_away_a_recall_says_so(world: World, tmp_path: Path) -> None:
    settings = world.settings.model_copy(update={"store": StoreSettings(socket=tmp_path / "none.sock")})
    async with serving(settings) as http:
        problem(await http.post("/v1/recall", json={"query": "x"}, headers=world.of("acme")), 503, "vector store does not answer")
        problem(await http.get(f"/v1/memories/{OSLO.id}", headers=world.of("acme")), 503, "vector store does not answer")
        ready = await http.get("/readyz")
        assert (ready.status_code, ready.json()["checks"]["store"]["ok"]) == (503, False)
