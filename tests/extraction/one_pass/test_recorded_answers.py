"""Whole answers under the shipped schemas: a capable model stood in, and read nothing but the prompts. The users are invented."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extraction.drafts import Draft
from extraction.one_pass.answer.parsing import parse_answer
from extraction.one_pass.answer.validation import validate_answer
from extraction.one_pass.extraction_input import ExtractionInput
from memory.schema import scenario
from tests.extraction.windows import window_of

RECORDED = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((Path(__file__).parent / "recorded").glob("*.json"))}
PIECES = 12
"""Places at which each answer is cut off."""


def draft_of(name: str, reply: str) -> Draft:
    recorded = RECORDED[name]
    return validate_answer(parse_answer(reply), ExtractionInput(window_of(*recorded["messages"]), scenario(recorded["schema"])))


def memories(draft: Draft) -> list[Any]:
    """The memories of a draft, without the segments of events."""
    events = [(each.type, each.content, each.messages, each.event_time, each.date, each.properties) for each in draft.events]
    return [*events, *((each.entity_key, each.field, each.search, each.replace, each.messages) for each in draft.patches)]


def with_further_fields(answer: dict[str, Any]) -> dict[str, Any]:
    extra = {"id": "e1", "tenant": "other", "user": "mallory", "confidence": 0.9}
    return {"notes": "done", **answer, "events": [{**each, **extra} for each in answer["events"]]}


def twice(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: [*items, *items] for name, items in answer.items()}


def with_numbers_as_text(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "events": [{**each, "msgs": [str(number) for number in each["msgs"]]} for each in answer["events"]]}


@pytest.mark.parametrize("name", RECORDED)
def test_a_capable_models_answer_is_kept_whole(name: str) -> None:
    answer = RECORDED[name]["answer"]
    draft = draft_of(name, json.dumps(answer))

    assert draft.tally.as_dropped() == []
    assert (len(draft.segments), len(draft.events), len(draft.patches)) == tuple(map(len, answer.values()))


@pytest.mark.parametrize("mangled", [with_further_fields, twice, with_numbers_as_text])
@pytest.mark.parametrize("name", RECORDED)
def test_a_mangled_answer_gives_the_same_memories(name: str, mangled: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    answer = RECORDED[name]["answer"]

    assert memories(draft_of(name, json.dumps(mangled(answer)))) == memories(draft_of(name, json.dumps(answer)))


@pytest.mark.parametrize("name", RECORDED)
def test_invented_evidence_and_keys_store_nothing(name: str) -> None:
    answer = RECORDED[name]["answer"]
    events = [{**each, "msgs": [99]} for each in answer["events"]]
    patches = [{**each, "key": ["mallory", *each.get("key", [])], "msgs": [0]} for each in answer["patches"]]

    draft = draft_of(name, json.dumps({"segments": [], "events": events, "patches": patches}))

    assert memories(draft) == []


@pytest.mark.parametrize("name", RECORDED)
def test_a_cut_answer_gives_only_whole_memories(name: str) -> None:
    text = json.dumps(RECORDED[name]["answer"])
    whole = memories(draft_of(name, text))
    for piece in range(1, PIECES):
        assert all(each in whole for each in memories(draft_of(name, text[: len(text) * piece // PIECES])))
