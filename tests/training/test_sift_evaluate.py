"""The step evaluate: measures of proxies and of rankings without a model, on a real store and against a real endpoint."""

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from loadtest.llm_simulator import LLMSimulator
from loadtest.requests import ChatRequest
from tests.training.sift_examples import RANKING, USER, answering
from training.runs import Run, RunError
from training.sift.data.examples import TEST
from training.sift.evaluation import evaluate
from training.sift.evaluation.report import Judged


def arguments(run: Path, **changed: Any) -> argparse.Namespace:
    given = {
        "run": run,
        "proxy": [],
        "direct": [],
        "baseline": ["bm25"],
        "expand": False,
        "answers": False,
        "answer_sessions": 2,
        "judge": None,
        "judge_model": None,
        "judge_key": None,
        "examples": None,
        "sessions": 10,
        "max_tokens": 1024,
        "batch": 8,
        "seed": 7,
    }
    return argparse.Namespace(**{**given, **changed})


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = Run(tmp_path)
    made.write(TEST, [USER])
    return made


def replying(request: ChatRequest) -> str:
    """The reply of the model that expands, that ranks, that answers or that judges. It knows the age if it sees both sessions."""
    system, text = (content for _, content in request.messages)
    if "search a memory" in system:
        return "Minka is three years old."
    if "compare an answer" in system:
        return '{"label": "correct"}' if "Answer to judge: three years" in text else '{"label": "wrong"}'
    return answering(request)


def evaluated(
    given: argparse.Namespace, monkeypatch: pytest.MonkeyPatch, reply: Callable[[ChatRequest], str]
) -> tuple[list[str], list[str]]:
    """The lines of the step, and the system messages of the calls in their order."""

    async def ask() -> tuple[list[str], list[str]]:
        async with LLMSimulator(answer=reply) as simulator:
            for group in ("LLM", "SIFT"):
                monkeypatch.setenv(f"VARVE_{group}__BASE_URL", simulator.base_url)
                monkeypatch.setenv(f"VARVE_{group}__MODEL", group.lower())
            lines = await asyncio.to_thread(lambda: list(evaluate.run(given)))
            return lines, [each.messages[0][1] for each in simulator.requests]

    return asyncio.run(ask())


def test_a_proxy_is_measured_with_its_answers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given = arguments(run.folder, proxy=["sifter=endpoint"], direct=["blunt=endpoint"], answers=True)
    lines, calls = evaluated(given, monkeypatch, replying)
    assert [line.split(",")[0] for line in lines[:4]] == [
        "Answers. Calls of llm: at most 9",
        "Judgements. Calls of llm: at most 9",
        "Rankings of sifter. Calls of sift: at most 3",
        "Rankings of blunt. Calls of sift: at most 3",
    ]
    figures = orjson.loads((run.folder / "evaluation.json").read_bytes())
    assert list(figures) == ["bm25", "sifter", "blunt"]
    sifter = figures["sifter"]
    assert (sifter["queries"], sifter["ndcg_at_1"], sifter["ndcg_at_5"], sifter["valid"]) == (3, 1, 1, 1)
    assert (sifter["answer_score"], sifter["correct"], sifter["correct_interval"], sifter["judged_answers"]) == (1, 1, [1, 1], 3)
    assert sifter["f1_at_10"] == pytest.approx(2 * 2 / (4 + 2), abs=1e-4)
    assert sifter["completion_tokens"] > 0
    assert "<svg" in (run.folder / "evaluation.svg").read_text()
    report = (run.folder / "evaluation.md").read_text()
    assert report.count("\n") == 5
    assert "1.000 [1.000, 1.000]" in report
    roles = ["judge" if "compare an answer" in each else "answer" if "question from the notes" in each else "rank" for each in calls]
    assert roles == ["rank"] * 6 + ["answer"] * 3 + ["judge"] * 3, "methods with the same sessions share answers and judgements"
    assert evaluated(given, monkeypatch, replying)[1] == []


def test_answers_see_the_first_sessions_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated(arguments(run.folder, proxy=["sifter=endpoint"], answers=True, answer_sessions=1), monkeypatch, replying)
    judged = list(run.read("evaluation/sifter.jsonl", Judged))
    assert [(each.answer, each.answer_score, each.correct) for each in judged] == [("unknown", 0, False)] * 3


