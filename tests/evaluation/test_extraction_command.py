"""``python -m evaluation extraction`` on made-up conversations in LoCoMo's form: a model's endpoint, the real embedder, the real store."""

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation.cached_llm import KeptReplies
from evaluation.errors import DataSetError
from evaluation.extraction import command
from evaluation.extraction.parts import answer_tokens
from loadtest.llm_simulator import LLMSimulator
from loadtest.requests import ChatRequest
from tests.evaluation.conversations import conversation

CAT = {
    "type": "life_event",
    "msgs": [0],
    "date": "2023-05-07",
    "content": "Ann adopted a grey cat called Minka.",
    "what": "adopted a cat",
    "people": [],
    "place": "",
    "keywords": ["pet"],
    "weight": 6,
}
COURSE = {
    "type": "plan",
    "msgs": [1],
    "date": "2023-08",
    "content": "Ben takes a sailing course in Kiel in August 2023.",
    "what": "sailing course",
    "when": "2023-08",
    "person": "Ben",
    "own": False,
    "keywords": ["sailing"],
    "weight": 5,
}
FRIEND = {"type": "user_profile", "field": "relationships", "msgs": [3], "search": "", "replace": "Ben: friend"}


def answering(request: ChatRequest) -> str:
    """Finds the two events, and the friend where the profile does not have him yet."""
    shown = request.messages[-1][1]
    patches = [] if "Ben: friend" in shown else [FRIEND]
    return json.dumps({"segments": [{"topic": "pets", "ranges": [[0, 0]]}], "events": [CAT, COURSE], "patches": patches})


def two_sessions(user: str) -> dict[str, Any]:
    """A conversation whose second session says the first one again."""
    said = conversation(user)
    said["conversation"]["session_2_date_time"] = "1:56 pm on 9 May, 2023"
    said["conversation"]["session_2"] = [
        {**turn, "dia_id": turn["dia_id"].replace("D1", "D2")} for turn in said["conversation"]["session_1"]
    ]
    return said


def measured(folder: Path, simulator: LLMSimulator, *samples: dict[str, Any]) -> dict[str, Any]:
    data = folder / "data.json"
    data.write_bytes(orjson.dumps(samples))
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = parser.parse_args(["--endpoint", simulator.base_url, "--model", "simulated", "--replies", str(folder / "replies.jsonl")])
    return command.run(argparse.Namespace(**vars(options), data=data))


@pytest.mark.integration
async def test_each_part_is_measured_once_paid_for(tmp_path: Path) -> None:
    async with LLMSimulator(answer=answering) as simulator:
        first = await asyncio.to_thread(measured, tmp_path, simulator, two_sessions("one"))
        again = await asyncio.to_thread(measured, tmp_path, simulator, two_sessions("one"))
        prompts = [each.messages[-1][1] for each in simulator.requests]
    assert len(prompts) == first["calls"] == 2
    assert again == {**first, "calls": 0}
    assert "Ben: friend" not in prompts[0]
    assert "Ben: friend" in prompts[1]
    assert (first["windows"], first["unusable"], first["stored"]["events"]) == (2, 0, 4)
    assert first["stored"]["types"]["plan"]["events"] == 2
    recall = {name: profiles["weighted"]["recall_at_10"] for name, profiles in first["recall"].items()}
    assert recall["all"] == recall["without_keywords"] == recall["without_entities"] == recall["offline"] == 1.0
    assert recall["without_plan"] == recall["without_life_event"] == 0.5


@pytest.mark.integration
async def test_an_unusable_window_affects_only_itself(tmp_path: Path) -> None:
    def garbled(request: ChatRequest) -> str:
        return (
            answering(request) if "9 May" in request.messages[-1][1] or "2023-05-09" in request.messages[-1][1] else "I would rather not."
        )

    async with LLMSimulator(answer=garbled) as simulator:
        report = await asyncio.to_thread(measured, tmp_path, simulator, two_sessions("one"))
    assert (report["windows"], report["unusable"], report["stored"]["events"]) == (2, 1, 2)


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data.json"
    data.write_text("no")
    with pytest.raises(DataSetError, match="is not JSON"):
        command.run(argparse.Namespace(data=data, conversations=None))


def test_every_part_of_an_answer_is_counted() -> None:
    answer = json.dumps({"segments": [{"topic": "pets", "ranges": [[0, 0]]}], "events": [CAT], "patches": [FRIEND]})
    tokens = answer_tokens([answer, answer])
    assert set(tokens) == {"segments", "patches", "type", "msgs", "date", "content", "keywords", "weight", "props"}
    assert tokens == {name: 2 * count for name, count in answer_tokens([answer]).items()}
    assert answer_tokens([json.dumps({"events": [CAT | {"keywords": []}]})])["keywords"] < answer_tokens([answer])["keywords"]


def test_a_cached_answer_keeps_its_cut_mark(tmp_path: Path) -> None:
    replies = tmp_path / "old.jsonl"
    replies.write_text('{"key": "k", "text": "a", "prompt_tokens": 1, "completion_tokens": 1, "cost": 0.0}\n')
    reply = KeptReplies(replies).get("k")
    assert reply is not None
    assert reply.finish_reason == "stop"
