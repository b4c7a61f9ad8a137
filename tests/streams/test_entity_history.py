"""An entity's history through the real stages and the service: two jobs, read in either order, a correction, and a rebuild."""

from typing import Any

import httpx
import pytest

from memory.ids import event_id, window_id
from memory.keys import encode_key
from memory.records import Extraction
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.client import open_redis
from runtime.settings import Settings
from stores.build import build_store
from streams.operations.rebuild import rebuild
from tests.api.running_service import bearer, expect_problem
from tests.api.running_service import serving as service_of
from tests.control_log import add_key, add_tenant
from tests.made_records import made_event, made_extraction
from tests.operators.person import SCHEMA, day
from tests.streams.flow import caught_up, serving

pytestmark = pytest.mark.integration

PEOPLE, RIVAL = "people", "rival"
STAGES = ("events", "entities", "index")
MARCH, APRIL, JUNE = 60, 100, 150


async def test_jobs_are_read_as_they_were(flow: Settings) -> None:
    headers = bearer(await add_tenant(flow, PEOPLE, schema=SCHEMA))
    rivals = bearer(await add_tenant(flow, RIVAL, schema=SCHEMA))
    annes = bearer(await add_key(flow, PEOPLE, user="ann"))
    jobs = [job(PEOPLE, "ann", 0, "A", MARCH), job(PEOPLE, "ann", 1, "B", JUNE), job(PEOPLE, "bea", 0, "B", JUNE)]
    await extracted(flow, *jobs, job(PEOPLE, "bea", 1, "A", MARCH), job(RIVAL, "rick", 0, "C", MARCH))
    async with serving(flow, STAGES), service_of(flow) as http:
        await caught_up(flow, STAGES)
        for user in ("ann", "bea"):
            assert await job_at(http, headers, user) == "B"
            assert await job_at(http, headers, user, as_of=APRIL) == "A"
            expect_problem(await read(http, headers, user, as_of=MARCH - 1), 404, "by then")
            steps = (await history(http, headers, user))["steps"]
            fates = {each["value"]: each["fate"] for step in steps for each in step["changes"] if each["property"] == "job"}
            assert fates == {"A": "superseded", "B": "stands"}
        first = steps[0]["recorded_at"]
        assert (await read(http, headers, "bea", known_at=first)).json()["properties"]["job"] == "B"
        expect_problem(await read(http, headers, "bea", known_at=first, as_of=APRIL), 404, "by then")

        for path in ("person/ann", "person/ann/history"):
            expect_problem(await http.get(f"/v1/entities/{path}", headers=rivals), 404, "of type person")
            expect_problem(await http.get(f"/v1/entities/{path.replace('ann', 'bea')}", headers=annes), 404, "of type person")
        expect_problem(await read(http, rivals, "ann", as_of=APRIL), 404, "no entity")
        expect_problem(await read(http, annes, "bea", as_of=APRIL), 404, "no entity")
        assert (await history(http, annes, "ann"))["total"] == 2

        wrong = jobs[1].events[0].id
        answer = await http.post(f"/v1/memories/{wrong}/invalidate", json={"reason": "a joke"}, headers=headers)
        assert answer.status_code == 200, answer.text
        await caught_up(flow, STAGES)
        assert await job_at(http, headers, "ann") == "A"
        assert await job_at(http, headers, "ann", as_of=JUNE) == "A", "as is known now, it was never B"
        page = await history(http, headers, "ann", limit="2")
        next_page = await history(http, headers, "ann", after=page["next"])
        assert (page["total"], page["complete"], next_page["next"]) == (3, True, None)
        before = [*page["steps"], *next_page["steps"]]
        b = next(each for each in before[1]["changes"] if each["property"] == "job")
        assert (b["fate"], b["by"], before[2]["kind"]) == ("wrong", before[2]["id"], "correction")
        assert await job_at(http, headers, "ann", known_at=before[1]["recorded_at"]) == "B", "as was known then"
        expect_problem(await http.get("/v1/entities/person/ann/history?after=x", headers=headers), 404, "no longer stored")

    store = build_store(flow)
    async with open_redis(flow.redis) as redis:
        await rebuild(flow, store=store, redis=redis)
    await store.close()
    async with serving(flow, STAGES), service_of(flow) as http:
        await caught_up(flow, STAGES)
        assert (await history(http, headers, "ann"))["steps"] == before


def job(tenant: str, user: str, window: int, name: str, on: float) -> Extraction:
    """A window with a statement about a job."""
    window_name = window_id(tenant, user, window)
    event = made_event(
        f"works as {name} since day {on}",
        day(on),
        id=event_id(window_name, 0),
        tenant=tenant,
        user=user,
        session=user,
        window_id=window_name,
        type="job",
        properties={"name": name},
        message_ids=[f"m-{name}"],
    )
    return made_extraction([event], day(on), sequence=window, schema_name=SCHEMA.name, message_ids=[f"m-{name}"])


async def extracted(settings: Settings, *extractions: Extraction) -> None:
    records = [OutgoingRecord(settings.topic("extractions"), encode_key(each.tenant, each.user), each.to_json()) for each in extractions]
    async with Producer(kafka=settings.kafka) as producer:
        for record in records:
            await producer.send_many([record])


async def read(http: httpx.AsyncClient, headers: dict[str, str], user: str, **moment: float | str) -> httpx.Response:
    asked = {name: value if isinstance(value, str) else day(value).isoformat() for name, value in moment.items()}
    return await http.get(f"/v1/entities/person/{user}", params=asked, headers=headers)


async def job_at(http: httpx.AsyncClient, headers: dict[str, str], user: str, **moment: float | str) -> Any:
    answer = await read(http, headers, user, **moment)
    assert answer.status_code == 200, answer.text
    return answer.json()["properties"]["job"]


async def history(http: httpx.AsyncClient, headers: dict[str, str], user: str, **parameters: str) -> dict[str, Any]:
    answer = await http.get(f"/v1/entities/person/{user}/history", params=parameters, headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found