def test_a_query_without_right_answer_is_not_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = USER.examples
    changed = (one.model_copy(update={"answer": ""}), two.model_copy(update={"answer": "", "notes": ("Minka is three.",)}), three)
    Run(tmp_path).write(TEST, [USER.model_copy(update={"examples": changed})])
    asked: list[str] = []

    def reply(request: ChatRequest) -> str:
        asked.append("\n".join(content for _, content in request.messages))
        return replying(request)

    evaluated(arguments(tmp_path, answers=True), monkeypatch, reply)
    judged = {each.id: each for each in Run(tmp_path).read("evaluation/bm25.jsonl", Judged)}
    assert (judged["e0"].answer, judged["e0"].correct) == (None, None)
    assert (judged["e1"].answer_score, judged["e1"].correct) == (None, True)
    assert (judged["e2"].answer_score, judged["e2"].correct) == (1, True)
    [by_notes] = [each for each in asked if "Right answer: Minka is three." in each]
    assert "a good reply makes use of" in by_notes


def test_an_unusable_judgement_counts_in_no_figure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def reply(request: ChatRequest) -> str:
        return "Hard to say." if "compare an answer" in request.messages[0][1] else replying(request)

    lines, calls = evaluated(arguments(run.folder, answers=True), monkeypatch, reply)
    figures = orjson.loads((run.folder / "evaluation.json").read_bytes())["bm25"]
    assert (figures["correct"], figures["judged_answers"], figures["answer_score"]) == (None, 0, 1)
    assert "bm25: 0 of 0 answers correct, 3 not judged" in lines
    assert len(calls) == 3 + 2 * 3, "each judgement is asked twice"


@pytest.mark.integration
def test_rankings_without_a_model_use_the_pipeline(run: Run) -> None:
    lines = list(evaluate.run(arguments(run.folder, baseline=None)))
    figures = orjson.loads((run.folder / "evaluation.json").read_bytes())
    assert list(figures) == ["bm25", "cosine", "learned"]
    assert all(each["ndcg_at_1"] == 1 for each in figures.values()), figures
    assert sum("NDCG@5" in line for line in lines) == 3
    judged = list(run.read("evaluation/cosine.jsonl", Judged))
    assert all(sorted(each.ranking) == [0, 1, 2, 3] for each in judged)


@pytest.mark.integration
@pytest.mark.parametrize(("reply", "first"), [("Bread and rolls from my oven.", 3), ("...", 0)])
def test_expanded_queries_are_ranked_by_the_pipeline(run: Run, monkeypatch: pytest.MonkeyPatch, reply: str, first: int) -> None:
    given = arguments(run.folder, expand=True)
    lines, calls = evaluated(given, monkeypatch, lambda _: reply)
    assert lines[0].startswith("Expansions. Calls of llm: at most 3")
    assert len(calls) == 3
    judged = list(run.read("evaluation/expand.jsonl", Judged))
    assert [first in each.ranking[:2] for each in judged] == [True] * 3
    assert all(sorted(each.ranking) == [0, 1, 2, 3] and each.completion_tokens > 0 for each in judged)
    assert evaluated(given, monkeypatch, lambda _: reply)[1] == []


def test_an_unusable_answer_counts_as_no_ranking(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = RANKING.replace("3</ranking>", "9</ranking>")
    evaluated(arguments(run.folder, proxy=["sifter=endpoint"]), monkeypatch, lambda _: broken)
    sifter = orjson.loads((run.folder / "evaluation.json").read_bytes())["sifter"]
    assert (sifter["valid"], sifter["ndcg_at_5"], sifter["answer_score"]) == (0, 0, None)


@pytest.mark.parametrize(
    ("proxy", "message"),
    [("sifter", "NAME=FOLDER"), ("bm25=x", "name of a baseline"), ("expand=x", "name of a baseline"), ("../x=y", "NAME=FOLDER")],
)
def test_bad_names_are_refused(run: Run, proxy: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        list(evaluate.run(arguments(run.folder, proxy=[proxy])))
