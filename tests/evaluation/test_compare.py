"""``python -m evaluation compare`` on a made-up conversation in LoCoMo's form, with the real embedding model and the real store."""

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import orjson
import pytest

from evaluation.compare.command import add_arguments, run
from evaluation.errors import DataSetError
from loadtest.answers import extraction_answer, merge_answer
from loadtest.llm_simulator import LLMSimulator, Planner
from loadtest.profiles import Plan
from loadtest.requests import ChatRequest
from memory.errors import SchemaError
from memory.schema.methods import method_document
from tests.evaluation.conversations import conversation
from tests.evaluation.longmemeval_files import entry
from tests.evaluation.realmem_files import dialogues, written
from tests.streams.linked_remarks import linking_answer

pytestmark = pytest.mark.integration


def compared(folder: Path, methods: str, data: Path | None = None, *options: str) -> dict[str, Any]:
    if data is None:
        data = folder / "conversations.json"
        data.write_bytes(orjson.dumps([conversation("one"), conversation("two")]))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    given = ["--methods", methods, "--kept", str(folder / "kept.jsonl"), "--replies", str(folder / "replies.jsonl"), *options]
    return run(argparse.Namespace(**vars(parser.parse_args(given)), data=data, report=folder / "report" / "compare.json"))


def test_methods_are_compared_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.json"
    own.write_bytes(orjson.dumps({**method_document("memgpt"), "Method": "own"}))
    report = compared(tmp_path, f"vikingmem,{own}")
    assert capsys.readouterr().err.splitlines()[0] == "2 methods, LoCoMo: 2 conversations, 4 questions; 1 data sets"
    plain, archived = report["methods"]["vikingmem"], report["methods"]["own"]
    assert {each["overall"]["questions"] for each in (plain, archived)} == {4}
    assert archived["overall"]["recall_at_10"] == 1.0
    assert archived["memories_by_type"]["event turn"] == 8, "each message of both conversations is archived"
    assert "event turn" not in plain["memories_by_type"]
    assert archived["record_bytes"] > plain["record_bytes"] > 0
    assert set(archived["categories"]) == {"single-hop"}
    assert archived["ingestion"]["model_seconds"] == 0, "no model is asked"
    assert archived["ingestion"]["model_tokens"] > plain["ingestion"]["model_tokens"] > 0, "the text about the user is merged, too"
    assert 0 < archived["query"]["packed_tokens"] <= report["budget"]

    text = (tmp_path / "report" / "compare.md").read_text()
    assert text == report["markdown"]
    assert "| own | 1.000 |" in text
    points = ElementTree.parse(tmp_path / "report" / "compare-quality.svg").getroot().findall("{http://www.w3.org/2000/svg}circle")
    assert len(points) == 2

    with (tmp_path / "kept.jsonl").open("ab") as file:
        file.write(b'{"key": "cut off by a k')
    again = compared(tmp_path, f"vikingmem,{own}")
    assert "measuring" not in capsys.readouterr().err
    assert again["methods"] == report["methods"]


def test_a_changed_document_is_measured_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.json"
    for document in ({"Method": "own", "Archive": {"Turns": True}}, {"Method": "own", "Extract": {"Segments": True}}):
        own.write_bytes(orjson.dumps(document))
        types = compared(tmp_path, str(own))["methods"]["own"]["memories_by_type"]
        assert "measuring own" in capsys.readouterr().err
    assert "event segment" in types
    assert "event turn" not in types


def test_an_unknown_method_is_refused_before_work(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="there is no memory method 'magic'"):
        compared(tmp_path, "vikingmem,magic")


def test_realmem_is_asked_before_each_session(tmp_path: Path) -> None:
    folder = tmp_path / "realmem"
    folder.mkdir()
    written(folder, dialogues())
    report = compared(tmp_path, "memgpt", data=folder)
    found = report["methods"]["memgpt"]
    assert (report["questions"], found["overall"]["questions"]) == (2, 2)
    assert set(found["categories"]) == {"Dynamic Incremental", "Implicit Preference"}
    assert found["overall"]["recall_at_10"] == 1.0, "the turns of the earlier sessions are archived"
    assert found["memories_by_type"]["event turn"] == 8, "those of the last session are added after its questions"


def answering(request: ChatRequest) -> str:
    """As a model that extracts, merges, links, and answers from the context in a whole sentence."""
    asked = request.messages[-1][1]
    if asked.endswith("Simplified answer:"):
        return "Minka" if "Minka" in asked.partition("Original answer:")[2] else "unknown"
    if asked.endswith("Answer:"):
        return "The cat is called Minka." if "Minka" in asked else "The notes do not say it."
    if asked.startswith('{"field"') and '"notes"' in asked:
        return linking_answer(request)
    return merge_answer(request) or extraction_answer(request)


def answered(
    folder: Path, data: Path, answer: Callable[[ChatRequest], str], *options: str, planner: Planner | None = None
) -> tuple[dict[str, Any], list[ChatRequest]]:
    """The report of a run with a model, and the requests that reached its endpoint."""

    async def run_with_model() -> tuple[dict[str, Any], list[ChatRequest]]:
        async with LLMSimulator(answer=answer, planner=planner) as simulator:
            given = ("--endpoint", simulator.base_url, "--model", "simulated", *options)
            return await asyncio.to_thread(compared, folder, "amem,vikingmem", data, *given), simulator.requests

    return asyncio.run(run_with_model())


