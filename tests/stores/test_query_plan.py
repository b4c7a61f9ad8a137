"""The parts of a hybrid query that need no engine."""

from stores.query_plan import fused


def test_memories_in_both_rankings_are_first() -> None:
    assert fused([["a", "b", "c"], ["d", "c", "b"]], limit=10) == ["b", "c", "a", "d"]


def test_fusion_respects_its_limit() -> None:
    assert fused([["a", "b", "c"], ["d", "e"]], limit=2) == ["a", "d"]
    assert fused([[], []], limit=2) == []
