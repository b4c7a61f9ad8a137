"""Questions answered from memory and judged: measures, verdicts, kept replies, and the command against a model's endpoint."""

import argparse
import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.cached_llm import KeptReplies, Reply
from evaluation.errors import DataSetError, EvaluationError
from evaluation.intervals import mean_with_interval
from evaluation.qa import command
from evaluation.qa.command import Judged, summary
from evaluation.qa.measures import bleu_1, part_f1, token_f1
from evaluation.qa.prompts import answer_prompt, judge_prompt, label_of
from evaluation.qa.questions import Asked
from loadtest.llm_simulator import LLMSimulator
from loadtest.requests import ChatRequest
from tests.evaluation.longmemeval_files import entry, written

CAT = Asked(id="q1", user="u", text="What is my cat's name?", answer="Minka", kind="4", asked_at=None, is_answerable=True)
REPLY = Reply("Minka", 10, 2, 0.5)


@pytest.mark.parametrize(
    ("answer", "right", "f1"),
    [
        ("7 May 2023", "7 May 2023", 1.0),
        ("The dogs, running!", "a dog runs", 1.0),
        ("Minka and Tom", "Minka", 2 / 3),
        ("not mentioned", "Minka", 0.0),
        ("", "Minka", 0.0),
    ],
)
def test_f1_is_of_stemmed_words(answer: str, right: str, f1: float) -> None:
    assert token_f1(answer, right) == pytest.approx(f1)
    assert token_f1(right, answer) == pytest.approx(f1)


def test_of_several_facts_each_counts() -> None:
    assert part_f1("pottery, camping", "camping, pottery") == 1.0
    assert part_f1("camping", "camping, pottery") == 0.5
    assert part_f1("", "camping") == 0.0


@given(st.text(), st.text())
def test_measures_are_shares(answer: str, right: str) -> None:
    for measure in (token_f1, part_f1, bleu_1):
        assert 0 <= measure(answer, right) <= 1
    assert bleu_1("a grey cat", "grey cat called Minka") == pytest.approx(2.718281828 ** (1 - 4 / 2), rel=1e-6)


def test_bleu_compares_whole_words() -> None:
    assert token_f1("dogs", "dog") == 1.0
    assert bleu_1("dogs", "dog") == 0.0
    assert bleu_1("the dog", "dog") == 1.0, "articles do not count"


def test_an_interval_holds_its_mean() -> None:
    mean, (low, high) = mean_with_interval([0.0, 1.0, 1.0, 1.0])
    assert low < mean == 0.75 < high


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('{"label": "correct"}', "correct"),
        ("```json\n{'label': 'WRONG'}\n```", "wrong"),
        ("It is incorrect.", "wrong"),
        ("Correct or wrong? Hard to say.", None),
        ("", None),
    ],
)
def test_a_verdict_is_read_only_where_it_is_one(text: str, label: str | None) -> None:
    assert label_of(text) == label


def test_a_judge_gets_the_rules_of_its_question_kind() -> None:
    def rules(kind: str, *, is_answerable: bool = True) -> str:
        asked = Asked(id="q", user="u", text="How long ago?", answer="5 days", kind=kind, asked_at=None, is_answerable=is_answerable)
        return judge_prompt(asked, "6 days")[0].content

    assert "off by one" in rules("temporal-reasoning")
    assert "off by one" not in rules("multi-session")
    assert "Right answer" not in judge_prompt(Asked(**{**_fields(CAT), "is_answerable": False}), "Tom")[1].content
    assert "5 days" not in "".join(each.content for each in answer_prompt(CAT.text, CAT.asked_at, "")), (
        "no prompt for an answer has the right one"
    )


def _fields(asked: Asked) -> dict[str, Any]:
    return {name: getattr(asked, name) for name in Asked.__slots__}


def test_kept_replies_outlive_a_broken_run(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "replies.jsonl"
    kept = KeptReplies(path)
    kept.put("a", REPLY)
    kept.put("b", REPLY)
    path.write_bytes(path.read_bytes()[:-5])
    again = KeptReplies(path)
    assert (again.get("a"), again.get("b")) == (REPLY, None)
    again.put("b", REPLY)
    assert KeptReplies(path).get("b") == REPLY


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"no": "reply"}\n')
    with pytest.raises(EvaluationError, match="line 1: no kept reply"):
        KeptReplies(path)