def test_a_model_answers_only_when_confirmed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "longmemeval.json"
    data.write_bytes(orjson.dumps([{**entry("q1"), "answer": "Minka"}]))
    unconfirmed, requests = answered(tmp_path, data, answering)
    assert requests == []
    assert "with_model" not in unconfirmed
    printed = capsys.readouterr().err
    assert unconfirmed["estimate"]["text"] in printed
    assert "add --yes to ask it" in printed

    report, requests = answered(tmp_path, data, answering, "--yes")
    notes, default = report["with_model"]["amem"], report["with_model"]["vikingmem"]
    for each in (notes, default):
        assert (each["overall"]["f1"], each["overall"]["bleu_1"], each["query"]["model_calls"]) == (1.0, 1.0, 2.0)
    calls = sum(each["ingestion"]["model_calls"] + each["query"]["model_calls"] for each in (notes, default))
    assert len(requests) == calls - 1, "both methods gave the same answer, which was simplified once"
    assert report["estimate"]["calls"] == pytest.approx(calls, rel=0.5)
    assert notes["ingestion"]["model_calls"] == 4, "one decision for each message, and no extraction"
    assert default["ingestion"]["model_calls"] >= 3, "one extraction for each session"
    assert "| F1 | BLEU-1 |" in report["markdown"]


def test_replies_are_kept_when_a_run_breaks(tmp_path: Path) -> None:
    data = tmp_path / "longmemeval.json"
    data.write_bytes(orjson.dumps([{**entry("q1"), "answer": "Minka"}]))
    first, asked = answered(tmp_path, data, answering, "--yes")
    figures = tmp_path / "kept.jsonl"
    # The run was killed before the figures with the model were written.
    figures.write_bytes(b"\n".join(figures.read_bytes().splitlines()[:-1]))
    again, requests = answered(tmp_path, data, lambda _: pytest.fail("what was paid for is not asked again"), "--yes")
    assert requests == []
    assert asked
    for name in ("amem", "vikingmem"):
        before, after = (each["with_model"][name] for each in (first, again))
        assert after["overall"] == before["overall"]
        assert after["ingestion"]["model_tokens"] == before["ingestion"]["model_tokens"] > 0


def test_figures_lack_no_answers_when_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "longmemeval.json"
    data.write_bytes(orjson.dumps([{**entry("q1"), "answer": "Minka"}]))

    def refuses_questions(request: ChatRequest, _: int) -> Plan:
        return Plan(status=400 if request.messages[-1][1].endswith("Answer:") else 200)

    first, _ = answered(tmp_path, data, answering, "--yes", planner=refuses_questions)
    assert {each["query"]["unanswered"] for each in first["with_model"].values()} == {1}
    assert "amem: the model did not answer 1 questions; run again to ask them" in capsys.readouterr().err
    again, requests = answered(tmp_path, data, answering, "--yes")
    assert {(each["query"]["unanswered"], each["overall"]["f1"]) for each in again["with_model"].values()} == {(0, 1.0)}
    assert all(each.messages[-1][1].endswith(("Answer:", "Simplified answer:")) for each in requests), "ingestion is not asked again"


def test_only_the_first_sessions_are_measured(tmp_path: Path) -> None:
    folder = tmp_path / "realmem"
    folder.mkdir()
    written(folder, dialogues())
    with pytest.raises(DataSetError, match="first 2 sessions: give --sessions a higher number"):
        compared(tmp_path, "memgpt", folder, "--sessions", "2")
    report = compared(tmp_path, "memgpt", folder, "--sessions", "3")
    assert (report["questions"], report["sessions"], report["methods"]["memgpt"]["turns"]) == (2, 3, 8)
    assert "(first 3 sessions)" in report["markdown"]
    with pytest.raises(DataSetError, match="cannot be combined with --sessions"):
        compared(tmp_path, "memgpt", folder, "--sessions", "3", "--variants", "scale")


def test_variants_are_measured_and_plotted(tmp_path: Path) -> None:
    data = tmp_path / "longmemeval.json"
    data.write_bytes(orjson.dumps([entry("q1")]))
    report = compared(tmp_path, "memgpt", data, "--variants", "all")
    assert [each["name"] for each in report["variants"]] == ["50 %", "early", "middle", "late"]
    assert set(report["variants_left_out"]) == {"150 %", "200 %"}, "the file has no other question with sessions"
    assert {each["memgpt"]["overall"]["recall_at_10"] for each in report["by_variant"].values()} == {1.0}
    for name in ("quality", "history", "scale", "place"):
        svg = ElementTree.parse(tmp_path / "report" / f"compare-{name}.svg").getroot()
        assert len(svg.findall(".//{http://www.w3.org/2000/svg}circle")) >= 1
    assert "| method | recall@10 100 % | recall@10 50 % |" in report["markdown"]


def test_variants_need_sessions_with_evidence(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="LongMemEval's form, and this is LoCoMo"):
        compared(tmp_path, "memgpt", None, "--variants", "scale")
