"""Positions of an entity's sources over a growth of the topics."""

from hypothesis import given
from hypothesis import strategies as st

from operators.applied_positions import Sources, covers, grown_sources, merged_sources, with_hole, with_position

POSITIONS = st.lists(st.integers(0, 40), unique=True, max_size=12).map(sorted)


def _applied(sources: Sources, source: str, positions: list[int]) -> tuple[Sources, list[int]]:
    taken = []
    for position in positions:
        after = with_position(sources, source, position)
        if after is not None:
            sources = after
            taken.append(position)
    return sources, taken


@given(POSITIONS, st.integers(2, 5))
def test_a_rebuild_applies_every_copy_once(positions: list[int], copies: int) -> None:
    # The copies of one partition arrive in several streams, in any interleaving: here the last stream comes first.
    sources: Sources = {}
    taken = []
    for copy in reversed(range(copies)):
        mine = [each for each in positions if each % copies == copy]
        sources, some = _applied(sources, f"extractions/3|{copy}", mine)
        taken += some
        again, none = _applied(sources, f"extractions/3|{copy}", mine)
        assert (again, none) == (sources, [])
    assert sorted(taken) == positions
    if positions:
        assert merged_sources(sources)["extractions/3"][0] == positions[-1]


@given(POSITIONS, POSITIONS)
def test_a_replay_after_growth_applies_nothing_again(positions: list[int], later: list[int]) -> None:
    sources, _ = _applied({}, "extractions/3", positions)
    sources = grown_sources(sources)
    natives = [100 + each for each in later]
    sources, taken = _applied(sources, "extractions/3", natives)
    assert taken == natives
    for copy in ("extractions/3|3", "extractions/3|9"):
        assert _applied(sources, copy, positions) == (sources, [])


def test_a_hole_is_filled_after_growth_once() -> None:
    skipped = with_hole({"extractions/3": [4, []]}, "extractions/3", 7)
    assert skipped is not None
    sources = grown_sources(skipped[0])
    sources, _ = _applied(sources, "extractions/3", [120])
    filled = with_position(sources, "extractions/3", 7)
    assert filled is not None
    assert with_position(filled, "extractions/3", 7) is None
    assert with_position(filled, "extractions/3|9", 7) is None
    assert covers(merged_sources(filled), "extractions/3", 7)


def test_copies_count_as_one_source_for_operators() -> None:
    sources: Sources = {"extractions/3|*": [30, [7]], "extractions/3|9": [20, []], "extractions/3": [101, []], "extractions/4": [5, []]}
    assert merged_sources(sources) == {"extractions/3": [101, [7]], "extractions/4": [5, []]}


def test_a_second_growth_keeps_covered_positions() -> None:
    sources = grown_sources({"extractions/3|*": [30, [7]], "extractions/3": [101, []]})
    assert sources == {"extractions/3|*": [101, [7]]}
