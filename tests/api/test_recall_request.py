"""The entity types that a recall searches."""

import pytest

from api.reads.recall_request import entity_types_of
from memory.schema import scenario
from stores.port import MemoryFilter, TenantScope

TOOLS = ("tool_experience", "recent_reliability", "slow_calls")


@pytest.mark.parametrize(
    ("user", "kinds", "is_bound", "expected"),
    [
        pytest.param("bot", (), False, (("agent_record",), TOOLS), id="a user"),
        pytest.param("bot", ("entity",), False, (("agent_record",), TOOLS), id="entities"),
        pytest.param("bot", (), True, (("agent_record",), ()), id="a key of one user"),
        pytest.param("bot", ("event",), False, ((), ()), id="events"),
        pytest.param(None, (), False, ((), ()), id="the whole tenant"),
    ],
)
def test_shared_types_are_for_keys_of_all_users(
    user: str | None, kinds: tuple[str, ...], is_bound: bool, expected: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    asked = MemoryFilter(scope=TenantScope("acme", user), kinds=kinds)
    assert entity_types_of(scenario("agent_tools"), asked, is_bound=is_bound) == expected


def test_session_entities_are_not_shared() -> None:
    shared = {each.name for each in scenario("meetings").entity_types if each.is_shared}
    assert shared == set()
