"""From recalls and feedback to a ranking of the deployment's own, on a real Kafka, Redis, store and embedding model."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from typer.testing import CliRunner, Result

from memory.headers import FEEDBACK, KIND
from memory.records import RecallRecord
from memory.schema import scenario
from memory.schema.methods import with_method
from retrieval.errors import ProfilesError, TrainingError
from retrieval.rankers.fitted_models import LEARNED
from retrieval.relevance.features import FEATURES
from runtime.kafka import read_topic
from runtime.redis.client import open_redis
from runtime.redis.retrieval_counts import RetrievalCounts
from runtime.settings import Settings
from tests.api.running_service import OSLO, RunningService, bearer, expect_problem, index, memory, serving
from tests.control_log import add_tenant
from varve.cli.application import app

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

PLACES = ("harbour", "market", "library", "station", "museum", "bakery", "river", "castle", "garden", "stadium", "theatre")
TIMES = ("morning", "noon", "evening", "night", "spring")
ASKED = [memory("acme", "zoe", f"Zoe: who walks to the {place} with me?") for place in PLACES]
SAID = [memory("acme", "zoe", f"Zoe: my walks to the {place} are long.") for place in PLACES]
QUESTIONS = {each.id for each in ASKED}
RECALLS = [f"walks to the {place} in the {time}" for place in PLACES for time in TIMES]


def with_recall(settings: Settings, **changed: Any) -> Settings:
    return settings.model_copy(update={"recall": settings.recall.model_copy(update=changed)})


async def ask(http: httpx.AsyncClient, service: RunningService, query: str, **body: Any) -> dict[str, Any]:
    response = await http.post("/v1/recall", json={"query": query, "user": "zoe", **body}, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def judge(http: httpx.AsyncClient, service: RunningService, recalled: dict[str, Any]) -> None:
    """Zoe looks for what she asked, and has no use for what she said."""
    ids = [each["id"] for each in recalled["results"]]
    said = {"useful": [each for each in ids if each in QUESTIONS], "useless": [each for each in ids if each not in QUESTIONS]}
    body = {"recall_id": recalled["recall_id"], "user": "zoe", **said}
    assert (await http.post("/v1/feedback", json=body, headers=service.auth("acme"))).status_code == 200


async def recalls_in(service: RunningService) -> list[RecallRecord]:
    topic = service.settings.topic("recalls")
    records = [each async for each in read_topic(topic, service.settings.kafka) if (KIND, FEEDBACK) not in each.headers]
    return [RecallRecord.from_json(each.value or b"") for each in records]


def command_of(service: RunningService) -> Callable[..., Result]:
    kafka = service.settings.kafka
    environment = {
        "VARVE_DATA": str(service.settings.data),
        "VARVE_KAFKA__BOOTSTRAP": kafka.bootstrap,
        "VARVE_KAFKA__TOPIC_PREFIX": kafka.topic_prefix,
    }

    def invoke(*arguments: str) -> Result:
        result = CliRunner().invoke(app, arguments, env=environment)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke


async def test_feedback_becomes_a_ranking_that_recalls_name(service: RunningService, tmp_path: Path) -> None:
    await index(service.settings, [*ASKED, *SAID])
    out = tmp_path / "profiles.json"
    fit = command_of(service)
    arguments = ("ranking", "fit", "acme", "--name", "house", "--out", str(out))

    async with serving(with_recall(service.settings, training_share=1.0)) as http:
        as_shipped = await ask(http, service, RECALLS[0])
        await judge(http, service, as_shipped)
        await ask(http, service, "walks that nobody judges")
    with pytest.raises(TrainingError, match=r"1 recalls that ask 1 different questions .* a fit needs 50 questions"):
        await asyncio.to_thread(fit, *arguments)
    assert not out.exists()

    async with serving(with_recall(service.settings, training_share=1.0)) as http:
        for query in RECALLS:
            await judge(http, service, await ask(http, service, query))
    said = orjson.loads((await asyncio.to_thread(fit, *arguments, "--json")).stdout)
    assert (said["profile"], said["recalls"], said["questions"]) == ("house", len(RECALLS) + 1, len(RECALLS))
    assert said["left_out"]["pairs"] > said["shipped"]["pairs"]
    assert said["shipped"] == said["as_ranked"]
    assert "right pairs" in (await asyncio.to_thread(fit, *arguments)).stdout

    model = orjson.loads(out.read_bytes())["house"]
    assert model["weights"]["question"] > LEARNED.weights["question"]
    async with serving(with_recall(service.settings, profiles=out)) as http:
        shipped = await ask(http, service, RECALLS[0])
        own = await ask(http, service, RECALLS[0], profile="house", explain=True)
        expect_problem(
            await http.post("/v1/context", json={"query": "x", "profile": "hous"}, headers=service.auth("acme")),
            422,
            "profile: 'hous' is not a ranking profile; known profiles: house, learned, memx, weighted",
        )
        context = await http.post("/v1/context", json={"query": RECALLS[0], "profile": "house"}, headers=service.auth("acme"))
        assert context.status_code == 200
    places = [[each["id"] in QUESTIONS for each in answer["results"]] for answer in (shipped, own)]
    assert sum(places[1][:5]) > sum(places[0][:5])
    parts = own["results"][0]["parts"]
    assert {f"ranking_{name}" for name in FEATURES} <= set(parts)
    assert parts["ranking_question"] == pytest.approx(model["slope"] * model["weights"]["question"], rel=1e-3)
    assert own["confidence"] == shipped["confidence"]

    async with serving(with_recall(service.settings, profiles=out, profile="house")) as http:
        by_default = await ask(http, service, RECALLS[0])
    assert [(each["id"], each["score"]) for each in by_default["results"]] == [(each["id"], each["score"]) for each in own["results"]]


async def test_a_query_is_kept_only_where_asked_for(service: RunningService) -> None:
    query = "walks to a place that is nowhere else"
    await index(service.settings, [*ASKED, *SAID])
    async with serving(service.settings) as http:
        unkept = (await ask(http, service, query))["recall_id"]
    async with serving(with_recall(service.settings, training_share=1.0)) as http:
        kept = (await ask(http, service, query, profile="weighted"))["recall_id"]
        block = await http.post("/v1/context", json={"query": query, "user": "zoe"}, headers=service.auth("acme"))
        sifted = (await ask(http, service, query, mode="sift"))["recall_id"]
    records = {each.id: each for each in await recalls_in(service)}
    assert records[unkept].ranking is None
    assert query not in records[unkept].to_json().decode()
    ranking = records[kept].ranking
    assert ranking is not None
    assert (ranking.query, ranking.profile, ranking.features) == (query, "weighted", [*FEATURES])
    assert [each.memory_id for each in ranking.candidates][: len(records[kept].memory_ids)] == records[kept].memory_ids
    for recall_id in (block.json()["recall_id"], sifted):
        recorded = records[recall_id].ranking
        assert recorded is not None
        assert recorded.profile == "learned"


async def test_the_profile_of_a_method_is_recorded_or_refused(service: RunningService) -> None:
    keys = {}
    for profile in ("memx", "lerned"):
        method: dict[str, Any] = {"Method": f"by-{profile}", "Archive": {"Turns": True}, "Retrieve": {"Profile": profile}}
        keys[profile] = await add_tenant(service.settings, f"by-{profile}", schema=with_method(scenario("companion"), method))
    async with serving(with_recall(service.settings, training_share=1.0)) as http:

        async def asked(tenant: str, **body: Any) -> httpx.Response:
            query = {"query": "a walk", "user": "zoe", **body}
            return await http.post("/v1/recall", json=query, headers=bearer(keys[tenant]))

        await index(service.settings, [memory("by-memx", "zoe", "Zoe: a walk to the harbour")])
        recalled = (await asked("memx")).json()
        expect_problem(
            await asked("lerned"), 422, "'lerned' is not a ranking profile; known profiles: learned, memx, weighted. The tenant's method"
        )
        assert (await asked("lerned", profile="learned")).status_code == 200
    (ranking,) = [each.ranking for each in await recalls_in(service) if each.id == recalled["recall_id"]]
    assert ranking is not None
    assert ranking.profile == "memx"
    async with open_redis(service.settings.redis) as redis:
        assert await RetrievalCounts(redis=redis).of("by-memx", [recalled["results"][0]["id"]])


async def test_an_oversized_record_drops_its_ranking(service: RunningService) -> None:
    await index(service.settings, [*ASKED, *SAID])
    small = service.settings.kafka.model_copy(update={"max_record_bytes": 20_000})
    settings = with_recall(service.settings, training_share=1.0).model_copy(update={"kafka": small})
    async with serving(settings) as http:
        recalled = await ask(http, service, "walks " + "🚶" * 9_000)
        fits = await ask(http, service, "walks")
    records = {each.id: each for each in await recalls_in(service)}
    assert records[recalled["recall_id"]].ranking is None
    assert records[recalled["recall_id"]].memory_ids == [each["id"] for each in recalled["results"]]
    assert records[fits["recall_id"]].ranking is not None


async def test_a_memx_profile_counts_returned_memories(service: RunningService, tmp_path: Path) -> None:
    profiles = tmp_path / "profiles.json"
    profiles.write_text('{"often": {"base": "memx", "time_weight": 0.1}}')
    async with serving(with_recall(service.settings, profiles=profiles)) as http:
        plain = await ask(http, service, "who walks to the harbour?", limit=1)
        counted = await ask(http, service, "long walks to the castle", limit=3, profile="often")
    ids = {each["id"] for each in counted["results"]}
    async with open_redis(service.settings.redis) as redis:
        returned = await RetrievalCounts(redis=redis).of("acme", [*ids, *(each["id"] for each in plain["results"])])
    assert set(returned) == ids


async def test_no_service_starts_with_a_wrong_profile(service: RunningService, tmp_path: Path) -> None:
    wrong = tmp_path / "profiles.json"
    wrong.write_text('{"house": {"base": "learned", "slope": 1}}')
    with pytest.raises(ProfilesError, match=r"house: .*weights and intercept is missing"):
        async with serving(with_recall(service.settings, profiles=wrong)):
            pass


async def test_an_unknown_profile_is_refused(service: RunningService) -> None:
    body = {"query": "Where does Ann live?", "profile": "house"}
    refused = await service.http.post("/v1/recall", json=body, headers=service.auth("acme"))
    expect_problem(refused, 422, "known profiles: learned, memx, weighted")
    taken = await service.http.post("/v1/recall", json={**body, "profile": "memx"}, headers=service.auth("acme"))
    assert OSLO.id in {each["id"] for each in taken.json()["results"]}
