"""The benchmarks of tokens and storage, on a small conversation in LoCoMo's form."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation.__main__ import COMMANDS, main
from evaluation.locomo import read_locomo
from evaluation.tokens.history import tokens_by_history
from evaluation.tokens.pipelines import multi_pass, one_pass, one_pass_without_eua, per_message
from evaluation.tokens.schemas import PAPER, measured_schema
from evaluation.tokens.simulation import AnswerSimulator, SimulatedWindow
from evaluation.tokens.usage import TokenUsage
from extraction.one_pass.answer.parsing import parse_answer
from extraction.one_pass.answer.validation import validate_answer
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.prompt.prefix import compile_prefix
from memory.errors import VarveError
from memory.texts.text import estimate_tokens
from models.embedding.port import Embedder

TURNS = [
    ("Ann", "I moved to Oslo yesterday with my dog Rex."),
    ("Ben", "How is the new flat?"),
    ("Ann", "Small, but the park is close and Rex loves it."),
    ("Ben", "I started pottery classes on Monday."),
]
SAMPLE: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Ben",
        **{f"session_{number}_date_time": f"1:56 pm on {number} May, 2023" for number in (1, 2)},
        **{
            f"session_{number}": [
                {"speaker": speaker, "dia_id": f"D{number}:{index}", "text": text} for index, (speaker, text) in enumerate(TURNS, start=1)
            ]
            for number in (1, 2)
        },
    },
    "qa": [],
    "observation": {
        f"session_{number}_observation": {
            "Ann": [["Ann moved to Oslo with her dog Rex.", f"D{number}:1"], ["Rex loves the park.", [f"D{number}:3", "D9:9"]]],
            "Ben": [["Ben started pottery classes.", f"D{number}:4"]],
        }
        for number in (1, 2)
    },
    "event_summary": {f"events_session_{number}": {"Ann": ["Ann moves to Oslo."], "Ben": [], "date": "1 May, 2023"} for number in (1, 2)},
    "session_summary": {"session_1_summary": "Ann told Ben that she moved.", "session_2_summary": "They met again."},
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "locomo.json"
    path.write_bytes(orjson.dumps([SAMPLE]))
    return path


async def simulate(data: Path, schema_name: str, embedder: Embedder) -> list[SimulatedWindow]:
    simulator = AnswerSimulator(schema=measured_schema(schema_name), embedder=embedder)
    return [simulated async for simulated in simulator.simulate(read_locomo(data)[0])]


def test_a_conversation_is_read_as_annotated_windows(data: Path) -> None:
    first, second = read_locomo(data)[0]

    assert [message.id for message in first.window.messages] == ["D1:1", "D1:2", "D1:3", "D1:4"]
    assert [each.message_indexes for each in first.observations] == [(0,), (2,), (3,)]
    assert (first.significant_events, first.summary, second.summary) == (("Ann moves to Oslo.",), "", "Ann told Ben that she moved.")


@pytest.mark.parametrize("content", [b"{", b'{"conversation": {}}', b"[1]"])
def test_a_file_in_another_form_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)

    with pytest.raises(VarveError):
        read_locomo(path)


@pytest.mark.parametrize("name", ["companion", PAPER])
async def test_the_extractor_keeps_all_of_a_simulated_answer(data: Path, name: str, embedder: Embedder) -> None:
    schema = measured_schema(name)
    for simulated in await simulate(data, name, embedder):
        (call,) = one_pass(simulated, schema)
        draft = validate_answer(parse_answer(call.completion), ExtractionInput(simulated.annotated.window, schema))

        assert call.prefix == compile_prefix(schema)
        assert [event.content for event in draft.events] == [each.text for each in simulated.annotated.observations]
        assert len(draft.patches) == len(simulated.changes) > 0
        assert [each for each in draft.tally.as_dropped() if each.what in ("event", "patch", "property")] == []


async def test_each_way_of_extraction_makes_its_calls(data: Path, embedder: Embedder) -> None:
    schema = measured_schema("companion")
    simulated = (await simulate(data, "companion", embedder))[1]
    text_types = len(schema.event_types) + 1

    assert len(list(one_pass(simulated, schema))) == 1
    assert len(list(one_pass_without_eua(simulated, schema))) == 2, "one merge of the profile"
    assert len(list(multi_pass(simulated, schema))) == text_types + 1
    assert len(list(per_message(simulated, ["Ann has a dog."]))) == 4 + 3, "a fact call a message, an update call where there are facts"
    bodies = [call.body for call in multi_pass(simulated, schema)][:text_types]
    assert all(TURNS[0][1] in body for body in bodies)
    with_eua, without = next(one_pass(simulated, schema)), list(one_pass_without_eua(simulated, schema))
    assert "<<<entities" in with_eua.body
    assert "<<<entities" not in without[0].body
    assert "Ann moves to Oslo." in without[1].completion


async def test_a_windows_cost_does_not_grow_with_history(data: Path, embedder: Embedder) -> None:
    rows = await tokens_by_history(read_locomo(data)[0] * 4, measured_schema(PAPER), embedder, estimate_tokens)

    assert [row["growth"] for row in rows] == [1, 10, 100]
    assert rows[2]["entities"] > rows[0]["entities"]
    assert rows[2]["tokens"] <= rows[1]["tokens"] * 1.02
    assert rows[2]["eua_to_one_pass"] <= rows[0]["eua_to_one_pass"]


def test_usage_weighs_cached_prefixes_and_completions() -> None:
    total = TokenUsage()
    total.add(prefix=2000, body=100, completion=10)
    total.add(prefix=500, body=100, completion=0)

    assert (total.calls, total.prompt, total.tokens, total.cost) == (2, 2700, 2710, 1000 + 100 + 40 + 500 + 100)


@pytest.mark.integration
def test_the_command_line_reports_storage(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tmp_path / "reports" / "storage.json"
    monkeypatch.setattr(sys, "argv", ["evaluation", "storage", "--data", str(data), "--report", str(report)])
    main()
    figures = orjson.loads(report.read_bytes())

    assert figures["raw_turns"]["count"] == 8
    assert figures["raw_turns"]["text_bytes"] == 2 * sum(len(text) for _, text in TURNS)
    assert figures["events"]["count"] > 0
    assert figures["raw_turns"]["dense_bytes"] == 8 * (384 + 4)
    assert figures["on_disk"]["memories"] == figures["events"]["count"]
    assert figures["on_disk"]["bytes"] > figures["events"]["dense_bytes"] + figures["events"]["late_bytes"]
    assert figures["on_disk"]["bytes_per_user_year"] > figures["on_disk"]["bytes"]
    assert figures["event_tokens_to_raw"] == pytest.approx(figures["events"]["tokens"] / figures["raw_turns"]["tokens"], abs=1e-4)


@pytest.mark.parametrize("name", ["tokens", "storage"])
def test_every_command_has_its_own_arguments(name: str) -> None:
    module = __import__(COMMANDS[name].module, fromlist=["add_arguments"])
    parser = ArgumentParser()
    module.add_arguments(parser)

    assert isinstance(parser.parse_args([]), Namespace)
    assert parser.parse_args([]).schema == "companion"
