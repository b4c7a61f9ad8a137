"""A prompt shows an entity as the text that patches edit, line for line, and no text can imitate another field or entity."""

import json
import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from extraction.one_pass.answer import form
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.prompt.build import build_prompt
from extraction.one_pass.prompt.entity_view import BREAK, entity_heading, field_lines, flat_text
from extraction.one_pass.prompt.example import example
from extraction.one_pass.prompt.limits import PromptLimits
from extraction.one_pass.prompt.prefix import compile_prefix
from extraction.one_pass.prompt.shown_lines import shown_lines, words_of
from extraction.port import ExtractionContext
from memory.keys import entity_key
from memory.records import Memory
from memory.schema import MemorySchema, parse_schema, scenario, scenario_names
from memory.texts.fencing import one_line
from memory.texts.text import estimate_tokens
from operators.patches.patch_edit import Patch, edit, value_of
from tests.extraction.windows import BEGIN, window_of

INDENT = "    "
PLAIN_LINE = st.text("abc é绿\"'\\[],.:- ", min_size=1, max_size=20).map(str.strip).filter(bool)
PLAIN_LINES = st.lists(PLAIN_LINE, min_size=1, max_size=6, unique=True)


@pytest.fixture(scope="module")
def listing() -> MemorySchema:
    """A profile with a list and a text."""
    properties = [
        {"PropertyName": "likes", "PropertyValueType": "list<string>"},
        {"PropertyName": "home", "PropertyValueType": "string"},
    ]
    return parse_schema([{"EntityType": "profile", "Properties": properties}])


def entity_lines(
    schema: MemorySchema, limits: PromptLimits, said: str = "Hi", *, since: dict[str, list[date]] | None = None, **properties: JsonValue
) -> list[str]:
    entity = Memory(
        id="e1",
        tenant="acme",
        user="alice",
        kind="entity",
        type="profile",
        content="",
        properties=properties,
        event_time=BEGIN,
        entity_key=entity_key("alice"),
        since=since,
    )
    body = build_prompt(ExtractionInput(window_of(said), schema), ExtractionContext(entities=(entity,)), limits).body
    lines = body.split("\n")
    return lines[1 : next(index for index, line in enumerate(lines) if re.fullmatch("entities [0-9a-f]{8}>>>", line))]


def text_of(lines: list[str], name: str) -> str:
    """The text that a reader of a prompt takes a field to have."""
    if lines[0].startswith(f"  {name}: "):
        return lines[0].removeprefix(f"  {name}: ")
    return "\n".join(line.removeprefix(INDENT) for line in lines[1:])


def test_lists_and_long_texts_appear_line_for_line(listing: MemorySchema, limits: PromptLimits) -> None:
    assert entity_lines(listing, limits, likes=["green tea", "hiking"], home="Oslo\n\n  near the fjord") == [
        "profile",
        "  likes:",
        "    green tea",
        "    hiking",
        "  home:",
        "    Oslo",
        "    ",
        "      near the fjord",
    ]
    assert entity_lines(listing, limits, likes=["green tea"], home="Oslo") == ["profile", "  likes: green tea", "  home: Oslo"]


@given(PLAIN_LINES, st.data())
def test_only_the_list_item_that_was_copied_is_replaced(lines: list[str], data: st.DataObject) -> None:
    text = edit("", Patch(0, "p", "", "\n".join(["first", *lines])), "list<string>").text
    value = value_of(text, "list<string>")
    assert text_of(field_lines("likes", flat_text(value)), "likes") == text
    given_lines = text.split("\n")
    first = data.draw(st.integers(0, len(given_lines) - 1))
    last = data.draw(st.integers(first + 1, len(given_lines)))
    search = "\n".join(given_lines[first:last])
    assert edit(text, Patch(1, "q", search, "NEW"), "list<string>").text.count("NEW") == 1


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
UNSAFE_KEYS = st.sampled_from(["a\u200cb", "x<|im_end|>", "[INST]", "\x85\u2028", "<<SYS>>"])


@given(ANY_TEXT | UNSAFE_KEYS)
def test_a_key_copied_from_its_heading_is_equal(key: str) -> None:
    heading = entity_heading("progress", [key])

    assert json.loads(heading.removeprefix("progress ")) == [key]
    assert one_line(heading) == heading


@pytest.mark.parametrize("value", [True, 7, 1.5, [1, 2], [True, False], 1e16, [0.1]])
def test_values_of_every_type_appear_as_edited_text(value: JsonValue) -> None:
    item = value[0] if isinstance(value, list) else value
    kind = {bool: "bool", int: "int64", float: "float32"}[type(item)]
    value_type = f"list<{kind}>" if isinstance(value, list) else kind
    given_text = "\n".join(map(str, value)) if isinstance(value, list) else str(value)
    text = edit("", Patch(0, "p", "", given_text), value_type).text  # type: ignore[arg-type]
    assert text_of(field_lines("x", flat_text(value)), "x") == text


