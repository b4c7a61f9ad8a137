"""A tenant deletes a memory and erases a user with its own key, through the real stages: no read finds them afterwards."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from varve_client import AsyncVarveClient, Memory, ServiceProblemError

from api.composition import open_dependencies
from control.access_keys import SCOPES
from runtime.settings import ControlSettings, Settings
from stores.build import build_store
from stores.port import TenantScope
from streams.operations.erasure.erase import eraser_of
from streams.operations.replay import ReplayStart, replay
from tests.api.running_service import serving as serving_http
from tests.control_log import add_key
from tests.streams.flow import TENANT, caught_up, flush, send_sample, serving
from tests.streams.harness import until_true

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

DERIVED = ("extraction", "events", "entities", "index")


@pytest.fixture
def leased(flow: Settings) -> Settings:
    return flow.model_copy(update={"control": ControlSettings(lease_s=5.0)})


@asynccontextmanager
async def client(settings: Settings) -> AsyncIterator[AsyncVarveClient]:
    key = await add_key(settings, TENANT, scopes=SCOPES)
    async with (
        serving_http(settings, open_dependencies=lambda settings: open_dependencies(settings, eraser=eraser_of(settings))) as http,
        AsyncVarveClient("http://varve", api_key=key, http=http) as varve,
    ):
        yield varve


async def listed(varve: AsyncVarveClient) -> dict[str, Memory]:
    found: dict[str, Memory] = {}
    after: str | None = None
    while True:
        page = await varve.memories(user="ada", after=after, limit=7)
        assert not found.keys() & {each.id for each in page.memories}
        found |= {each.id: each for each in page.memories}
        after = page.next
        if after is None:
            return found


async def test_a_tenant_deletes_a_memory_then_its_user(leased: Settings) -> None:
    await send_sample(leased)
    await flush(leased)
    async with serving(leased), client(leased) as varve:
        await caught_up(leased)
        before = await listed(varve)
        gone = next(each for each in before.values() if each.type == "life_event")
        counted = (await varve.entity("user_profile", ["ada"])).properties["life_events"]
        deleted = await varve.delete_memory(gone.id, reason="was never said")
        assert {each["id"] for each in deleted.remaining} >= set(gone.evidence), "the messages remain in the log"
        await caught_up(leased)
        assert gone.id not in await listed(varve)
        with pytest.raises(ServiceProblemError, match="there is no memory"):
            await varve.memory(gone.id)
        assert gone.id not in {each.id for each in (await varve.recall(gone.content, user="ada", limit=50)).results}
        assert gone.content not in (await varve.context(gone.content, user="ada", session=gone.session)).context
        assert (await varve.entity("user_profile", ["ada"])).properties["life_events"] == counted - 1
        assert (await varve.delete_memory(gone.id)).id == deleted.id, "a repetition has no further effect"

    assert await replay(leased, "extraction", ReplayStart())
    async with serving(leased), client(leased) as varve:
        await caught_up(leased)
        assert gone.id not in await listed(varve), "an extraction made again does not restore it"
        begun = await varve.erase_user("ada", reason="ticket 4711")

        async def is_finished() -> bool:
            return (await varve.erasure(begun.subject)).finished_at is not None

        await until_true(is_finished, deadline_s=120)
        receipt = await varve.erasure(begun.subject)
        assert (receipt.problem, receipt.remains, receipt.reason) == (None, [], "ticket 4711")
        assert receipt.found["windows"] > 0
        assert await listed(varve) == {}
    store = build_store(leased)
    assert await store.count(TenantScope(TENANT, "ada")) == 0
    await store.close()
