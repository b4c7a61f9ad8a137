"""An id of another tenant gets the response of an unknown id, after equal work; on a real Kafka, Redis, Edge store and embedding model.

Another's: another tenant's, or within the tenant another user's than the one that the key is bound to. Work: what the store is asked, and
how much it answers.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

import httpx
import orjson
import pytest
import pytest_asyncio

from api.composition import open_dependencies
from api.dependencies import Dependencies
from memory.ids import entity_id
from memory.keys import entity_key
from memory.records import Change, Contribution, HistoryEntry
from memory.schema import scenario
from operators.entities.apply import apply_contribution
from operators.entities.render import render
from runtime.redis.session_tail import SessionView, TailUpdate, TailWindow
from runtime.settings import Settings
from stores.build import build_store
from stores.port import StepPoint
from tests.api.running_service import NOON, OSLO, RunningService, index, memory, serving
from tests.stores.factories import at, stable_id
from tests.stores.noted_store import NotedStore

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

CALLERS: Final = ("umbrella", "acme/bob")
READS: Final = frozenset({"get", "by_evidence", "newest", "page", "page_by_time", "recall", "scroll", "steps"})
"""Marks and counts are read in the background, by the clock."""
SESSION, NO_SESSION = "anns-session", "ann-session0"
ENTITY, NO_ENTITY = entity_key("ann", "swimming"), entity_key("ann", "swinging")
MEMORY = (OSLO.id, stable_id("never"))
BOAT = memory("acme", "ann", "Ann has a boat", message_ids=["boat-m1"])
MESSAGE = ("boat-m1", "boat-n1")
ASKED: Final = {"query": "Where does Ann live?", "limit": 100}


class Case(NamedTuple):
    """A request with an id in place of `@`, the id of another tenant's object, and an unknown id."""

    method: str
    path: str
    body: dict[str, Any] | None
    names: tuple[str, str]


CASES: Final = (
    Case("GET", "/v1/memories/@", None, MEMORY),
    Case("PATCH", "/v1/memories/@", {"content": "Ann lives in Rome"}, MEMORY),
    Case("POST", "/v1/memories/@/invalidate", {}, MEMORY),
    Case("POST", "/v1/memories/@/revert", {}, MEMORY),
    Case("DELETE", "/v1/memories/@", None, MEMORY),
    Case("POST", "/v1/recall", {**ASKED, "why_not": ["@"]}, MEMORY),
    Case("POST", "/v1/recall", {**ASKED, "why_not": ["@"]}, MESSAGE),
    Case("POST", "/v1/recall", {**ASKED, "why_not": ["m1"], "session": "@"}, (SESSION, NO_SESSION)),
    Case("POST", "/v1/recall", {**ASKED, "sessions": ["@"]}, (SESSION, NO_SESSION)),
    Case("POST", "/v1/context", {"query": "Where does Ann live?", "session": "@"}, (SESSION, NO_SESSION)),
    Case("GET", "/v1/sessions/@", None, (SESSION, NO_SESSION)),
    Case("GET", "/v1/entities/training_log/@", None, (ENTITY, NO_ENTITY)),
    Case("GET", "/v1/entities/training_log/@?as_of=2024-05-09T12:00:00Z", None, (ENTITY, NO_ENTITY)),
    Case("GET", "/v1/entities/training_log/@?known_at=2024-05-09T12:00:00Z", None, (ENTITY, NO_ENTITY)),
    Case("GET", "/v1/entities/training_log/@/history", None, (ENTITY, NO_ENTITY)),
    Case("GET", "/v1/memories?session=@", None, (SESSION, NO_SESSION)),
)


