"""The read audit, on real servers: which key read whose memories, without texts; sampled, and listed by operators only."""

from datetime import timedelta
from typing import Any

import pytest

from api.auth.caller import Caller, Credential
from api.reads.read_audit import MOST_IDS, ReadAudit
from control.documents import SchemaRef, Tenant
from memory.records import ReadRecord
from runtime.clocks import ManualClock
from runtime.kafka import Producer
from runtime.metrics import Metrics
from runtime.read_log import reads_of
from runtime.settings import ReadAuditSettings
from tests.api.running_service import BERLIN, CAT, NOON, OSLO, PROFILE, RunningService, memory, serving
from tests.waiting import until_async

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


async def found(service: RunningService, user: str, number: int) -> list[ReadRecord]:
    """The reads of a user's memories, once there are so many."""
    return await until_async(lambda: reads_of(service.settings, "acme", user), lambda reads: len(reads) >= number)


async def test_each_kind_of_read_is_recorded(service: RunningService) -> None:
    settings = service.settings.model_copy(update={"read_audit": ReadAuditSettings(rate=1.0)})
    before = len(await reads_of(service.settings, "acme", "ann"))
    async with serving(settings) as http:
        asked: list[tuple[str, str, dict[str, Any]]] = [
            ("POST", "/v1/recall", {"json": {"query": "Where does Ann live?", "user": "ann"}}),
            ("POST", "/v1/context", {"json": {"query": "Where does Ann live?", "user": "ann"}}),
            ("GET", "/v1/memories", {"params": {"user": "ann"}}),
            ("GET", f"/v1/memories/{CAT.id}", {}),
            ("GET", f"/v1/memories/{OSLO.id}/evidence", {}),
        ]
        for method, path, arguments in asked:
            response = await http.request(method, path, headers=service.auth("acme"), **arguments)
            assert response.status_code == 200, response.text
    reads = (await found(service, "ann", before + len(asked)))[: len(asked)]
    by_kind = {each.what: each for each in reads}
    assert by_kind.keys() == {"recall", "context", "list", "memory", "evidence"}
    assert set(by_kind["recall"].memory_ids) >= {OSLO.id}
    assert set(by_kind["list"].memory_ids) == {OSLO.id, CAT.id, PROFILE.id}
    assert by_kind["memory"].memory_ids == [CAT.id]
    assert len({each.key_id for each in reads}) == 1
    assert "Oslo" not in "".join(each.to_json().decode() for each in reads)


async def test_a_read_of_the_tenant_is_kept_by_user(service: RunningService) -> None:
    settings = service.settings.model_copy(update={"read_audit": ReadAuditSettings(rate=1.0)})
    before = len(await reads_of(service.settings, "acme", "bob"))
    async with serving(settings) as http:
        response = await http.get("/v1/memories", headers=service.auth("acme"))
        assert {OSLO.id, BERLIN.id} <= {each["id"] for each in response.json()["memories"]}
    newest = (await found(service, "bob", before + 1))[0]
    assert BERLIN.id in newest.memory_ids
    assert OSLO.id not in newest.memory_ids


async def test_nothing_is_recorded_by_default(service: RunningService) -> None:
    before = await reads_of(service.settings, "acme", "ann")
    async with serving(service.settings) as http:
        await http.get("/v1/memories", params={"user": "ann"}, headers=service.auth("acme"))
    assert await reads_of(service.settings, "acme", "ann") == before


async def test_samples_and_bounds(service: RunningService) -> None:
    draws = iter([0.1, 0.6, 0.49, 0.5])
    clock = ManualClock(NOON)
    caller = Caller(Tenant(id="acme", schema_ref=SchemaRef(name="companion", revision=1)), Credential("k9", ("recall",)))
    async with Producer(kafka=service.settings.kafka) as producer:
        audit = ReadAudit(
            producer=producer,
            topic_prefix=service.settings.kafka.topic_prefix,
            rate=0.5,
            max_pending=100,
            metrics=Metrics(),
            clock=clock,
            draw=lambda: next(draws),
        )
        many = [memory("acme", "eve", f"note {number}") for number in range(MOST_IDS + 7)]
        for _ in range(4):
            audit.note(caller, "list", many)
            clock.advance(timedelta(hours=1))
        await audit.close()
    reads = await reads_of(service.settings, "acme", "eve")
    assert [(each.time, len(each.memory_ids), each.left_out) for each in reads] == [
        (NOON + timedelta(hours=hours), MOST_IDS, 7) for hours in (2, 0)
    ]
    assert await reads_of(service.settings, "acme", "eve", since=NOON + timedelta(hours=1)) == reads[:1]
    assert await reads_of(service.settings, "acme", "eve", most=1) == reads[:1]
