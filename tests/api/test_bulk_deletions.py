"""The facades delete many memories: one that another request has deleted in the meantime is skipped, and too many are refused."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from aiohttp import web
from varve_client import AsyncVarveClient

from api import facades
from api.mem0.operations import Mem0Operations
from api.problems import ProblemError
from api.viking.operations import VikingOperations
from tests.http_server import serving_posts

NOW = datetime(2024, 5, 6, 12, tzinfo=UTC)
GONE = "00000000-0000-0000-0000-000000000001"
IDS = ["00000000-0000-0000-0000-000000000000", GONE, "00000000-0000-0000-0000-000000000002"]


@asynccontextmanager
async def service(deleted: list[str], *, following: str | None = None) -> AsyncIterator[AsyncVarveClient]:
    """A service with three events, of which one is deleted after they were listed; ``following`` is the next page of each page."""

    async def answer(request: web.Request) -> web.Response:
        name = request.path.rpartition("/")[2]
        if request.method == "DELETE" and name != GONE:
            deleted.append(name)
            return web.json_response({"memory_id": name, "outcome": "applied"})
        if request.path == "/v1/memories":
            fields = {"type": "note", "kind": "event", "content": "x", "event_time": NOW.isoformat(), "evidence": ["m"], "user": "ann"}
            return web.json_response({"memories": [{"id": each, **fields} for each in IDS], "next": following})
        return web.json_response({"type": "urn:varve:problem:not-found", "detail": "there is no such memory"}, status=404)

    async with serving_posts("/v1/{rest:.*}", answer, method="*") as url, AsyncVarveClient(url, api_key="k") as varve:
        yield varve


async def test_mem0s_deletion_of_all_skips_missing_ones() -> None:
    deleted: list[str] = []
    async with service(deleted) as varve:
        await Mem0Operations(varve, now=NOW).delete_all({"user_id": "ann"}, None)
    assert deleted == [IDS[0], IDS[2]]


async def test_vikings_batch_deletion_skips_missing_ones() -> None:
    deleted: list[str] = []
    async with service(deleted) as varve:
        await VikingOperations(varve, now=NOW).batch_delete_events({"filter": {"user_id": "ann"}})
    assert deleted == [IDS[0], IDS[2]]


async def test_a_deletion_of_too_many_deletes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facades, "MAX_LISTED", 4)
    deleted: list[str] = []
    async with service(deleted, following="more") as varve:
        with pytest.raises(ProblemError, match="more than 4 memories; name a user"):
            await Mem0Operations(varve, now=NOW).delete_all({"user_id": "ann"}, None)
    assert deleted == []
