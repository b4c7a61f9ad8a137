"""The best approximate span is the nearest of all spans."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from operators.patches import approximate_span as span_module
from operators.patches.approximate_span import MAX_ENDS, Span, best_approximate_span

LETTERS = st.text("ab c", max_size=12)
FAR = 1_000_000
PROSE = "Lives in Paris with her sister and works as a baker; "


def exhaustive_best_span(text: str, search: str, max_distance: int) -> Span | None:
    """The best of all spans, by looking at every one."""
    spans = [Span(start, end, Levenshtein.distance(search, text[start:end])) for end in range(len(text) + 1) for start in range(end + 1)]
    least = min(span.distance for span in spans)
    if least > max_distance:
        return None
    nearest = [span for span in spans if span.distance == least]
    ends = {span.end for span in nearest}
    first = min(ends)
    last = next(end for end in range(first, len(text) + 2) if end not in ends)
    candidates = nearest if least == 0 else [span for span in nearest if span.end < min(last, first + MAX_ENDS)]
    return min(candidates, key=lambda span: (cuts(text, span), abs(span.end - span.start - len(search)), span.start))


def cuts(text: str, span: Span) -> int:
    return sum(text[at - 1 : at + 1].isalnum() for at in (span.start, span.end) if 0 < at < len(text))


@given(LETTERS, st.text("ab c", min_size=1, max_size=8), st.integers(0, 9))
def test_it_finds_the_result_of_an_exhaustive_search(text: str, search: str, max_distance: int) -> None:
    assert best_approximate_span(text, search, max_distance=max_distance) == exhaustive_best_span(text, search, max_distance)


@given(st.text("ab ", max_size=90), st.text("ab ", min_size=60, max_size=80))
@settings(max_examples=20)
def test_searches_beyond_a_machine_word_are_found(text: str, search: str) -> None:
    assert best_approximate_span(text, search, max_distance=20) == exhaustive_best_span(text, search, 20)


@given(st.text("abcdefghij ", min_size=100, max_size=160), st.data())
@settings(max_examples=40)
def test_a_copy_with_few_edits_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, 50))
    search = list(text[start : start + data.draw(st.integers(32, 60))])
    for _ in range(data.draw(st.integers(1, 5))):
        search[data.draw(st.integers(0, len(search) - 1))] = data.draw(st.sampled_from(["#", "", "ab"]))
    assert best_approximate_span(text, "".join(search), max_distance=12) == exhaustive_best_span(text, "".join(search), 12)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("text", "search"),
    [
        ("a" * 4000, "b" * 2000),
        ("我喜欢在早上喝绿茶" * 444, PROSE * 2),
        ("我喜欢在早上喝绿茶" * 444, PROSE * 70),
        (PROSE * 75, "我喜欢在早上喝绿茶" * 440),
        ("", PROSE),
    ],
)
def test_a_distant_search_is_refused_without_searching_starts(text: str, search: str) -> None:
    assert best_approximate_span(text, search, max_distance=len(search) // 4) is None


@pytest.mark.timeout(60)
@pytest.mark.parametrize("max_distance", [600, FAR])
@pytest.mark.parametrize(
    ("text", "search"),
    [
        ("a" * 4000, "a" * 1999 + "b"),
        ("a" * 4000, "b" * 300 + "a" * 1500 + "b" * 200),
        ("- " * 2000, "-" * 1000 + " " * 1000),
        ("," * 4000, "x" * 500 + "," * 1500),
        ("a" * 2000 + " " * 2000, "ab" * 1000),
    ],
)
def test_equally_near_ends_are_not_all_tried(text: str, search: str, max_distance: int) -> None:
    span = best_approximate_span(text, search, max_distance=max_distance)
    if span is None:
        assert max_distance < FAR
    else:
        assert span.distance == Levenshtein.distance(search, text[span.start : span.end])


def test_examined_ends_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []

    def counting(text: str, search: str, *, anchored: bool) -> list[int]:
        passes.append(len(text))
        return distances_by_end(text, search, anchored=anchored)

    distances_by_end = span_module._distances_by_end
    monkeypatch.setattr(span_module, "_distances_by_end", counting)

    assert best_approximate_span("b" * 4000, "a" * 200, max_distance=50) is None
    assert len(passes) == 1
    for text, search in (("a" * 4000, "a" * 1999 + "b"), ("-" * 4000, "x" * 500 + "-" * 1500)):
        passes.clear()
        assert best_approximate_span(text, search, max_distance=500) is not None
        assert len(passes) <= 1 + MAX_ENDS


@given(st.text(max_size=30), st.text(min_size=1, max_size=70), st.text(max_size=30))
def test_an_exact_match_is_found(before: str, search: str, after: str) -> None:
    span = best_approximate_span(before + search + after, search, max_distance=0)
    assert span is not None
    assert span.distance == 0
    assert (before + search + after)[span.start : span.end] == search


def test_small_model_errors_are_tolerated() -> None:
    text = "Lives in Paris with her sister.\nWorks as a baker at Tomas' bakery.\nLikes peppermint tea."
    span = best_approximate_span(text, "works as baker at Thomas' bakery.", max_distance=8)
    assert span is not None
    assert text[span.start : span.end] == "Works as a baker at Tomas' bakery."
    assert span.distance == 4


def test_letters_outside_ascii_and_long_searches_are_found() -> None:
    text = "Она живёт в Москве. " * 20 + "Она живёт в Париже с сестрой."
    span = best_approximate_span(text, "Она живет в Париже с сестрой.", max_distance=7)
    assert span is not None
    assert (text[span.start : span.end], span.distance) == ("Она живёт в Париже с сестрой.", 1)


def test_a_whole_word_wins_over_a_part() -> None:
    assert best_approximate_span("party and art", "art", max_distance=0) == Span(10, 13, 0)
    assert best_approximate_span("abbb", "bb", max_distance=0) == Span(2, 4, 0), "overlapping matches count"
    text = "likes teas a lot"
    span = best_approximate_span(text, "like teas", max_distance=2)
    assert span is not None
    assert text[span.start : span.end] == "likes teas"
