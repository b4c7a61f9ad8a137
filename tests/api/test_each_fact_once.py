"""A context says each fact once, and results are complete; on a real Kafka, Redis, Edge store and embedding model."""

from datetime import timedelta
from typing import Any

import pytest

from memory.records import Memory
from tests.api.running_service import NOON, RunningService, index, memory

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


def profile(user: str, *lines: str, message_ids: tuple[str, ...]) -> Memory:
    return memory(
        "acme",
        user,
        f"user profile of {user}: {'; '.join(lines)}",
        kind="entity",
        type="user_profile",
        entity_key=user,
        message_ids=list(message_ids),
        properties={"facts": "\n".join(lines)},
    )


async def ask(service: RunningService, path: str = "/v1/recall", **body: Any) -> dict[str, Any]:
    return await service.answer(path, body)


@pytest.mark.parametrize("asked", [{}, {"kinds": ["event", "entity"]}, {"user": "kay", "kinds": ["event", "entity"]}])
async def test_an_event_covered_by_an_entity_is_dropped(service: RunningService, asked: dict[str, Any]) -> None:
    said = memory("acme", "kay", "Kay plays the cello", message_ids=["k1"])
    entity = profile("kay", "Kay plays the cello", message_ids=("k1",))
    await index(service.settings, [said, entity])
    query = "Who plays the cello?"
    answer = await ask(service, query=query, why_not=[said.id, entity.id], **asked)
    returned = [each["id"] for each in (*answer["results"], *answer["entities"])]
    assert (returned.count(entity.id), returned.count(said.id)) == (1, 0)
    assert [(each["outcome"], each["of"]) for each in answer["why_not"]] == [("repeated", entity.id), ("returned", None)]
    block = await ask(service, "/v1/context", query=query, **asked)
    assert [each["id"] for each in block["citations"] if each["id"] in {said.id, entity.id}] == [entity.id]


async def test_results_keep_an_event_that_an_entity_repeats(service: RunningService) -> None:
    said = memory("acme", "ivo", "Ivo plays the lute", message_ids=["i1"])
    entity = profile("ivo", "Ivo plays the lute", message_ids=("i1",))
    await index(service.settings, [said, entity])
    answer = await ask(service, query="Who plays the lute?", user="ivo", why_not=[said.id])
    assert [(each["id"], each["evidence"], each["repeated_by"]) for each in answer["results"]] == [(said.id, ["i1"], entity.id)]
    assert [each["id"] for each in answer["entities"]] == [entity.id]
    assert answer["why_not"][0]["outcome"] == "returned"
    block = await ask(service, "/v1/context", query="Who plays the lute?", user="ivo")
    assert [each["id"] for each in block["citations"]] == [entity.id]


async def test_an_event_stays_where_no_entities_are_wanted(service: RunningService) -> None:
    said = memory("acme", "liv", "Liv plays the oboe", message_ids=["l1"])
    await index(service.settings, [said, profile("liv", "Liv plays the oboe", message_ids=("l1",))])
    answer = await ask(service, query="Who plays the oboe?", user="liv", kinds=["event", "summary"])
    assert ([each["id"] for each in answer["results"]], answer["entities"]) == ([said.id], [])
    block = await ask(service, "/v1/context", query="Who plays the oboe?", user="liv", kinds=["event", "summary"])
    assert [each["id"] for each in block["citations"]] == [said.id]


async def test_exactly_as_many_results_as_requested(service: RunningService) -> None:
    said = [memory("acme", "lou", f"Lou was on an island in summer {number}", message_ids=["l1"]) for number in range(14)]
    returned = [each.content for each in said[::3]]
    await index(service.settings, [*said, profile("lou", *returned, message_ids=("l1",))])
    ids = [each.id for each in said]
    for limit in (3, 9):
        answer = await ask(service, query="Lou was on an island in summer", user="lou", limit=limit, why_not=ids)
        repeated = {each["content"] for each in answer["results"] if each["repeated_by"]}
        assert repeated == {each["content"] for each in answer["results"]} & set(returned)
        assert len(answer["results"]) == limit
        outcomes = {each["id"]: each["outcome"] for each in answer["why_not"]}
        assert {each["id"] for each in answer["results"]} == {each for each, outcome in outcomes.items() if outcome == "returned"}


async def test_a_companion_entity_is_returned_at_any_rank(service: RunningService) -> None:
    said = memory("acme", "max", "Max has a boat in the harbour", message_ids=["x1"])
    entity = profile("max", "likes rowing", message_ids=("x2",))
    await index(service.settings, [said, entity])
    query = "Who has a boat in the harbour?"
    answer = await ask(service, query=query, user="max", kinds=["event", "entity"], limit=1, why_not=[entity.id])
    assert ([each["id"] for each in answer["results"]], [each["id"] for each in answer["entities"]]) == ([said.id], [entity.id])
    assert answer["why_not"][0]["outcome"] == "returned"


async def test_the_superseding_memory_is_returned(service: RunningService) -> None:
    old, new = (
        memory(
            "acme",
            "ida",
            f"Ida {'is' if is_so else 'is not'} a fan of opera",
            type="preference",
            message_ids=["i1"],
            properties={"subject": "opera", "likes": is_so},
            event_time=NOON + timedelta(days=day),
        )
        for day, is_so in enumerate((True, False))
    )
    body: dict[str, Any] = {"query": "Is Ida a fan of opera?", "user": "ida", "why_not": [new.id]}
    await index(service.settings, [old, new])
    answer = await ask(service, **body)
    assert {each["id"]: each["superseded_by"] for each in answer["results"]} == {old.id: new.id, new.id: None}
    entity = profile("ida", new.content, message_ids=("i1",))
    await index(service.settings, [entity])
    answer = await ask(service, **body)
    assert {each["id"]: (each["superseded_by"], each["repeated_by"]) for each in answer["results"]} == {
        old.id: (new.id, None),
        new.id: (None, entity.id),
    }
    answer = await ask(service, **body, kinds=["event", "entity"])
    assert {each["id"]: each["superseded_by"] for each in answer["results"] if each["id"] != entity.id} == {old.id: entity.id}
    assert entity.id in {each["id"] for each in answer["results"]}
    assert answer["why_not"][0]["of"] == entity.id
