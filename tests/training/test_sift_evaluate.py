"""The step evaluate: measures of proxies and of rankings without a model, on a real store and against a real endpoint."""

import argparse
import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from loadtest.llm_simulator import LLMSimulator
from tests.training.test_sift_reward import RANKING, USER, answering
from training.runs import Run, RunError
from training.sift import evaluate
from training.sift.evaluate import Judged
from training.sift.examples import TEST


def arguments(run: Path, **changed: Any) -> argparse.Namespace:
    given = {
        "run": run,
        "proxy": [],
        "direct": [],
        "baseline": ["bm25"],
        "answers": False,
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


def test_a_proxy_is_measured_with_its_answers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given = arguments(run.folder, proxy=["sifter=endpoint"], direct=["blunt=endpoint"], answers=True)

    async def ask() -> list[str]:
        async with LLMSimulator(answer=answering) as simulator:
            for group in ("LLM", "SIFT"):
                monkeypatch.setenv(f"VARVE_{group}__BASE_URL", simulator.base_url)
                monkeypatch.setenv(f"VARVE_{group}__MODEL", group.lower())
            return await asyncio.to_thread(lambda: list(evaluate.run(given)))

    lines = asyncio.run(ask())
    assert lines[0].startswith("Calls of llm")
    figures = orjson.loads((run.folder / "evaluation.json").read_bytes())
    assert list(figures) == ["bm25", "sifter", "blunt"]
    sifter = figures["sifter"]
    assert (sifter["queries"], sifter["ndcg_at_1"], sifter["ndcg_at_5"], sifter["valid"], sifter["answer_score"]) == (3, 1, 1, 1, 1)
    assert sifter["f1_at_10"] == pytest.approx(2 * 2 / (4 + 2), abs=1e-4)
    assert sifter["completion_tokens"] > 0
    assert "<svg" in (run.folder / "evaluation.svg").read_text()
    assert (run.folder / "evaluation.md").read_text().count("\n") == 5


@pytest.mark.integration
def test_rankings_without_a_model_use_the_pipeline(run: Run) -> None:
    lines = list(evaluate.run(arguments(run.folder, baseline=None)))
    figures = orjson.loads((run.folder / "evaluation.json").read_bytes())
    assert list(figures) == ["bm25", "cosine", "learned"]
    assert all(each["ndcg_at_1"] == 1 for each in figures.values()), figures
    assert sum("NDCG@5" in line for line in lines) == 3
    judged = list(run.read("evaluation/cosine.jsonl", Judged))
    assert all(sorted(each.ranking) == [0, 1, 2, 3] for each in judged)


def test_an_unusable_answer_counts_as_no_ranking(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> list[str]:
        async with LLMSimulator(answer=lambda _: RANKING.replace("3</ranking>", "9</ranking>")) as simulator:
            monkeypatch.setenv("VARVE_SIFT__BASE_URL", simulator.base_url)
            monkeypatch.setenv("VARVE_SIFT__MODEL", "sift")
            given = arguments(run.folder, proxy=["sifter=endpoint"])
            return await asyncio.to_thread(lambda: list(evaluate.run(given)))

    asyncio.run(ask())
    sifter = orjson.loads((run.folder / "evaluation.json").read_bytes())["sifter"]
    assert (sifter["valid"], sifter["ndcg_at_5"], sifter["answer_score"]) == (0, 0, None)


@pytest.mark.parametrize(("proxy", "message"), [("sifter", "NAME=FOLDER"), ("bm25=x", "name of a baseline"), ("../x=y", "NAME=FOLDER")])
def test_bad_names_are_refused(run: Run, proxy: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        list(evaluate.run(arguments(run.folder, proxy=[proxy])))
