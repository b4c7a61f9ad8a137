"""Patches of one answer against each other, and against the entities in the prompt."""

import json
from typing import Any

import pytest

from extraction.one_pass.answer.parsing import parse_answer
from extraction.one_pass.answer.patches import repaired_patches
from extraction.one_pass.answer.validation import validate_answer
from extraction.one_pass.extraction_input import ExtractionInput
from memory.keys import entity_key
from memory.records import Memory
from memory.schema import MemorySchema
from tests.extraction.windows import BEGIN, window_of


def repaired(schema: MemorySchema, *patches: dict[str, Any], home: str | None = None) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """The searches and replacements of patches, and what is left out; ``home`` is that of Alice so far."""
    window = window_of("I moved to Oslo from Bergen.")
    items = [{"type": "profile", "field": "home", "msgs": [0], **each} for each in patches]
    draft = validate_answer(parse_answer(json.dumps({"events": [], "patches": items})), ExtractionInput(window, schema))
    shown = Memory(
        id="3b1e4a52-0000-5000-8000-000000000002",
        tenant="acme",
        user="alice",
        kind="entity",
        type="profile",
        content="profile of Alice",
        properties={"home": home} if home else {},
        entity_key=entity_key("alice"),
        event_time=BEGIN,
        extractor="test",
    )
    kept = repaired_patches(draft.patches, schema, [shown], draft.tally)
    return [(each.search, each.replace) for each in kept], {each.reason: each.count for each in draft.tally.as_dropped()}


@pytest.mark.parametrize("names", [("search", "replace"), ("old", "new"), ("old_text", "new_text"), ("find", "replace_with")])
def test_a_search_in_an_empty_field_adds(schema: MemorySchema, names: tuple[str, str]) -> None:
    patch = {names[0]: "Bergen", names[1]: "Oslo"}
    assert repaired(schema, patch)[0] == [("", "Oslo")]
    assert repaired(schema, patch, home="Bergen")[0] == [("Bergen", "Oslo")]


def test_a_search_in_a_text_stays(schema: MemorySchema) -> None:
    patch = {"search": "Bergen", "replace": "Oslo"}
    assert repaired(schema, {"replace": "Bergen"}, patch)[0] == [("", "Bergen"), ("Bergen", "Oslo")], "the answer added it"
    assert repaired(schema, {"search": "Bergen", "replace": ""})[0] == [("Bergen", "")], "nothing to add"
    keyed = {**patch, "type": "progress", "key": ["algebra"], "field": "gaps"}
    assert repaired(schema, keyed)[0] == [("Bergen", "Oslo")], "the prompt shows only the nearest of them"


def test_a_line_that_says_less_is_left_out(schema: MemorySchema) -> None:
    long, short = {"replace": "Oslo, near the harbour"}, {"replace": "Oslo"}
    for patches in ((long, short), (short, long)):
        assert repaired(schema, *patches) == ([("", "Oslo, near the harbour")], {"repeated": 1})


@pytest.mark.parametrize("other", ["not Oslo", "Oslo in winter, Bergen", "2 houses in Oslo"])
def test_a_line_that_says_something_else_stays(schema: MemorySchema, other: str) -> None:
    patches = {"replace": other}, {"replace": "Bergen in summer, Oslo" if "winter" in other else "Oslo"}
    assert len(repaired(schema, *patches)[0]) == 2
