"""Routes for corrections: permissions, rejections with their reasons, and the records in the log."""

import uuid
from typing import Any

import httpx
import pytest
import pytest_asyncio
from aiokafka import ConsumerRecord

from api.writes.idempotency import STATUS_HEADER
from control.erasure_changes import begin_erasure
from memory.headers import CORRECTION, KIND
from memory.ids import window_id
from memory.keys import encode_key, entity_key, partition_of, unmarked_key
from memory.records import Correction, MessageChange
from runtime.clocks import SystemClock
from tests.api.running_service import (
    PARTITIONS,
    RunningService,
    end_offsets,
    expect_problem,
    index,
    memory,
    record_at,
    serving,
    when_known,
)
from tests.api.service_process import DEADLINE_S
from tests.control_log import add_key, write
from tests.waiting import until_async

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

MOVED = memory(
    "acme", "ann", "Ann moved to Tromso", window_id=window_id("acme", "s", 0), properties={"people": ["Tom"]}, version=-1, session="s"
)
KEY = entity_key("ann")
HOME = memory("acme", "ann", "Profile of ann", kind="entity", type="user_profile", entity_key=KEY, message_ids=[])
WEEK = memory("acme", "ann", "A quiet week", kind="summary", window_id=window_id("acme", "s", 0))


async def send(service: RunningService, path: str, body: Any = None, **headers: str) -> httpx.Response:
    method = "POST" if path.endswith(("invalidate", "revert")) else "PATCH"
    return await service.http.request(method, f"/v1/memories/{path}", json=body, headers={**service.auth("acme"), **headers})


async def logged(service: RunningService, response: httpx.Response) -> tuple[Correction, ConsumerRecord]:
    assert response.status_code == 200, response.text
    record = await record_at(service, response.json()["position"])
    return Correction.from_json(record.value), record


@pytest_asyncio.fixture(autouse=True, scope="module", loop_scope="module")
async def indexed(service: RunningService) -> None:
    await index(service.settings, [MOVED, HOME, WEEK])


async def test_a_correction_is_written_after_its_event(service: RunningService) -> None:
    body = {"content": "Ann moved to Oslo", "properties": {"place": "Oslo", "people": None}, "importance": 0.9, "reason": "she said so"}
    response = await send(service, MOVED.id, body)
    correction, record = await logged(service, response)
    assert (record.topic, unmarked_key(record.key or b"")) == (service.settings.topic("extractions"), encode_key("acme", "ann"))
    assert record.partition == partition_of(encode_key("acme", "ann"), PARTITIONS), "where the user's extractions lie"
    assert (KIND, CORRECTION) in record.headers
    assert response.json()["id"] == correction.id
    assert (correction.action, correction.memory_id, correction.user, correction.reason) == ("correct", MOVED.id, "ann", "she said so")
    assert correction.event is not None
    assert (correction.event.window_id, correction.event.content) == (MOVED.window_id, MOVED.content)
    assert (correction.fields.content, correction.fields.properties) == ("Ann moved to Oslo", {"place": "Oslo", "people": None})
    assert correction.by, "the key's label and id"

    for path in ("invalidate", "revert"):
        correction, _ = await logged(service, await send(service, f"{MOVED.id}/{path}"))
        assert (correction.action, correction.reason) == (path, "")


async def test_a_replaced_statement_is_hidden_and_remaining_listed(service: RunningService) -> None:
    kept = await end_offsets(service, "messages")
    right: list[dict[str, Any]] = [{"importance": 0.9}, {"content": MOVED.content}, {"properties": {"place": "Oslo"}}, {"date": "2023-05"}]
    wrong: list[dict[str, Any]] = [
        {"content": "Ann moved to Oslo"},
        {"properties": {"people": ["Tim"]}},
        {"properties": {"people": None}},
    ]
    for body in right:
        response = await send(service, MOVED.id, body)
        assert response.status_code == 200
        assert "remaining" not in response.json(), "its messages are right"
    assert await end_offsets(service, "messages") == kept

    for body in wrong:
        before = await end_offsets(service, "messages")
        response = await send(service, MOVED.id, body)
        (remaining,) = [each["what"] for each in response.json()["remaining"] if each["id"] == MOVED.message_ids[0]]
        assert remaining == "message"
        after = await end_offsets(service, "messages")
        (partition,) = [each for each in after if after[each] > before[each]]
        where = {"topic": partition.topic, "partition": partition.partition, "offset": before[partition]}
        record = await record_at(service, where)
        change = MessageChange.from_json(record.value)
        assert (change.command, change.session, change.id) == ("hide", MOVED.session, MOVED.message_ids[0])
    assert "remaining" not in (await send(service, HOME.id, {"properties": {"home": "Bergen"}})).json()


async def test_an_entitys_texts_can_be_set(service: RunningService) -> None:
    correction, record = await logged(service, await send(service, HOME.id, {"properties": {"home": "Oslo"}}))
    assert unmarked_key(record.key or b"") == encode_key("acme", "ann")
    assert correction.entity is not None
    (change,) = correction.entity.changes
    assert (change.property, change.value, change.source_id) == ("home", {"search": None, "replace": "Oslo"}, correction.id)
    assert change.event_time == HOME.event_time, "it is later than everything that the entity has"
    assert (correction.entity.schema_name, correction.entity.schema_revision) == ("companion", 1)
    correction, _ = await logged(service, await send(service, f"{HOME.id}/revert", {"reason": "a mistake"}))
    assert correction.entity is not None
    assert correction.entity.changes == []


