"""LongMemEval: its measures against their definitions, and the command on a made-up history and on a real record."""

import argparse
import os
from math import log2
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import DataSetError
from evaluation.longmemeval.command import run
from evaluation.longmemeval.dataset import read_longmemeval
from evaluation.longmemeval.measures import CUTS, means, session_outcome
from tests.evaluation.longmemeval_files import entry, written

PUBLISHED = Path(os.environ.get("VARVE_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data") / "longmemeval_one.json"
RANKINGS = st.permutations(list("abcdefghijklmnop"))


def test_an_outcome_is_as_published() -> None:
    found = session_outcome(["x", "a", "y", "b", "z", "c"], {"a", "b", "c"}, 5)
    gain, ideal = 1 / log2(2) + 1 / log2(4), 1 + 1 / log2(2) + 1 / log2(3)
    assert (found.any, found.all, found.fraction) == (1.0, 0.0, 2 / 3)
    assert found.ndcg == pytest.approx(gain / ideal)
    assert session_outcome(["x"], {"a"}, 5).ndcg == 0


@given(RANKINGS, st.sets(st.sampled_from("abcdefghijklmnop"), min_size=1))
def test_nothing_is_better_than_the_right_first(ranking: list[str], right: set[str]) -> None:
    for cut in CUTS:
        best = session_outcome(sorted(ranking, key=lambda each: each not in right), right, cut)
        found = session_outcome(ranking, right, cut)
        assert best.ndcg == pytest.approx(1)
        assert 0 <= found.ndcg <= best.ndcg + 1e-9
        assert found.all <= found.fraction <= found.any


def test_means_are_named_by_their_cut() -> None:
    outcomes = [{cut: session_outcome(ranking, {"a"}, cut) for cut in CUTS} for ranking in (["a"], ["b"])]
    report = means(outcomes)
    assert report["questions"] == 2
    named = [f"{name}_at_{cut}" for name in ("any", "all", "fraction", "ndcg") for cut in CUTS]
    assert {report[each] for each in named} == {0.5}
    assert all(report[f"{each}_interval"] == [0.0, 1.0] for each in named)
    assert means([]) == {"questions": 0}


def test_a_question_without_an_answer_names_no_session(tmp_path: Path) -> None:
    asked = list(read_longmemeval(written(tmp_path, entry("q1"), entry("q2_abs"))))
    assert [each.answer_sessions for each in asked] == [frozenset({"1"}), frozenset()]
    assert [len(window.messages) for window in asked[0].windows] == [1, 2, 1]
    assert asked[0].asked_at.isoformat() == "2023-05-30T23:40:00+00:00"


@pytest.mark.parametrize("damage", [{"question_date": "yesterday"}, {"haystack_dates": []}, {"haystack_sessions": [1, 2, 3]}])
def test_another_form_is_refused_with_its_place(tmp_path: Path, damage: dict[str, Any]) -> None:
    with pytest.raises(DataSetError, match="question 1: not in LongMemEval's form"):
        list(read_longmemeval(written(tmp_path, entry("q1"), {**entry("q2"), **damage})))


@pytest.mark.integration
def test_the_right_session_comes_first(tmp_path: Path) -> None:
    data = written(tmp_path, entry("q1"), entry("q2_abs"), entry("q3", answer="s2"))
    report = run(argparse.Namespace(data=data, profile="learned", questions=None))
    assert (report["overall"]["questions"], report["without_answer"]) == (2, 1)
    assert report["overall"]["ndcg_at_5"] == 1.0
    assert set(report["ways"]) == {"learned", "weighted", "memx", "dense", "bm25", "late", "rrf", "raw_turns"}
    assert {each["questions"] for each in report["ways"].values()} == {2}
    assert report["ways"]["bm25"]["any_at_5"] == report["ways"]["raw_turns"]["ndcg_at_5"] == 1.0


@pytest.mark.skipif(not PUBLISHED.exists(), reason=f"needs a record of LongMemEval at {PUBLISHED} (folder in VARVE_TEST_DATA)")
def test_a_published_record_is_read() -> None:
    question = next(read_longmemeval(PUBLISHED))
    assert question.answer_sessions
    assert question.sessions > 10
