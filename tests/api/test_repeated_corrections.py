"""Corrections that change nothing, and reverts with nothing to undo: what the store shows, and what is still on its way to it."""

import uuid
from typing import Any

import httpx
import pytest

from memory.ids import entity_id, window_id
from memory.keys import entity_key
from memory.positions import LogPosition
from memory.records import Contribution, Correction, CorrectionNote, EventFields, HistoryEntry, Memory
from memory.schema import scenario
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState
from operators.entities.render import render
from stores.build import build_store
from stores.port import StepPoint
from tests.api.running_service import NOON, RunningService, end_offsets, expect_problem, index, memory, record_at, serving
from tests.stores.factories import at, stable_id

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

LAST = 10**9
"""A version after every correction that a test sends."""
NOTE = {"id": "c0", "by": "k1", "time": NOON, "standing": 1}
PROFILE = scenario("companion").entity_type("user_profile")


def event(content: str, **fields: Any) -> Memory:
    return memory("acme", "ann", content, **{"window_id": window_id("acme", "s", 0), "session": "s", "version": LAST, **fields})


async def send(service: RunningService, path: str, body: Any = None, http: httpx.AsyncClient | None = None) -> httpx.Response:
    method = "POST" if path.endswith(("invalidate", "revert")) else "PATCH"
    return await (http or service.http).request(method, f"/v1/memories/{path}", json=body, headers=service.auth("acme"))


async def outcome(service: RunningService, path: str, body: Any = None) -> str:
    """The outcome of a correction; one that is not recorded must name no record."""
    before = [await end_offsets(service, topic) for topic in ("extractions", "messages")]
    response = await send(service, path, body)
    assert response.status_code == 200, response.text
    fields: dict[str, Any] = response.json()
    if fields["outcome"] == "unchanged":
        assert fields == {"memory_id": path.partition("/")[0], "outcome": "unchanged"}
        assert [await end_offsets(service, topic) for topic in ("extractions", "messages")] == before
    return str(fields["outcome"])


async def test_what_a_memory_has_already_is_not_recorded(service: RunningService) -> None:
    cat = event("Ann has a cat", properties={"people": ["Tom"]}, keywords=["cat"], importance=0.5)
    may = event("Ann moved in May", date="2024-05")
    wrong = event("Ann has a yak", correction=CorrectionNote(**NOTE, action="invalidate"), expires_at=NOON)
    await index(service.settings, [cat, may, wrong])
    same: list[dict[str, Any]] = [
        {"content": "Ann has a cat", "properties": {"people": ["Tom"], "place": None}, "importance": 0.5, "keywords": ["cat"]},
        {"event_time": NOON.isoformat(), "reason": "sure"},
    ]
    assert [await outcome(service, cat.id, body) for body in same] == ["unchanged"] * 2
    assert await outcome(service, may.id, {"date": "2024-05"}) == "unchanged"
    assert await outcome(service, may.id, {"event_time": NOON.isoformat()}) == "accepted", "a moment is no month"
    assert await outcome(service, f"{wrong.id}/invalidate") == "unchanged"
    assert await outcome(service, wrong.id, {"content": wrong.content}) == "accepted", "it is valid again"
    others: list[dict[str, Any]] = [{"content": "Ann has a cat."}, {"keywords": []}, {"properties": {"people": []}}, {"date": "2024-05"}]
    assert [await outcome(service, cat.id, body) for body in others] == ["accepted"] * 4


async def test_a_revert_needs_a_correction_in_force(service: RunningService) -> None:
    plain = event("Ann sails")
    corrected = event("Ann rows", correction=CorrectionNote(**NOTE, action="correct", before=EventFields(content="Ann roars")))
    week = memory("acme", "ann", "A week of oars", kind="summary")
    await index(service.settings, [plain, corrected, week])
    before = await end_offsets(service, "extractions")
    problem = expect_problem(await send(service, f"{plain.id}/revert"), 409, f"no correction of the event {plain.id} is in force")
    assert problem["type"] == "urn:varve:problem:nothing-to-revert"
    assert await end_offsets(service, "extractions") == before
    assert (await send(service, f"{corrected.id}/revert")).status_code == 200
    expect_problem(await send(service, f"{week.id}/revert"), 422, "correct or invalidate those events")


async def test_what_is_on_its_way_counts(service: RunningService) -> None:
    old = event("Ann lives in Rome", version=-1)
    await index(service.settings, [old])
    oslo, rome = {"content": "Ann lives in Oslo"}, {"content": "Ann lives in Rome"}
    assert await outcome(service, old.id, oslo) == "accepted"
    assert await outcome(service, old.id, oslo) == "unchanged", "an equal one is on its way"
    assert await outcome(service, old.id, rome) == "accepted", "the store shows Rome, the log says Oslo"
    assert await outcome(service, f"{old.id}/invalidate") == "accepted"
    assert await outcome(service, f"{old.id}/invalidate") == "unchanged"
    assert await outcome(service, old.id, rome) == "accepted"
    for _ in range(2):
        assert (await send(service, f"{old.id}/revert")).status_code == 200, "each takes one back"
    await index(service.settings, [old.model_copy(update={"version": LAST})])
    expect_problem(await send(service, f"{old.id}/revert"), 409, "is in force")


