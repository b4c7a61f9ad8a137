"""``DELETE /v1/memories/{id}``: who may, what is refused, what is in the log, and what a repetition gets."""

import uuid

import pytest
import pytest_asyncio
from aiokafka import ConsumerRecord

from memory.headers import CORRECTION, KIND
from memory.ids import window_id
from memory.keys import entity_key
from memory.records import Correction, MemoryChange
from models.embedding.build import build_embedder
from stores.build import build_store
from stores.index_writer import IndexWriter
from tests.api.running_service import RunningService, end_offsets, expect_problem, index, memory, record_at, serving, when_known
from tests.control_log import add_key
from tests.stores.factories import in_feed

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

WINDOW = window_id("acme", "d", 0)
RUMOUR = memory("acme", "dora", "Dora robbed a bank", window_id=WINDOW, session="d", message_ids=["d-m1"], version=3)
TWICE = memory("acme", "dora", "Dora was in a bank", window_id=WINDOW, session="d", message_ids=["d-m1"], version=3)
HOME = memory("acme", "dora", "Profile of dora", kind="entity", type="user_profile", entity_key=entity_key("dora"), message_ids=[])
WEEK = memory("acme", "dora", "A quiet week", kind="summary", window_id=WINDOW)


@pytest_asyncio.fixture(autouse=True, scope="module", loop_scope="module")
async def indexed(service: RunningService) -> None:
    await index(service.settings, [RUMOUR, TWICE, HOME, WEEK])


async def removed_from_store(service: RunningService, memory_id: str) -> None:
    """Removes a memory, like the index after a tombstone of the events stage."""
    embedder, store = build_embedder(service.settings.embedding, cache=service.settings.cache_path), build_store(service.settings)
    gone = in_feed([MemoryChange(op="tombstone", memory_id=memory_id, tenant="acme")])
    await IndexWriter(store=store, embedder=embedder).write(gone)
    await store.close()
    await embedder.close()


async def logged(service: RunningService, position: dict[str, object]) -> tuple[Correction, ConsumerRecord]:
    record = await record_at(service, position)
    return Correction.from_json(record.value), record


async def test_a_deletion_is_in_the_log(service: RunningService) -> None:
    messages_before = sum((await end_offsets(service, "messages")).values())
    response = await service.http.delete(f"/v1/memories/{RUMOUR.id}", params={"reason": "a lie"}, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    correction, record = await logged(service, response.json()["position"])
    assert (KIND, CORRECTION) in record.headers
    assert (correction.action, correction.memory_id, correction.user, correction.reason) == ("delete", RUMOUR.id, "dora", "a lie")
    assert response.json()["id"] == correction.id
    assert {(each["what"], each["id"]) for each in response.json()["remaining"]} >= {("event", TWICE.id), ("message", "d-m1")}
    assert sum((await end_offsets(service, "messages")).values()) == messages_before + 1, "the message is hidden from the session"


async def test_a_repeated_deletion_is_the_same_correction(service: RunningService) -> None:
    headers = service.auth("acme")
    first = (await service.http.delete(f"/v1/memories/{TWICE.id}", headers=headers)).json()
    again = (await service.http.delete(f"/v1/memories/{TWICE.id}", headers=headers)).json()
    assert again["id"] == first["id"], "the events stage applies it once"
    await removed_from_store(service, TWICE.id)
    ends = await end_offsets(service, "extractions")
    later = await service.http.delete(f"/v1/memories/{TWICE.id}", headers=headers)
    assert (later.status_code, later.json()["id"]) == (200, first["id"])
    assert "d-m1" not in later.text, "an erasure of the user would not find it"
    assert await end_offsets(service, "extractions") == ends, "nothing more is sent"
    for other in ("umbrella", "acme/bob"):
        expect_problem(await service.http.delete(f"/v1/memories/{TWICE.id}", headers=service.auth(other)), 404, "no memory")


async def test_only_events_are_deleted(service: RunningService) -> None:
    before = await end_offsets(service, "extractions")
    for each, detail in ((HOME, "delete the events"), (WEEK, "made of events")):
        expect_problem(await service.http.delete(f"/v1/memories/{each.id}", headers=service.auth("acme")), 422, detail)
    unknown = str(uuid.uuid5(uuid.NAMESPACE_OID, "nobody"))
    expect_problem(await service.http.delete(f"/v1/memories/{unknown}", headers=service.auth("acme")), 404, "no memory")
    assert await end_offsets(service, "extractions") == before


async def test_only_keys_for_it_delete_their_own(service: RunningService) -> None:
    reads = await when_known(service, await add_key(service.settings, "acme", scopes=("recall",)))
    bobs = await when_known(service, await add_key(service.settings, "acme", user="bob"))
    doras = await when_known(service, await add_key(service.settings, "acme", user="dora"))
    path = f"/v1/memories/{RUMOUR.id}"
    expect_problem(await service.http.delete(path, headers=reads), 403, "lacks the scope correct")
    expect_problem(await service.http.delete(path, headers=bobs), 404, "no memory")
    expect_problem(await service.http.delete(path, headers=service.auth("umbrella")), 404, "no memory")
    assert (await service.http.delete(path, headers=doras)).status_code == 200


async def test_a_deletion_works_without_redis(service: RunningService) -> None:
    redis = service.settings.redis.model_copy(update={"url": "redis://127.0.0.1:1/0"})
    async with serving(service.settings.model_copy(update={"redis": redis})) as http:
        assert (await http.delete(f"/v1/memories/{RUMOUR.id}", headers=service.auth("acme"))).status_code == 200
        unknown = str(uuid.uuid5(uuid.NAMESPACE_OID, "nobody"))
        expect_problem(await http.delete(f"/v1/memories/{unknown}", headers=service.auth("acme")), 404, "no memory")
