"""Results and entities of a recall as one list."""

from datetime import UTC, datetime
from typing import Any

import pytest
from varve_client import RecallResult
from varve_integrations.recalled import recalled_memories


def memory(name: str, **fields: Any) -> dict[str, Any]:
    time = datetime(2024, 5, 6, tzinfo=UTC)
    return {"id": name, "kind": "event", "type": "fact", "content": name, "event_time": time, **fields}


def recall(results: int, *entities: str) -> RecallResult:
    found = [memory(f"r{number}", score=1 - number / 10) for number in range(results)]
    states = [memory(name, kind="entity", type=name[0]) for name in entities]
    return RecallResult.model_validate({"results": found, "entities": states})


@pytest.mark.parametrize(
    ("results", "entities", "limit", "shown"),
    [
        (6, [], 5, ["r0", "r1", "r2", "r3", "r4"]),
        (5, ["p1", "p2", "m1"], 5, ["r0", "r1", "r2", "r3", "p1"]),
        (10, ["p1", "p2", "m1"], 10, ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "p1", "m1"]),
        (1, ["p1", "p2", "m1"], 5, ["r0", "p1", "m1", "p2"]),
        (0, ["p1", "p2", "m1"], 1, ["p1"]),
        (3, ["p1"], 1, ["r0"]),
    ],
)
def test_entities_get_a_fifth_and_what_is_left(results: int, entities: list[str], limit: int, shown: list[str]) -> None:
    assert [each.id for each in recalled_memories(recall(results, *entities), limit)] == shown


def test_a_result_is_left_out_for_its_shown_entity() -> None:
    found = recall(4, "p1", "p2")
    results = [each.model_copy(update={"repeated_by": by}) for each, by in zip(found.results, ("p1", None, "p2", None), strict=True)]
    found = found.model_copy(update={"results": results})
    assert [each.id for each in recalled_memories(found, 5)] == ["r1", "r2", "r3", "p1"]
