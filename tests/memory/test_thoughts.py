"""Thoughts are separated from the answer after them, however a model or its server marks them."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.lenient_json import read_json, strip_reasoning

DRAFT = 'Maybe {"text": "Bergen"}? No, she said "Oslo".'
ANSWER = '{"text": "Oslo"}'
MARKS = ["<think>", "</think>", "[THINK]", "[/THINK]", "</seed:think>", "<|channel|>analysis", "final<|message|>", "<channel|>"]
PIECES = st.sampled_from([*MARKS, '"', "\\", "{", "[", "}", "\n", "```", "'", ": ", "{}"]) | st.text(max_size=6)
TEXTS = st.lists(PIECES, max_size=8).map("".join)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12)
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(TEXTS, VALUES, max_size=4)


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{DRAFT}</think>{ANSWER}",
        f"{DRAFT}\n</think>\n\n{ANSWER}",
        f"It's a {{'text': that she wrote.\n</think>\n{ANSWER}",
        f'Is it 5" or 6"? "Neither.</think>{ANSWER}',
        f"<THINKING>{DRAFT}</THINKING>{ANSWER}",
        f"<reasoning>{DRAFT}</reasoning>{ANSWER}",
        f"<seed:think>{DRAFT}</seed:think>{ANSWER}",
        f"[THINK]{DRAFT}[/THINK]{ANSWER}",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>{ANSWER}",
        f"<|channel>thought\n{DRAFT}<channel|>{ANSWER}",
        f"<|START_THINKING|>{DRAFT}<|END_THINKING|>{ANSWER}",
        f"◁think▷{DRAFT}◁/think▷{ANSWER}",
        f"<|begin_of_thought|>{DRAFT}<|end_of_thought|>{ANSWER}",
        f"<unused94>thought {DRAFT}<unused95>{ANSWER}",
        f"<inner_monologue>{DRAFT}</inner_monologue>{ANSWER}",
        f"<think>{DRAFT}</think>Wait.<think>{DRAFT}</think>{ANSWER}",
        f"<think>The tag </think> ends it. {DRAFT}</think>{ANSWER}",
        ANSWER,
    ],
)
def test_the_answer_starts_after_the_last_reasoning(text: str) -> None:
    assert strip_reasoning(text).strip() == ANSWER


@pytest.mark.parametrize(
    "text",
    [f"<think>\n{DRAFT}", f"[THINK]{DRAFT}", f"<|channel|>analysis<|message|>{DRAFT}", f"{DRAFT}\n</think>\n<think>{ANSWER} no", ""],
)
def test_a_thought_without_an_end_leaves_nothing(text: str) -> None:
    assert strip_reasoning(text).strip() == ""


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_that_the_answer_quotes_is_none(mark: str) -> None:
    answer = f'{{"text": "Ann asked what \\"{mark}\\" and {mark} {{x}} mean", "n": [1, 2],}}'
    assert strip_reasoning(f"<think>{DRAFT}</think>\n{answer}").strip() == answer
    assert strip_reasoning(f"Here you are:\n```json\n{answer}\n```").count(mark) == 2


@given(CONTAINERS, st.sampled_from([None, 2]), st.booleans())
def test_plain_json_has_no_thoughts(value: Any, indent: int | None, escaped: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    assert strip_reasoning(text) == text


@example(thought="\\", value=[], indent=None)
@given(thought=TEXTS, value=CONTAINERS, indent=st.sampled_from([None, 2]))
def test_json_after_any_reasoning_is_read_exactly(thought: str, value: Any, indent: int | None) -> None:
    answer = json.dumps(value, indent=indent)
    assert read_json(f"{thought}\n</think>\n{answer}") == [value]
    assert read_json(f"<think>{thought}</think>{answer}") == [value] or any(mark in thought for mark in MARKS)


@given(TEXTS)
def test_the_answer_contains_no_reasoning(text: str) -> None:
    left = strip_reasoning(text)
    assert left in text
    assert strip_reasoning(left) == left


@pytest.mark.parametrize("unit", ["<think>", "</think>", "final ", "final", "<|channel|> ", '"', "\\", "</think>{", "</think> ", "```"])
@pytest.mark.timeout(20)
def test_long_garbage_is_scanned_once(unit: str) -> None:
    strip_reasoning(unit * 100_000)
    strip_reasoning("final" + " " * 100_000 + "</think>" + " {[" * 50_000)
