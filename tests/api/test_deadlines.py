"""A recall returns the parts that it has by its deadline, on a real Edge owner that is frozen."""

import time

import pytest

from runtime.metrics import metrics
from runtime.redis.session_tail import SessionView, TailUpdate, TailWindow
from tests.api.running_service import OSLO, RunningService, expect_problem, path_count
from tests.recorded_spans import ancestors, recorded_spans
from tests.stores.edge_owner_process import EdgeOwnerProcess, standing_still

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

BODY = {"query": "Where does Ann live now?", "user": "ann", "session": "late"}


def took(path: str) -> tuple[float, float]:
    """How often a path was measured, and the seconds of all of them."""
    values = [metrics().registry.get_sample_value(f"varve_recall_path_seconds_{each}", {"path": path}) for each in ("count", "sum")]
    return values[0] or 0.0, values[1] or 0.0


def recalls_of(tenant: str) -> float:
    # Tests before may have named as many tenants as a process names.
    label = metrics().first_tenants.label(tenant)
    return metrics().registry.get_sample_value("varve_tenant_recalls_total", {"tenant": label}) or 0.0


async def test_late_paths_are_left_out_and_named(service: RunningService, edge_owner: EdgeOwnerProcess) -> None:
    await service.tail.write([TailUpdate("acme", "late", SessionView(open=TailWindow(0, (b'{"text":"hello"}',))), 0, 0)])
    whole = (await service.http.post("/v1/recall", json=BODY, headers=service.auth("acme"))).json()
    assert whole["degraded"] == []
    assert OSLO.id in {each["id"] for each in whole["results"]}

    before = {path: path_count(path, "late") for path in ("memories", "keywords", "entities", "session_tail")}
    timed = {path: took(path) for path in before}
    recalls = recalls_of("acme")
    with standing_still(edge_owner):
        started = time.monotonic()
        response = await service.http.post(
            "/v1/recall", json={**BODY, "keyword_quota": 2, "deadline_ms": 3000}, headers=service.auth("acme")
        )
        assert time.monotonic() - started < 30
    assert response.status_code == 200, response.text
    answer = response.json()
    assert answer["degraded"] == ["memories", "keywords", "entities"]
    assert (answer["results"], answer["entities"]) == ([], [])
    assert answer["session"]["messages"] == [{"window_sequence": 0, "message": {"text": "hello"}}]
    late = {path: path_count(path, "late") - count for path, count in before.items()}
    assert late == {"memories": 1, "keywords": 1, "entities": 1, "session_tail": 0}
    count, seconds = (after - start for after, start in zip(took("memories"), timed["memories"], strict=True))
    assert count == 1
    assert seconds > 2, "what was left out took its time, too"
    assert took("session_tail")[0] - timed["session_tail"][0] == 1
    assert recalls_of("acme") == recalls + 1


async def test_each_path_has_a_span_below_the_request(service: RunningService, edge_owner: EdgeOwnerProcess) -> None:
    with recorded_spans() as exporter:
        await service.http.post("/v1/recall", json=BODY, headers=service.auth("acme"))
        in_time = exporter.get_finished_spans()
        exporter.clear()
        with standing_still(edge_owner):
            await service.http.post("/v1/recall", json={**BODY, "deadline_ms": 500}, headers=service.auth("acme"))
        late = exporter.get_finished_spans()
    paths = {f"recall {path}" for path in ("memories", "entities", "session_tail")}
    for spans in (in_time, late):
        assert {tuple(ancestors(each, spans)) for each in spans if each.name in paths} == {(each, "POST /v1/recall") for each in paths}
    reasons = {each.name: (each.attributes or {}).get("error.type") for each in late if each.name in paths}
    assert reasons == {"recall memories": "late", "recall entities": "late", "recall session_tail": None}
    assert not any((each.attributes or {}).get("error.type") for each in in_time)


@pytest.mark.parametrize(("path", "found"), [("/v1/recall", "results"), ("/v1/context", "citations")])
async def test_with_nothing_in_time_nothing_is_answered(
    service: RunningService, edge_owner: EdgeOwnerProcess, path: str, found: str
) -> None:
    with standing_still(edge_owner):
        response = await service.http.post(path, json={"query": "x", "deadline_ms": 1}, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    assert (response.json()["degraded"], response.json()[found]) == (["memories"], [])


@pytest.mark.parametrize("deadline_ms", [0, -1, 60_001, 1.5, "soon"])
async def test_a_deadline_is_a_bounded_number(service: RunningService, deadline_ms: object) -> None:
    body = {"query": "x", "deadline_ms": deadline_ms}
    expect_problem(await service.http.post("/v1/recall", json=body, headers=service.auth("acme")), 422, "deadline_ms")
