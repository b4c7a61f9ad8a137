"""The costs of ``compare``: tokens by history, and the estimate of a run with a model."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evaluation.cached_llm import Spent
from evaluation.compare.answering import estimated_spent, f1_of
from evaluation.compare.command import estimated
from evaluation.compare.conversations import Asked
from evaluation.compare.ingestion import IngestedWindow
from evaluation.compare.measuring import HISTORY_STEP, history_of
from evaluation.compare.report import _equal_tokens
from runtime.settings import LLMSettings, Settings

SPENT = st.builds(Spent, calls=st.integers(0, 5), prompt_tokens=st.integers(0, 5000), completion_tokens=st.integers(0, 500))


def asked(**given: Any) -> Asked:
    fields = {"text": "Which pets?", "category": "multi-hop", "evidence": ("D1:1",), "asked_at": datetime(2024, 1, 1, tzinfo=UTC)}
    return Asked(**{**fields, **given})


@given(st.lists(st.tuples(st.integers(1, 30), SPENT), min_size=1, max_size=40), SPENT)
@example([*[(30, Spent())] * 3, (20, Spent())], Spent(1, 7, 0))
def test_history_counts_each_token_once(windows: list[tuple[int, Spent]], later: Spent) -> None:
    made, before = [], 0
    for messages, spent in windows:
        made.append(IngestedWindow(before, messages, spent))
        before += messages
    rows = history_of([*made, IngestedWindow(before, 0, later)])
    assert [each["messages_before"] % HISTORY_STEP for each in rows] == [0] * len(rows)
    assert sum(each["messages"] for each in rows) == before
    total = sum(each.tokens for _, each in windows) + later.tokens
    # Each row is rounded to a tenth of a token per message.
    assert sum(each["messages"] * each["tokens_per_message"] for each in rows) == pytest.approx(total, abs=0.05 * before + 1)


def test_the_estimate_adds_ingestion_and_questions(tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    prices.write_bytes(orjson.dumps({"m": {"prompt": 10.0, "completion": 100.0}}))
    figures = {
        "overall": {"questions": 4},
        "ingestion": {"model_calls": 3, "prompt_tokens": 1000, "completion_tokens": 100},
        "query": {"model_calls": 2.0, "prompt_tokens": 500, "completion_tokens": 10},
    }
    known = Settings(llm=LLMSettings(model="m", price_table=prices))
    found = estimated([{"amem": figures, "mem0": figures}], known)
    assert (found["calls"], found["prompt_tokens"], found["completion_tokens"]) == (22, 3000, 220)
    assert found["cost"] == pytest.approx((3000 * 10 + 220 * 100) / 1e6)
    assert "cost unknown" in estimated([{"amem": figures}], Settings(llm=LLMSettings(model="m")))["text"]


def test_questions_without_a_right_answer_cost_nothing() -> None:
    assert estimated_spent(asked(), "context") == Spent()
    assert estimated_spent(asked(answer="a cat"), "context").calls == 2


def test_listed_facts_are_scored_part_by_part() -> None:
    listed = asked(answer="cat, dog", has_several_answers=True)
    assert f1_of(listed, "dog, cat") == 1.0
    assert f1_of(listed, "cat") == 0.5
    assert f1_of(asked(answer="cat, dog"), "cat") == pytest.approx(2 / 3)


def test_equal_tokens_compare_question_by_question() -> None:
    figures = {"worse": {"packed_shares": [0.0, 1.0, 0.5]}, "better": {"packed_shares": [0.5, 1.0, 1.0]}}
    _, _, first, second = _equal_tokens(figures)
    assert first == "| better | 0.833 | +0.000 | +0.000 to +0.000 |"
    assert second.startswith("| worse | 0.500 | -0.333 | -0.500 to ")