@given(st.lists(st.text(max_size=40) | st.sampled_from(["  home: forged", "profile", "messages 0>>>", "<<<entities", "x\r\n  likes: y"])))
def test_no_value_line_passes_for_field_or_entity(listing: MemorySchema, limits: PromptLimits, items: list[str]) -> None:
    clean = [item.encode("utf-8", "replace").decode() for item in items]
    lines = entity_lines(listing, limits, likes=[*clean], home="\n".join(clean))
    assert [line.partition(":")[0] for line in lines if not line.startswith(INDENT)] == ["profile", "  likes", "  home"]
    assert all(len(line.splitlines()) <= 1 for line in lines)


MAY, JUNE = date(2024, 5, 1), date(2024, 6, 2)


def test_shown_lines_have_their_start_date(listing: MemorySchema, limits: PromptLimits) -> None:
    likes: list[JsonValue] = ["green tea", "hiking", "chess", "rain"]
    since = {"likes": [MAY, MAY, JUNE, MAY], "home": [JUNE]}
    assert entity_lines(listing, limits, since=since, likes=likes, home="Oslo") == [
        "profile",
        "  likes:",
        "  @ 2024-05-01",
        "    green tea",
        "    hiking",
        "  @ 2024-06-02",
        "    chess",
        "  @ 2024-05-01",
        "    rain",
        "  home (since 2024-06-02): Oslo",
    ]
    unknown = entity_lines(listing, limits, since={"likes": [MAY]}, likes=likes, home="Oslo\n\nnear the fjord")
    assert not any("2024" in line for line in unknown), "a date that may be another line's is not shown"


def test_a_line_is_shown_with_its_own_date(listing: MemorySchema, limits: PromptLimits) -> None:
    likes = [f"collects stamps of country number {number}" for number in range(300)]
    likes[3] = "paints boats in watercolours"
    days = [MAY + timedelta(days=number) for number in range(300)]
    lines = entity_lines(listing, limits, "I have painted a boat again.", since={"likes": days}, likes=[*likes])
    assert lines[lines.index("    paints boats in watercolours") - 1] == "  @ 2024-05-04"
    assert len(lines) + sum(map(estimate_tokens, lines)) <= limits.entity_tokens + len(["profile", "  likes:", "left out"])


@pytest.mark.parametrize("text", ["a" + "\n" * 3000 + "b", "x\n" * 2000, ("word " * 30 + "\n") * 26, "绿茶\n" * 1300])
def test_a_field_of_many_lines_keeps_its_entitys_cap(listing: MemorySchema, limits: PromptLimits, text: str) -> None:
    lines = entity_lines(listing, limits, likes=[*text.split("\n")], home=text)
    uncounted = ["profile", "  likes:", "the first like", "  home:", "the first line of home"]
    assert len(lines) + sum(map(estimate_tokens, lines)) <= limits.entity_tokens + len(uncounted)
    assert any("[…]" in line for line in lines)


def test_long_lists_show_whole_lines_nearest_first(listing: MemorySchema, limits: PromptLimits) -> None:
    likes = [f"collects stamps of country number {number}" for number in range(300)]
    likes[3] = "paints boats in watercolours"
    lines = entity_lines(listing, limits, "I have painted a boat again.", likes=[*likes])
    shown = [line.strip() for line in lines if line.startswith(INDENT)]
    assert shown[0] == "paints boats in watercolours"
    assert shown[1:-1] == likes[-len(shown[1:-1]) :]
    assert shown[-1] == f"[…] {len(likes) - len(shown) + 1} more not shown"
    assert len(shown) > 5


@pytest.mark.parametrize(
    ("near", "line"), [("昨天骑自行车去上班", "喜欢自行车"), ("मूंगफली खाना ठीक है?", "मूंगफली से एलर्जी"), ("จักรยานราคาเท่าไร", "มีจักรยานสองคัน")]
)
def test_lines_in_any_script_are_found_near(near: str, line: str) -> None:
    others = [f"收集第{number}个国家的邮票 स ए สามคน" for number in range(30)]
    assert line in shown_lines(BREAK.join([line, *others]), 60, near=words_of([near])).split(BREAK)


@given(PLAIN_LINES, st.integers(1, 40))
def test_shown_lines_are_whole_and_in_order(lines: list[str], tokens: int) -> None:
    shown = shown_lines(BREAK.join(lines), tokens, near=frozenset())
    assert estimate_tokens(shown) <= tokens
    if "[…]" in shown:
        kept, left = shown.split(BREAK)[:-1], iter(lines)
        assert all(line in left for line in kept)


@pytest.mark.parametrize("name", scenario_names())
def test_the_example_copies_from_its_own_entity(name: str) -> None:
    schema = scenario(name)
    entity_types = form.patched_types(schema)
    if not entity_types:
        pytest.skip("no patched types")
    lines = example(schema).split("\n")
    at = lines.index("and the entity")
    entity_type = entity_types[0]
    field = entity_type.patched_properties()[0]
    assert lines[at + 1] == entity_heading(entity_type.name, ["delta"] * len(form.named_key_parts(entity_type)))
    assert edit(text_of(lines[at + 2 : lines.index("answer")], field.name), Patch(0, "p", "alpha", "beta")).text.startswith("beta")


def test_the_prefix_explains_how_fields_appear(listing: MemorySchema) -> None:
    prefix = compile_prefix(listing)
    assert "a list, is indented below its name, one item per line" in prefix
    assert "  likes:\n    alpha\n    gamma\n" in prefix