async def test_an_event_may_have_a_future_date(service: RunningService) -> None:
    correction, _ = await logged(service, await send(service, MOVED.id, {"event_time": "2962-05-08T00:00:00Z"}))
    assert correction.fields.event_time is not None


@pytest.mark.parametrize(
    ("path", "body", "status", "detail"),
    [
        (MOVED.id, {}, 422, "no field is set"),
        (MOVED.id, {"reason": "why"}, 422, "no field is set"),
        (MOVED.id, {"content": " "}, 422, "content"),
        (MOVED.id, {"tenant": "umbrella"}, 422, "tenant"),
        (MOVED.id, {"date": "May 2023"}, 422, "write YYYY-MM-DD"),
        (MOVED.id, {"date": "2023-05", "event_time": "2023-05-08T00:00:00Z"}, 422, "both set"),
        (HOME.id, {"properties": {"home": "Oslo"}, "date": "2023-05"}, 422, "an entity has only properties"),
        (HOME.id, {"properties": {"home": "Oslo"}, "event_time": "2962-05-08T00:00:00Z"}, 422, "300 s ahead of the service's clock"),
        (MOVED.id, {"properties": {"plase": "Oslo"}}, 422, "no such property; did you mean 'place'?"),
        (MOVED.id, {"properties": {"people": {"a": 1}}}, 422, "properties.people: the value must be of the type list<string>"),
        (MOVED.id, {"properties": {"place": "x" * 20_000}}, 413, "properties"),
        (f"{MOVED.id}/invalidate", {"content": "x"}, 422, "content"),
        (str(uuid.uuid5(uuid.NAMESPACE_OID, "nobody")), {"content": "x"}, 404, "no memory"),
        (WEEK.id, {"content": "x"}, 422, "correct or invalidate those events"),
        (f"{WEEK.id}/invalidate", None, 422, "events"),
        (HOME.id, {"content": "x"}, 422, "an entity has only properties"),
        (HOME.id, {"properties": {"life_events": 3}}, 422, "COUNT computes it from events"),
        (HOME.id, {"properties": {"user": "bob"}}, 422, "part of the entity's key"),
        (f"{HOME.id}/invalidate", None, 422, "invalidate the events that are wrong"),
    ],
)
async def test_an_invalid_correction_is_refused_with_the_reason(
    service: RunningService, path: str, body: Any, status: int, detail: str
) -> None:
    before = await end_offsets(service, "extractions")
    expect_problem(await send(service, path, body), status, detail)
    assert await end_offsets(service, "extractions") == before


async def test_only_keys_for_it_correct_their_own(service: RunningService) -> None:
    reads = await when_known(service, await add_key(service.settings, "acme", scopes=("recall",)))
    bobs = await when_known(service, await add_key(service.settings, "acme", user="bob"))
    anns = await when_known(service, await add_key(service.settings, "acme", user="ann"))
    path = f"/v1/memories/{MOVED.id}/invalidate"
    expect_problem(await service.http.post(path, headers=reads), 403, "lacks the scope correct")
    expect_problem(await service.http.post(path, headers=bobs), 404, "no memory")
    expect_problem(await service.http.post(path, headers=service.auth("umbrella")), 404, "no memory")
    assert (await service.http.post(path, headers=anns)).status_code == 200


async def test_a_memory_that_is_being_erased_is_not_corrected(service: RunningService) -> None:
    boat = memory("acme", "zoe", "Zoe has a boat", window_id=window_id("acme", "z", 0), session="z")
    await index(service.settings, [boat])
    assert (await send(service, boat.id, {"content": "Zoe has a barge"})).status_code == 200
    await write(service.settings, lambda draft: begin_erasure(draft, "acme", "zoe", at=SystemClock().now()))
    await until_async(
        lambda: send(service, boat.id, {"content": "Zoe has a ferry"}), lambda answer: answer.status_code == 404, deadline_s=DEADLINE_S
    )
    ends = await end_offsets(service, "extractions")
    for path in (boat.id, f"{boat.id}/invalidate", f"{boat.id}/revert"):
        expect_problem(await send(service, path, {"content": "Zoe has a yacht"} if path == boat.id else None), 404, "is being erased")
    assert await end_offsets(service, "extractions") == ends


async def test_a_repeated_correction_counts_once(service: RunningService) -> None:
    name = {"Idempotency-Key": str(uuid.uuid4())}
    first = await send(service, f"{MOVED.id}/invalidate", **name)
    ends = await end_offsets(service, "extractions")
    again = await send(service, f"{MOVED.id}/invalidate", **name)
    assert (again.headers[STATUS_HEADER], again.json()) == ("replayed", first.json())
    assert await end_offsets(service, "extractions") == ends


async def test_another_correction_under_a_key_is_another(service: RunningService) -> None:
    redis = service.settings.redis.model_copy(update={"url": "redis://127.0.0.1:1/0"})
    key = {"Idempotency-Key": str(uuid.uuid4()), **service.auth("acme")}
    async with serving(service.settings.model_copy(update={"redis": redis})) as http:
        first, again, other = [
            await http.patch(f"/v1/memories/{MOVED.id}", json={"content": f"Ann moved to {place}"}, headers=key)
            for place in ("Bergen", "Bergen", "Berlin")
        ]
        invalidated, reverted = [await http.post(f"/v1/memories/{MOVED.id}/{each}", headers=key) for each in ("invalidate", "revert")]
    answers = (first, again, other, invalidated, reverted)
    assert [(each.status_code, each.headers[STATUS_HEADER]) for each in answers] == [(200, "not-kept")] * 5
    ids = [each.json()["id"] for each in answers]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 4
