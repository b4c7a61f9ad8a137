"""The memory tools: which calls are read, what they do to a block, and what a model reads after a mistake."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.agent.tools import MAX_CALLS, MAX_PAGES, TOOLS, Call, CallError, edited, read_calls

LIMIT = 200
BLOCK = "Lives in Oslo.\nHas a cat."

texts = st.text(st.characters(codec="utf-8"), max_size=40)
some_calls = st.one_of(
    st.builds(lambda text: Call(tool="append", arguments={"text": text}), texts),
    st.builds(lambda old, text: Call(tool="replace", arguments={"old": old, "text": text}), texts, texts),
    st.builds(lambda line, text: Call(tool="insert", arguments={"line": line, "text": text}), st.integers(-2, 6), texts),
    st.just(Call(tool="read")),
    st.just(Call(tool="finish")),
)


def call(tool: str, **arguments: object) -> Call:
    return Call(tool=tool, arguments=arguments)


@pytest.mark.parametrize(
    ("made", "after"),
    [
        (call("append", text="Likes tea.\n\n"), "Lives in Oslo.\nHas a cat.\nLikes tea."),
        (call("replace", old="Oslo", text="Bergen"), "Lives in Bergen.\nHas a cat."),
        (call("replace", old="Lives in Oslo.", text=""), "Has a cat."),
        (call("insert", line=1, text="Is Ann."), "Is Ann.\nLives in Oslo.\nHas a cat."),
        (call("insert", line=3, text="Is Ann."), "Lives in Oslo.\nHas a cat.\nIs Ann."),
        (call("read"), BLOCK),
        (call("finish"), BLOCK),
    ],
    ids=str,
)
def test_a_call_edits_the_block(made: Call, after: str) -> None:
    assert edited(BLOCK, made, limit=LIMIT)[0] == after


def test_reading_shows_numbered_lines() -> None:
    assert edited(BLOCK, call("read"), limit=LIMIT)[1] == "1: Lives in Oslo.\n2: Has a cat."
    assert edited("", call("read"), limit=LIMIT)[1] == "the block is empty"


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (call("append", text=" "), "must not be empty"),
        (call("append", text="x" * LIMIT), f"limit is {LIMIT}"),
        (call("replace", old="Rome", text="Bergen"), "not in the block"),
        (call("replace", old="s", text="z"), "3 times"),
        (call("replace", old="", text="z"), "must not be empty"),
        (call("insert", line=4, text="z"), "must be 1 to 3"),
        (call("insert", line=0, text="z"), "must be 1 to 3"),
    ],
    ids=str,
)
def test_a_wrong_call_is_explained(made: Call, problem: str) -> None:
    with pytest.raises(CallError, match=problem):
        edited(BLOCK, made, limit=LIMIT)


@given(made=st.lists(some_calls, max_size=12), limit=st.integers(0, 80))
def test_no_block_exceeds_its_limit(made: list[Call], limit: int) -> None:
    block = ""
    for each in made:
        before = block
        try:
            block, _ = edited(block, each, limit=limit)
        except CallError:
            assert block == before
        assert len(block) <= limit


def test_calls_are_read_in_order() -> None:
    answer = (
        'Draft: {"calls": [{"tool": "finish"}]} Final: '
        + orjson.dumps(
            {"calls": [{"tool": "search", "query": "cat", "page": 1, "text": None}, {"tool": "insert", "line": 1, "text": "x"}]}
        ).decode()
    )
    assert [each.recorded() for each in read_calls(answer)] == [
        {"tool": "search", "query": "cat", "page": 1},
        {"tool": "insert", "line": 1, "text": "x"},
    ]
    assert read_calls('{"tool": "append", "text": "x"}') == [call("append", text="x")]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("I am done.", "no JSON object"),
        ("{}", "must be a list"),
        ('{"calls": []}', "must be a list"),
        ('{"calls": "finish"}', "must be a list"),
        ('{"calls": [{"tool": "append", "te', "cut off"),
        ('{"calls": [{"tool": "erase"}]}', "no tool 'erase'; the tools are read, append"),
        ('{"calls": [{"text": "x"}]}', "no tool 'None'"),
        ('{"calls": ["finish"]}', "no tool 'None'"),
        ('{"calls": [{"tool": "append"}]}', "`text` must be a text"),
        ('{"calls": [{"tool": "append", "text": 3}]}', "`text` must be a text"),
        ('{"calls": [{"tool": "insert", "line": true, "text": "x"}]}', "`line` must be a whole number"),
        ('{"calls": [{"tool": "insert", "line": "1", "text": "x"}]}', "`line` must be a whole number"),
        ('{"calls": [{"tool": "search", "query": " "}]}', "`query` must have 1 to"),
        ('{"calls": [{"tool": "search", "query": "x", "page": 4}]}', f"`page` must be 0 to {MAX_PAGES - 1}"),
    ],
)
def test_a_malformed_call_is_explained(answer: str, problem: str) -> None:
    [made] = read_calls(answer)
    assert problem in (made.error or "")


def test_too_many_calls_are_cut() -> None:
    made = read_calls(orjson.dumps({"calls": [{"tool": "read"}] * (MAX_CALLS + 2)}).decode())
    assert [each.error for each in made[:-1]] == [None] * MAX_CALLS
    assert made[-1].error == f"only the first {MAX_CALLS} of {MAX_CALLS + 2} calls were executed"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts | st.sampled_from(TOOLS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["calls", "tool", "text", "line", "query", "page", "old"]), inner, max_size=5)
    ),
)


@given(answer=texts | values.map(json.dumps))
def test_any_answer_gives_calls(answer: str) -> None:
    made = read_calls(answer)
    assert 1 <= len(made) <= MAX_CALLS + 1
    assert all(each.error or each.tool in TOOLS for each in made)
    assert orjson.dumps([each.recorded() for each in made])
