"""The pages of an entity's history, on a real Edge store: a page without a continuation is refused, and no entry is skipped."""

from datetime import timedelta
from typing import Any

import pytest

from memory.ids import entity_id, step_id
from memory.keys import entity_key
from memory.records import Contribution, HistoryEntry, Merged
from stores.build import build_store
from stores.port import StepPoint
from tests.api.running_service import NOON, RunningService, expect_problem
from tests.stores.factories import at

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

KEY = entity_key("eve")
STORY = entity_id("acme", "life_story", KEY)
PATH = f"/v1/entities/life_story/{KEY}/history"
FIRST = 7
"""Older steps were dropped."""


def step(source: str, position: int, *, minute: int, place: str, **fields: Any) -> HistoryEntry:
    contribution = Contribution(
        tenant="acme",
        user="eve",
        entity_type="life_story",
        entity_key=KEY,
        source=source,
        position=position,
        time=NOON,
        recorded_at=NOON + timedelta(minutes=minute),
        **fields,
    )
    number = 0 if contribution.merged is not None else FIRST + position
    return HistoryEntry(id=step_id(STORY, source, place), tenant="acme", entity=STORY, number=number, contribution=contribution)


def answer(position: int, *, minute: int) -> HistoryEntry:
    """A model's answer, in the place that is kept for the newest."""
    return step("merges/0", position, minute=minute, place="-", kind="merged", merged=Merged(property="life", outcome={}))


async def lay_down(service: RunningService, *steps: HistoryEntry, offset: int) -> None:
    store = build_store(service.settings)
    await store.put_steps([StepPoint(each, at(offset)) for each in steps])
    await store.close()


async def test_a_page_of_a_replaced_answer_is_refused(service: RunningService) -> None:
    read = [step("extractions/0", number, minute=number, place=str(number)) for number in range(6)]
    await lay_down(service, *read, answer(0, minute=1), offset=1)
    asked: dict[str, Any] = {"headers": service.auth("acme"), "params": {"limit": 3}}
    page = (await service.http.get(PATH, **asked)).json()
    assert (len(page["steps"]), page["steps"][-1]["kind"], page["total"]) == (3, "merged", 7)
    asked["params"] = {"after": page["next"]}
    next_page = (await service.http.get(PATH, **asked)).json()
    assert [each["id"] for each in next_page["steps"]] == [f"extractions/0@{number}" for number in range(2, 6)]

    await lay_down(service, answer(1, minute=9), offset=2)
    problem = expect_problem(await service.http.get(PATH, **asked), 404, "start again without")
    assert problem["type"] == "urn:varve:problem:history-not-kept"
