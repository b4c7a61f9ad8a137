"""``varve demo`` end to end: messages through a real Kafka, six stages, the index and the query service."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from retrieval.relevance.thresholds import LEAST_CONFIDENCE
from varve.conversations import read_conversation, scenario_sample

pytestmark = pytest.mark.integration

LOCOMO = Path(os.environ.get("VARVE_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data") / "locomo_dev.json"
KEYS = ["messages", "windows", "events", "entities", "dead_letters", "recalls", "shown", "seconds"]
RESULT_KEYS = ["id", "type", "content", "score", "evidence"]


@pytest.mark.timeout(400)
def test_the_sample_conversation_is_recalled_with_evidence() -> None:
    outcome = _demo()
    conversation = scenario_sample("companion")
    _check_outcome(outcome, messages=len(conversation.messages))
    assert outcome["windows"] == len({message["session"] for message in conversation.messages})
    assert [recall["query"] for recall in outcome["recalls"]] == list(conversation.questions)
    best = outcome["recalls"][0]["results"][0]
    assert "evening-talk-03" in best["evidence"], best
    assert all(recall["confidence"] >= LEAST_CONFIDENCE for recall in outcome["recalls"]), outcome["recalls"]


@pytest.mark.timeout(200)
def test_the_log_that_a_failure_names_is_kept(tmp_path: Path) -> None:
    wrong = {"TMPDIR": str(tmp_path), "VARVE_LLM__BASE_URL": "http://127.0.0.1:1/v1", "VARVE_BUDGET__HARD_COST": "1"}
    done = subprocess.run([sys.executable, "-m", "varve", "demo"], capture_output=True, text=True, check=False, env={**os.environ, **wrong})
    assert done.returncode == 1
    _, found, rest = done.stderr.partition("(whole log: ")
    assert found, done.stderr
    assert "needs a price table" in Path(rest.partition(")")[0]).read_text()


@pytest.mark.external
@pytest.mark.timeout(900)
@pytest.mark.skipif(not LOCOMO.exists(), reason=f"needs LoCoMo's development file at {LOCOMO} (folder in VARVE_TEST_DATA)")
def test_a_long_conversation_runs_without_a_dead_letter() -> None:
    outcome = _demo("--data", str(LOCOMO), "--questions", "3")
    conversation = read_conversation(LOCOMO)
    _check_outcome(outcome, messages=len(conversation.messages))
    assert len(outcome["recalls"]) == 3
    assert outcome["windows"] >= len({message["session"] for message in conversation.messages})


def _check_outcome(outcome: dict[str, Any], *, messages: int) -> None:
    assert list(outcome) == KEYS
    assert outcome["messages"] == messages
    assert outcome["dead_letters"] == 0
    assert outcome["events"] > 0
    assert outcome["entities"] > 0
    for recall in outcome["recalls"]:
        scores = [result["score"] for result in recall["results"]]
        assert scores == sorted(scores, reverse=True)
        assert recall["results"], recall["query"]
        for result in recall["results"]:
            assert list(result) == RESULT_KEYS
            assert result["evidence"], result


def _demo(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", "varve", "demo", "--json", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1, "with --json the one line is all that goes to standard output"
    outcome: dict[str, Any] = orjson.loads(done.stdout)
    return outcome