class Noted(NamedTuple):
    """A service whose store notes what it is asked."""

    http: httpx.AsyncClient
    store: NotedStore


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def noted(service: RunningService) -> AsyncIterator[Noted]:
    stores: list[NotedStore] = []

    @asynccontextmanager
    async def noting(settings: Settings) -> AsyncIterator[Dependencies]:
        async with open_dependencies(settings) as dependencies:
            stores.append(NotedStore(dependencies.store._store))
            dependencies.store._store = stores[0].port
            yield dependencies

    await lay_down_anns(service)
    async with serving(service.settings, open_dependencies=noting) as http:
        for caller in CALLERS:
            # The first recall prepares the store.
            assert (await http.post("/v1/recall", json=ASKED, headers=service.auth(caller))).status_code == 200
        yield Noted(http, stores[0])


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.method} {case.path} {case.names[0]}")
async def test_another_tenants_id_looks_like_an_unknown_one(service: RunningService, noted: Noted, case: Case, caller: str) -> None:
    answers, works = [], []
    for name in case.names:
        noted.store.asked.clear()
        answers.append(seen(await ask(noted.http, case, name, service.auth(caller)), name))
        works.append(sorted(each for each in noted.store.work(of=name) if each[0] in READS))
    assert answers[0] == answers[1]
    assert works[0] == works[1]


@pytest.mark.parametrize("caller", CALLERS)
async def test_waiting_reveals_nothing_about_another_tenants_session(service: RunningService, noted: Noted, caller: str) -> None:
    position = {"topic": service.settings.topic("messages"), "partition": 0, "offset": 1}
    body = {**ASKED, "session": "@", "deadline_ms": 2000, "after": {"id": "m1", "position": position}}
    case = Case("POST", "/v1/recall", body, (SESSION, NO_SESSION))
    theirs, unknown = [seen(await ask(noted.http, case, name, service.auth(caller)), name) for name in case.names]
    assert theirs == unknown
    owners = await ask(noted.http, case, SESSION, service.auth("acme/ann"))
    assert owners.json()["after"] == {"id": "m1", "found_in": "tail", "reached": True}


async def test_both_compared_answers_exist(service: RunningService, noted: Noted) -> None:
    found = [(await ask(noted.http, case, case.names[0], service.auth("acme/ann"))) for case in CASES if case.method == "GET"]
    assert [each.status_code for each in found] == [200, 200, 200, 404, 404, 200, 200]
    assert {each.json()["type"] for each in found if each.status_code == 404} == {"urn:varve:problem:history-not-kept"}
    assert found[1].json()["open_window"] == {"sequence": 4, "message_count": 1}


async def ask(http: httpx.AsyncClient, case: Case, name: str, headers: dict[str, str]) -> httpx.Response:
    body = None if case.body is None else orjson.loads(orjson.dumps(case.body).replace(b"@", name.encode()))
    return await http.request(case.method, case.path.replace("@", name), json=body, headers=headers)


def seen(response: httpx.Response, name: str) -> dict[str, Any]:
    """All that a caller sees of an answer, but what is each request's own, and the name."""
    own = {"recall_id", "ms", "trace_id"}
    body = {field: value for field, value in response.json().items() if field not in own}
    headers = {field: value for field, value in response.headers.items() if field not in ("traceparent", "x-request-id", "content-length")}
    text = orjson.dumps({"status": response.status_code, "headers": headers, "body": body}).decode()
    anonymous: dict[str, Any] = orjson.loads(text.replace(name, "<name>"))
    return anonymous


async def lay_down_anns(service: RunningService) -> None:
    """A session of Ann's with an open window, a memory, and an entity whose first steps are not kept."""
    said = orjson.dumps({"id": "m1", "user": "ann", "text": "hush"})
    await service.tail.write([TailUpdate("acme", SESSION, SessionView(open=TailWindow(4, (said,))), 0, 3)])
    entity_type = scenario("companion").entity_type("training_log")
    assert entity_type is not None
    fields = {"tenant": "acme", "user": "ann", "entity_type": "training_log", "entity_key": ENTITY, "source": "extractions/0"}
    change = Change(op="apply", property="sessions", source_id="swim", value=1, event_time=NOON, message_ids=["m9"])
    contribution = Contribution(**fields, position=9, changes=[change], time=NOON, recorded_at=NOON)
    state = apply_contribution(None, contribution, entity_type).state
    assert state is not None
    entity = entity_id("acme", "training_log", ENTITY)
    step = HistoryEntry(id=stable_id("swim"), tenant="acme", entity=entity, number=7, contribution=contribution)
    await index(service.settings, [BOAT, render(state, entity_type, "acme", ENTITY)])
    store = build_store(service.settings)
    await store.put_steps([StepPoint(step, at(7))])
    await store.close()
