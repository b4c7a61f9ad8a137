"""Results of two generations, compared by their evidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.operations.rehearsal.comparison import Latency, RecallComparison, Rehearsal, Results
from streams.operations.rehearsal.questions import Question, RehearsalError, questions_in

QUESTION = Question(id="r1", query="Where does Ada live?", user="ada")
RESULTS = st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=3), max_size=12)


def compared(served: Results, candidate: Results, *, name: str = "r1") -> RecallComparison:
    question = Question(id=name, query=QUESTION.query, user=QUESTION.user)
    return RecallComparison(question=question, served=served, candidate=candidate, served_ms=2.0, candidate_ms=4.0)


def of(*evidence: str) -> list[frozenset[str]]:
    """Results by the letters of their messages."""
    return [frozenset(each) for each in evidence]


def rehearsed(*recalls: RecallComparison) -> Rehearsal:
    return Rehearsal("acme", "", "v2", recalls)


def test_equal_results_lose_nothing() -> None:
    same = compared(of("a", "bc"), of("a", "bc"))
    assert (same.overlap, same.new_ranks, same.lost, same.gained) == (1.0, [1, 2], frozenset(), frozenset())
    assert not same.is_first_lost
    assert not same.is_first_new


def test_results_match_by_a_shared_message() -> None:
    other = compared(of("ab", "c", "d"), of("xd", "bz"))
    assert other.new_ranks == [2, None, 1]
    assert other.overlap == pytest.approx(2 / 3)
    assert other.rank_changes == [1, -2]
    assert other.lost == frozenset("ac"), "a part of a result's evidence may be lost"
    assert other.gained == frozenset("xz")
    assert not other.is_first_lost


def test_lost_and_new_first_results() -> None:
    other = compared(of("a", "b"), of("x", "b"))
    assert other.is_first_lost
    assert other.is_first_new
    assert compared([], of("x")).is_first_new
    assert not compared([], []).is_first_lost


def test_only_the_first_ten_overlap() -> None:
    letters = of(*"abcdefghijkl")
    assert compared(letters, [*letters[2:], *letters[:2]]).overlap == pytest.approx(0.8)


def test_the_summary_counts_all_recalls() -> None:
    report = rehearsed(
        compared(of("a", "b"), of("a", "b"), name="fine"),
        compared(of("a", "b", "cd"), of("b"), name="bad"),
        compared(of("e"), of("f"), name="worse"),
        compared([], of("g"), name="nothing served"),
    )
    assert (report.served_evidence, report.lost_evidence) == (7, 4)
    assert report.lost_share == pytest.approx(4 / 7)
    assert report.overlap == pytest.approx((1 + 1 / 3 + 0) / 3), "a recall without served results has no overlap"
    assert report.rank_change == pytest.approx(1 / 3)
    assert [each.question.id for each in report.worst(9)] == ["bad", "worse"]
    assert len(report.worst(1)) == 1
    fields = report.as_json(worst=9, with_queries=False)
    assert (fields["first_lost"], fields["first_new"], fields["gained"]) == (2, 2, 2)
    assert fields["latency_ms"] == {"served": {"p50": 2.0, "p95": 2.0}, "candidate": {"p50": 4.0, "p95": 4.0}}
    assert (fields["served"], fields["candidate"]) == ("-", "v2")


def test_queries_are_shown_only_on_request() -> None:
    report = rehearsed(compared(of("a"), []))
    assert QUESTION.query not in str(report.as_json(worst=9, with_queries=False))
    (worst,) = report.as_json(worst=9, with_queries=True)["worst"]
    assert (worst["query"], worst["user"], worst["lost"]) == (QUESTION.query, "ada", ["a"])


def test_no_recalls_lose_nothing() -> None:
    assert (rehearsed().overlap, rehearsed().lost_share, rehearsed().rank_change) == (1.0, 0.0, 0.0)
    assert Latency.of([]) == Latency(0.0, 0.0)
    assert Latency.of([3.0]) == Latency(3.0, 3.0)


@given(served=RESULTS, candidate=RESULTS)
def test_lost_evidence_is_in_no_result(served: Results, candidate: Results) -> None:
    report = rehearsed(compared(served, candidate), compared(served, served))
    (first, same) = report.recalls
    assert first.lost.isdisjoint(frozenset().union(*candidate))
    assert first.lost | (frozenset().union(*candidate) & first.evidence) == first.evidence
    assert not same.lost
    assert 0.0 <= report.lost_share <= 0.5
    assert 0.0 <= report.overlap <= 1.0


def test_a_file_of_queries_is_read() -> None:
    lines = [b'{"query": "Where?", "user": "ada"}', b"", b'{"query": "When?"}', b'{"query": "Who?", "user": null}']
    assert [(each.id, each.query, each.user) for each in questions_in(lines)] == [
        ("line 1", "Where?", "ada"),
        ("line 3", "When?", None),
        ("line 4", "Who?", None),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "line 1 of the queries is not JSON"),
        (b"[]", "needs a member 'query'"),
        (b'{"query": " "}', "needs a member 'query'"),
        (b'{"query": 1}', "needs a member 'query'"),
        (b'{"query": "a", "user": ""}', "'user' must be a text"),
        (b'{"query": "a", "limit": 3}', "unknown member 'limit'"),
        (b"", "is empty"),
    ],
)
def test_a_wrong_line_is_named(line: bytes, problem: str) -> None:
    with pytest.raises(RehearsalError, match=problem):
        questions_in([line])