async def test_without_redis_every_correction_is_sent(service: RunningService) -> None:
    dog = event("Ann has a dog")
    await index(service.settings, [dog])
    redis = service.settings.redis.model_copy(update={"url": "redis://127.0.0.1:1/0"})
    async with serving(service.settings.model_copy(update={"redis": redis})) as http:
        for path, body in ((dog.id, {"content": "Ann has a dog"}), (f"{dog.id}/revert", None)):
            response = await send(service, path, body, http)
            assert (response.status_code, response.json()["outcome"]) == (200, "accepted")


class Entity:
    """A profile as the stages make it of the corrections in the log; its history is kept from ``first_number`` on."""

    def __init__(self, service: RunningService, user: str, *, first_number: int = 1) -> None:
        assert PROFILE is not None
        self.key = entity_key(user)
        self.id = entity_id("acme", PROFILE.name, self.key)
        self._service = service
        self._first_number = first_number
        self._state: EntityState | None = None
        self._steps: list[HistoryEntry] = []
        self._standing: list[Contribution] = []

    async def start(self) -> None:
        await index(
            self._service.settings,
            [memory("acme", "kim", "kim", id=self.id, kind="entity", type="user_profile", entity_key=self.key, message_ids=[])],
        )

    async def take(self, position: dict[str, Any], *, shown: bool = True) -> None:
        """Applies a correction; ``shown``: the store shows the profile, too, and not only its step."""
        assert PROFILE is not None
        correction = Correction.from_json((await record_at(self._service, position)).value)
        assert correction.entity is not None
        fields: dict[str, Any] = {"position": position["offset"], "recorded_at": NOON, "cause": "correction"}
        if correction.action == "revert":
            last = self._standing.pop()
            retractions = [each.model_copy(update={"op": "retract"}) for each in last.changes]
            step = last.model_copy(update={**fields, "changes": retractions})
        else:
            source = f"extractions/{position['partition']}"
            step = Contribution(
                tenant="acme", user="kim", entity_type=PROFILE.name, entity_key=self.key, source=source, time=NOON,
                changes=correction.entity.changes, schema_name="companion", schema_revision=1, **fields,
            )  # fmt: skip
            self._standing.append(step)
        self._state = apply_contribution(self._state, step, PROFILE).state
        number = self._first_number + len(self._steps)
        self._steps.append(HistoryEntry(id=stable_id(self.id, number), tenant="acme", entity=self.id, number=number, contribution=step))
        store = build_store(self._service.settings)
        await store.put_steps([StepPoint(self._steps[-1], at(position["offset"]))])
        await store.close()
        if shown and self._state is not None and not self._state.empty:
            await index(self._service.settings, [render(self._state, PROFILE, "acme", self.key)])


async def accepted(service: RunningService, path: str, body: Any = None) -> dict[str, Any]:
    response = await send(service, path, body)
    assert (response.status_code, response.json()["outcome"]) == (200, "accepted")
    position: dict[str, Any] = response.json()["position"]
    return position


async def test_an_entity_is_judged_by_its_history(service: RunningService) -> None:
    profile = Entity(service, "kim")
    await profile.start()
    home = {"properties": {"home": "Oslo"}}
    assert (await send(service, f"{profile.id}/revert")).status_code == 200, "without a history, nobody knows"
    first = await accepted(service, profile.id, home)
    assert await outcome(service, profile.id, home) == "unchanged", "it is on its way"
    await profile.take(first)
    assert await outcome(service, profile.id, home) == "unchanged"
    dated = {**home, "event_time": NOON.isoformat()}
    await profile.take(await accepted(service, profile.id, dated), shown=False)

    second = await accepted(service, profile.id, {"properties": {"home": "Bergen"}})
    assert LogPosition(**second).offset > LogPosition(**first).offset
    await profile.take(second, shown=False)
    third = await accepted(service, profile.id, home)
    await profile.take(third)
    for _ in range(4):
        await profile.take(await accepted(service, f"{profile.id}/revert"), shown=False)
    problem = expect_problem(await send(service, f"{profile.id}/revert"), 409, "no correction of the entity")
    assert profile.id in problem["detail"]


async def test_a_history_with_a_gap_decides_nothing(service: RunningService) -> None:
    profile = Entity(service, str(uuid.uuid4()), first_number=3)
    await profile.start()
    await profile.take(await accepted(service, profile.id, {"properties": {"home": "Oslo"}}))
    await profile.take(await accepted(service, f"{profile.id}/revert"), shown=False)
    assert (await send(service, f"{profile.id}/revert")).status_code == 200, "an earlier correction may be in force"
