"""A recall that an agent called as a tool comes back in the call's result: it is an echo there as it is in a text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.echo_filter import is_echo, without_echoes_in_result
from extraction.offline.extractor import OfflineExtractor
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.prompt.build import build_prompt
from extraction.one_pass.prompt.limits import PromptLimits
from extraction.port import ExtractionContext
from memory.records import Message, ToolCall
from memory.schema import MemorySchema
from memory.texts.text import content_hash, estimate_tokens
from models.embedding.port import Embedder
from tests.extraction.windows import BEGIN, window_of

OSLO, TEA = "Ann moved to Oslo in May.", "Ann likes green tea."
HASHES = frozenset(map(content_hash, (OSLO, TEA)))
MEMORY = {"id": "m-1", "kind": "event", "content": OSLO, "properties": {"place": "the city of Oslo"}, "score": 0.9, "evidence": ["m1"]}
ANSWER = {
    "recall_id": "r-1",
    "results": [MEMORY, {**MEMORY, "content": TEA}],
    "entities": [],
    "session": {"messages": [{"message": {"text": "I moved to Oslo."}}]},
    "degraded": [],
    "ms": 3.5,
}


def called(result: Any, *, text: str = "", **fields: Any) -> Message:
    call = ToolCall(name="recall", arguments={"query": "Where does Ann live?"}, result=result, **fields)
    return Message(tenant="acme", user="ann", session="s", text=text, role="tool", tool_call=call, event_time=BEGIN)


def rest_of(message: Message) -> Any:
    call = without_echoes_in_result(message, HASHES).tool_call
    assert call is not None
    return call.result


ECHOES = [
    OSLO,
    f"- {OSLO}",
    f"1. {OSLO}\n2. {TEA}",
    [OSLO, TEA],
    {"memories": [{"text": TEA, "score": 0.4, "time": "2024-05-06T12:00:00Z"}]},
    ANSWER,
    json.dumps(ANSWER),
    json.dumps(ANSWER, indent=2),
    {"content": [{"type": "text", "text": json.dumps(ANSWER)}], "isError": False},
    {"structured": {"answer": {"deep": [[{"memory": OSLO}]]}}},
]


@pytest.mark.parametrize("result", ECHOES)
def test_a_result_of_nothing_but_memories_is_an_echo(result: Any) -> None:
    assert is_echo(called(result, success=True, duration_ms=4), HASHES)
    assert is_echo(called(result, text=OSLO), HASHES)
    assert rest_of(called(result)) is None
    assert not is_echo(called(result), frozenset())


@pytest.mark.parametrize(
    ("result", "rest"),
    [
        ({"memory": OSLO, "weather": "rain"}, {"weather": "rain"}),
        ({"note": TEA, "degrees": 21}, {"degrees": 21}),
        ([OSLO, "It rains in Oslo."], ["It rains in Oslo."]),
        (json.dumps({"memory": OSLO, "weather": "rain"}), '{"weather":"rain"}'),
        (f"- {OSLO}\n- It rains.", "- It rains."),
        ({"calls": [{"answer": ANSWER}, {"answer": "sold out"}]}, {"calls": [{"answer": "sold out"}]}),
    ],
)
def test_text_next_to_recalled_memories_is_kept(result: Any, rest: Any) -> None:
    assert rest_of(called(result)) == rest
    assert not is_echo(called(result), HASHES)


@pytest.mark.parametrize("result", [None, "", "ok", [], {"ok": True, "weather": "rain"}, '{"a": [1, 2.50]}', "{no json", 7])
def test_a_result_without_memories_is_unchanged(result: Any) -> None:
    message = called(result)

    assert without_echoes_in_result(message, HASHES) is message
    assert not is_echo(message, HASHES)


def test_an_echo_with_news_is_not_entirely_an_echo() -> None:
    assert not is_echo(called("It rains in Oslo.", text=OSLO), HASHES)
    assert not is_echo(called(ANSWER, text="Ann has moved again, to Rome."), HASHES)
    assert not is_echo(called(ANSWER, error="time-out"), HASHES)


def test_deep_and_long_results_are_looked_into_within_bounds() -> None:
    deep: Any = OSLO
    for _ in range(100):
        deep = [deep]
    long = ["It rains."] * 20_000 + [OSLO]

    assert rest_of(called(deep)) == deep
    assert rest_of(called(long)) == long
    assert rest_of(called(long[-100:])) == long[-100:-1]


@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False) | st.text() | st.sampled_from([OSLO, json.dumps(ANSWER)]),
                    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)))  # fmt: skip
def test_no_result_keeps_a_memory(result: Any) -> None:
    rest = json.dumps(rest_of(called(result)))

    assert OSLO not in rest
    assert is_echo(called(result), HASHES) <= (rest != json.dumps(result))


def test_the_prompt_shortens_echoes_and_leaves_them_unnumbered(schema: MemorySchema, limits: PromptLimits) -> None:
    news = {"memory": OSLO, "weather": "rain"}
    calls = [{"text": "", "role": "tool", "tool_call": {"name": "recall", "result": result}} for result in ([*[OSLO] * 200], news)]
    window = window_of(*calls)
    context = ExtractionContext(recalled_hashes=HASHES)
    lines = build_prompt(ExtractionInput(window, schema, HASHES), context, limits).body.splitlines()

    (echo,) = (line for line in lines if line.startswith("[recalled] "))
    assert estimate_tokens(echo) < 80
    assert '[1] tool: (tool call recall(), result: {"weather":"rain"})' in lines


async def test_the_offline_extractor_drops_echoes(embedder: Embedder, schema: MemorySchema) -> None:
    calls = [
        {"text": "", "role": "tool", "tool_call": {"name": "recall", "result": result}} for result in (ANSWER, [OSLO, "It rains in Oslo."])
    ]
    extraction = await OfflineExtractor(embedder=embedder).extract(window_of(*calls), schema, ExtractionContext(recalled_hashes=HASHES))

    assert [event.message_ids for event in extraction.events] == [["m1"]]
    assert "It rains in Oslo." in extraction.events[0].content
    assert not any(OSLO in event.to_json().decode() for event in extraction.events)
    assert [(each.what, each.reason) for each in extraction.dropped] == [("message", "recalled")]
