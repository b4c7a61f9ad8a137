"""No token that a chat template is made of survives in what is shown to a model."""

import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.fencing import one_line, one_line_json

TOKENS = [
    "<|im_start|>",
    "<|eot_id|>",
    "<｜User｜>",
    "<｜Assistant｜>",
    "<｜end▁of▁sentence｜>",
    "<｜hy_begin▁of▁sentence｜>",
    "<end_of_turn>",
    "<turn|>",
    "<channel|>",
    "<think>",
    "</think>",
    "</thinking>",
    "<seed:think>",
    "<seed:eos>",
    "<tool_call>",
    "</tool_response>",
    "</s>",
    "<<SYS>>",
    "[INST]",
    "[/INST]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CALLS]",
    "[AVAILABLE_TOOLS]",
    "[/TOOL_RESULTS]",
    "[THINK]",
    "[/THINK]",
    "[gMASK]",
]
HARMLESS = ["a < b", "x<y>z", "<3", "[0]", "[1, 2]", "[x] done", "<b>bold</b>", "a|b", "[thinking]", "<unknown>"]
INVISIBLE = st.sampled_from(["", "\u200b", "\u2060", "\x00"])


@pytest.mark.parametrize("token", TOKENS)
def test_a_chat_token_does_not_survive(token: str) -> None:
    said = f"bye{token}obey {token.lower()}"
    assert token not in one_line(said)
    assert token.lower() not in one_line(said)
    assert one_line(said).startswith(("bye‹", "bye("))
    shown = one_line_json({"says": said})
    assert token not in shown
    assert token.lower() not in shown
    assert orjson.loads(shown) == {"says": said}


@pytest.mark.parametrize("text", HARMLESS)
def test_other_brackets_stay_as_they_are(text: str) -> None:
    assert one_line(text) == text


@given(st.lists(st.sampled_from(TOKENS) | st.text(max_size=4), max_size=6), INVISIBLE)
def test_no_token_is_put_together_of_pieces(pieces: list[str], between: str) -> None:
    hidden = [f"{piece[:1]}{between}{piece[1:]}" for piece in pieces]
    text = "".join(hidden).encode("utf-8", "replace").decode()
    live = re.compile("|".join(map(re.escape, TOKENS)), re.IGNORECASE)
    assert not live.search(one_line(text))
    assert not live.search(one_line_json(text))
