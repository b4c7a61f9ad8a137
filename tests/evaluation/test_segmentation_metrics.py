import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.segmentation.metrics import distance, lengths_of, openings_of, window_size


@st.composite
def segmentations(draw: st.DrawFn, count: int = 2) -> tuple[list[int], ...]:
    """A number of segmentations of one dialogue."""
    utterances = draw(st.integers(2, 40))
    openings = st.sets(st.integers(1, utterances - 1)).map(sorted)
    return tuple(lengths_of(draw(openings), utterances) for _ in range(count))


def by_the_definition(reference: list[int], hypothesis: list[int]) -> tuple[float, float] | None:
    """Pk and WindowDiff counted boundary by boundary."""
    size, utterances = window_size(reference), sum(reference)
    expected, found = set(openings_of(reference)), set(openings_of(hypothesis))
    wrong = different = places = 0
    for start in range(utterances - size):
        one = sum(opening in expected for opening in range(start + 1, start + size + 1))
        other = sum(opening in found for opening in range(start + 1, start + size + 1))
        wrong += bool(one) != bool(other)
        different += one != other
        places += 1
    return (wrong / places, different / places) if places else None


@given(segmentations())
def test_the_metric_follows_its_definition(pair: tuple[list[int], list[int]]) -> None:
    found, expected = distance(*pair), by_the_definition(*pair)

    assert (found is None) == (expected is None)
    assert found is None or found == pytest.approx(expected)


@given(segmentations())
def test_pk_is_never_above_window_diff(pair: tuple[list[int], list[int]]) -> None:
    found = distance(*pair)

    assert found is None or 0 <= found.pk <= found.window_diff <= 1


@given(segmentations(count=1))
def test_the_reference_is_at_distance_zero_from_itself(alone: tuple[list[int]]) -> None:
    assert distance(alone[0], alone[0]) in (None, (0.0, 0.0))


@given(st.sets(st.integers(1, 29)).map(sorted))
def test_openings_and_lengths_are_each_others_inverse(openings: list[int]) -> None:
    assert openings_of(lengths_of(openings, 30)) == openings


def test_a_near_miss_costs_less_than_a_far_one() -> None:
    reference = [5, 5, 5]

    near, far = distance(reference, [6, 4, 5]), distance(reference, [8, 2, 5])

    assert near is not None
    assert far is not None
    assert 0 < near.pk < far.pk


@pytest.mark.parametrize(("lengths", "size"), [([4, 4, 4], 2), ([1, 1, 1], 1), ([10, 10], 5), ([7], 4)])
def test_the_window_is_half_the_mean_segment(lengths: list[int], size: int) -> None:
    assert window_size(lengths) == size


@pytest.mark.parametrize("hypothesis", [[3, 3], [0, 5], []])
def test_segmentations_of_different_dialogues_are_refused(hypothesis: list[int]) -> None:
    with pytest.raises(ValueError, match="equal sums"):
        distance([2, 3], hypothesis)