def test_failures_are_counted_separately() -> None:
    def judged(answer: str | None, label: Any, *, is_answerable: bool = True) -> Judged:
        return Judged(asked=Asked(**{**_fields(CAT), "is_answerable": is_answerable}), context_tokens=100, answer=answer, label=label)

    report = summary(
        [judged("Minka", "correct"), judged(None, None), judged("Tom", None), judged("not mentioned", "correct", is_answerable=False)]
    )
    assert (report["overall"]["questions"], report["overall"]["accuracy"]) == (3, 0.5), "unanswered is wrong, unjudged is neither"
    assert (report["unanswered"], report["unjudged"], report["unanswerable"]["accuracy"]) == (1, 1, 1.0)
    assert report["overall"]["f1"] == pytest.approx(1 / 3, abs=1e-4)


def answering(request: ChatRequest) -> str:
    """As an honest model: from the notes alone; and as a judge."""
    asked = request.messages[-1][1]
    if "Answer to judge:" in asked or "Reply:" in asked:
        right, _, answer = asked.partition("Right answer: ")[2].partition("\nAnswer to judge: ")
        return json.dumps({"label": "correct" if right and right in answer else "wrong"})
    return "Minka" if "Minka" in asked else "not mentioned"


def arguments(data: Path, folder: Path, url: str, **given: Any) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = parser.parse_args(["--endpoint", url, "--model", "simulated", "--replies", str(folder / "replies.jsonl")])
    return argparse.Namespace(**{**vars(options), "data": data, **given})


def examined(data: Path, folder: Path, answer: Callable[[ChatRequest], str], **given: Any) -> tuple[dict[str, Any], int]:
    """The report, and how many calls reached the endpoint."""

    async def examine() -> tuple[dict[str, Any], int]:
        async with LLMSimulator(answer=answer) as simulator:
            report = await asyncio.to_thread(command.run, arguments(data, folder, simulator.base_url, **given))
            return report, len(simulator.requests)

    return asyncio.run(examine())


def test_questions_are_answered_from_memories(tmp_path: Path) -> None:
    data = written(
        tmp_path, {**entry("q1"), "answer": "Minka"}, {**entry("q2_abs"), "question": "What is the name of my dog?", "answer": "none"}
    )
    report, calls = examined(data, tmp_path, answering)
    assert report["overall"]["accuracy"] == report["overall"]["f1"] == 1.0
    assert report["overall"]["context_tokens"] < 1000
    assert (report["unanswerable"]["questions"], report["unanswered"], report["unjudged"]) == (1, 0, 0)
    assert calls == report["calls"] == report["estimate"]["calls"] == 4
    again, calls = examined(data, tmp_path, lambda _: pytest.fail("what was paid for is not asked again"))
    assert (again["overall"], calls) == (report["overall"], 0)


def test_contexts_can_be_made_of_expanded_questions(tmp_path: Path) -> None:
    data = written(tmp_path, {**entry("q1"), "answer": "Minka"})
    expanded: list[str] = []

    def expanding_first(request: ChatRequest) -> str:
        asked = request.messages[-1][1]
        if asked.startswith("<query>"):
            expanded.append(asked)
            return "My cat is called Minka."
        return answering(request)

    async def examine() -> dict[str, Any]:
        async with LLMSimulator(answer=expanding_first) as simulator:
            return await asyncio.to_thread(command.run, arguments(data, tmp_path, simulator.base_url, expand=simulator.base_url))

    report = asyncio.run(examine())
    assert (report["expanded"], report["overall"]["accuracy"], len(expanded)) == (True, 1.0, 1)
    assert report["calls"] == 2, "of answers and of verdicts"


def test_a_failing_endpoint_loses_only_its_own_questions(tmp_path: Path) -> None:
    data = written(tmp_path, {**entry("q1"), "answer": "Minka"})
    report, _ = examined(data, tmp_path, lambda request: "maybe" if request.schema is not None else answering(request))
    assert (report["overall"]["questions"], report["unjudged"]) == (1, 1)
    assert "accuracy" not in report["overall"]


def test_the_cost_is_printed_before_the_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path, {**entry("q1"), "answer": "Minka"})
    prices = tmp_path / "prices.json"
    prices.write_bytes(orjson.dumps({"m": {"prompt": 10.0, "completion": 100.0}}))
    monkeypatch.setenv("VARVE_LLM__PRICE_TABLE", str(prices))
    report = command.run(arguments(data, tmp_path, "http://127.0.0.1:1/v1", model="m", estimate=True))
    tokens = report["estimate"]["prompt_tokens"] * 10 + report["estimate"]["completion_tokens"] * 100
    assert report["estimate"]["cost"] == pytest.approx(tokens / 1e6, abs=1e-4)
    assert f"1 questions, 2 calls, about {report['estimate']['prompt_tokens']}" in capsys.readouterr().err
    assert "overall" not in report


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"_metadata": {}}')
    with pytest.raises(DataSetError, match="is RealMem, and its questions have no short answers"):
        command.run(arguments(path, tmp_path, "http://127.0.0.1:1/v1"))
