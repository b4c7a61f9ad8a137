"""A recall as of an earlier moment, on a real Kafka, Redis, Edge store and embedding model: with the entities as they were."""

from datetime import timedelta
from typing import Any

import pytest

from memory.ids import entity_id
from memory.keys import entity_key
from memory.records import Change, Contribution, HistoryEntry
from memory.schema import scenario
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState
from operators.entities.render import render
from stores.build import build_store
from stores.port import StepPoint
from tests.api.running_service import NOON, RunningService, index, memory
from tests.stores.factories import at, stable_id

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

KEY = entity_key("eve", "running")
LOG = entity_id("acme", "training_log", KEY)
TYPE = scenario("companion").entity_type("training_log")


def run(day: int, *, position: int) -> Contribution:
    when = NOON + timedelta(days=day)
    change = Change(op="apply", property="sessions", source_id=f"run-{day}", value=1, event_time=when, message_ids=[f"m{day}"])
    fields = {"tenant": "acme", "user": "eve", "entity_type": "training_log", "entity_key": KEY, "source": "extractions/0"}
    return Contribution(**fields, position=position, changes=[change], time=when, recorded_at=when)


async def lay_down(service: RunningService, *contributions: Contribution, first_number: int) -> None:
    assert TYPE is not None
    state: EntityState | None = None
    for contribution in contributions:
        state = apply_contribution(state, contribution, TYPE).state
    assert state is not None
    steps = [
        HistoryEntry(id=stable_id("step", number), tenant="acme", entity=LOG, number=number, contribution=each)
        for number, each in enumerate(contributions, start=first_number)
    ]
    await index(service.settings, [render(state, TYPE, "acme", KEY)])
    store = build_store(service.settings)
    await store.put_steps([StepPoint(each, at(each.number)) for each in steps])
    await store.close()


async def ask(service: RunningService, **body: Any) -> dict[str, Any]:
    whole = {"query": "How often did Eve go running?", "user": "eve", **body}
    response = await service.http.post("/v1/recall", json=whole, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def moment(day: int) -> str:
    return (NOON + timedelta(days=day)).isoformat()


async def test_entities_are_as_they_were_then(service: RunningService) -> None:
    early, late = (memory("acme", "eve", f"Eve ran {day} days later", event_time=NOON + timedelta(days=day)) for day in (1, 9))
    await index(service.settings, [early, late])
    await lay_down(service, run(1, position=1), run(9, position=2), first_number=1)
    now = await ask(service)
    assert [each["properties"]["sessions"] for each in now["entities"]] == [2]
    assert {each["id"] for each in now["results"]} == {early.id, late.id}

    then = await ask(service, as_of=moment(5))
    assert [each["properties"]["sessions"] for each in then["entities"]] == [1]
    assert ([each["id"] for each in then["results"]], then["degraded"]) == ([early.id], [])
    before = await ask(service, as_of=moment(0))
    assert (before["entities"], before["results"], before["degraded"]) == ([], [], [])


async def test_expired_history_is_named_in_the_error(service: RunningService) -> None:
    key = entity_key("eve", "swimming")
    gone = HistoryEntry(
        id=stable_id("swim"),
        tenant="acme",
        entity=entity_id("acme", "training_log", key),
        number=7,
        contribution=run(2, position=9).model_copy(update={"entity_key": key}),
    )
    assert TYPE is not None
    state = apply_contribution(None, gone.contribution, TYPE).state
    assert state is not None
    await index(service.settings, [render(state, TYPE, "acme", key)])
    store = build_store(service.settings)
    await store.put_steps([StepPoint(gone, at(gone.number))])
    await store.close()
    then = await ask(service, as_of=moment(5))
    assert "swimming" not in {each["properties"].get("kind") for each in then["entities"]}
    assert then["degraded"] == ["entity_history"]
