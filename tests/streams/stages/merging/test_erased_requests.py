"""The merging stage: no model is asked about an erased user's own entity, and requests about shared entities are answered."""

from dataclasses import replace

import pytest

from memory.headers import ORIGIN
from memory.records import Contribution, MergeRequest
from streams.engine.records import ConsumedRecord
from streams.errors import TransientError
from tests.erased_users import now_erased, unreadably_erased
from tests.streams.stages.entities.team import TENANT, Team


async def asked() -> tuple[Team, dict[str, ConsumedRecord]]:
    """The questions of Ann's own entity and of the shared one about her remarks on tea, by entity type."""
    team = Team(has_llm=True)
    await team.say("ann", 0, ("tea", "oolong at dawn", 3), ("tea", "sencha at noon", 2))
    await team.step("contributions")
    return team, {MergeRequest.from_json(each.value or b"").entity_type: each for each in team.log["merges"]}


async def answers(team: Team, request: ConsumedRecord) -> list[str]:
    """The types of the entities that are answered."""
    return [Contribution.from_json(each.value or b"").entity_type for each in await team.merging.handle(request)]


async def test_a_request_of_an_erased_entity_is_skipped() -> None:
    team, requests = await asked()
    own = requests["person"]
    now_erased(team.tenants, TENANT, "ann", {"merges": {0: own.offset + 1}})
    assert await answers(team, own) == []
    again = replace(own, offset=90, headers=((ORIGIN, str(own.position).encode()),))
    assert await answers(team, again) == [], "a dead letter that is driven again"


async def test_a_request_of_a_shared_entity_is_answered() -> None:
    """It waits for its answer, and asks nothing else until it has one."""
    team, requests = await asked()
    now_erased(team.tenants, TENANT, "ann", {"merges": {0: 90}})
    assert await answers(team, requests["subject"]) == ["subject"]


async def test_a_request_after_the_erasure_offset_is_answered() -> None:
    team, requests = await asked()
    now_erased(team.tenants, TENANT, "ann", {"merges": {0: requests["person"].offset}, "extractions": {0: 90}})
    assert await answers(team, requests["person"]) == ["person"]


async def test_a_request_of_another_user_is_answered() -> None:
    team, requests = await asked()
    now_erased(team.tenants, TENANT, "bob", {"merges": {0: 90}})
    assert await answers(team, requests["person"]) == ["person"]


async def test_an_unreadable_erasure_holds_own_requests_up() -> None:
    team, requests = await asked()
    unreadably_erased(team.tenants, TENANT)
    with pytest.raises(TransientError):
        await answers(team, requests["person"])
    assert await answers(team, requests["subject"]) == ["subject"]
