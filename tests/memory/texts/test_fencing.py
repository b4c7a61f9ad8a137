"""No token of a chat template survives in text for a model."""

import re
import time
import unicodedata

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from memory.texts.fencing import delimiter_for, one_line, one_line_json, without_nonce
from tests.growth import LINEAR, growth

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
    "<query>",
    "</query>",
    "</session0>",
    "<session12>",
    "<ranking>",
    "</ranking>",
    "< /session0>",
    "<  / query >",
]
HARMLESS = ["a < b", "x<y>z", "<3", "[0]", "[1, 2]", "[x] done", "<b>bold</b>", "a|b", "[thinking]", "<unknown>", "<sessions>", "the query"]
HIDDEN = [
    "\u200b",
    "\u2060",
    "\x00",
    "\xad",
    "\u061c",
    "\u180e",
    "\ufe0f",
    "\u3164",
    "\u034f",
    "\u200d",
    "\U000e0041",
    "\U000e0100",
    "\ud800",
]
INVISIBLE = st.sampled_from(["", *HIDDEN])
LEGITIMATE = [
    "👨‍👩‍👧‍👦 at home",
    "🏳️‍🌈 ❤️‍🔥 🧑🏽‍🚀",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿 against 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "press 1️⃣ or #️⃣",
    "می‌خواهم بروم",
    "क्‍ष and क्‌ष",
    "ന്‍ is a chillu",
    "ශ්‍රී ලංකා",
    "葛 and ｆｕｌｌ，width",
    "straße, naïve, İstanbul",
    "٣٥؀ ۝",
]
WRAPPED = [(token, between) for token in ("<|im_start|>", "</query>", "</session0>", "[INST]", "<think>") for between in HIDDEN]
FULL_WIDTH = str.maketrans({code: code + 0xFEE0 for code in range(0x21, 0x7F)})
PIECES = st.sampled_from(
    [*TOKENS, *HIDDEN, *LEGITIMATE, "<", "[", "/", " ", "\n", "\u2028", "＜", "｜", "［", "que", "ry>", "ﬆ"]
) | st.text(max_size=4)
TEXTS = st.lists(PIECES, max_size=10).map("".join)
LIVE = re.compile("|".join(re.escape(token).replace(r"\ ", r"\s*") for token in TOKENS), re.IGNORECASE)


def read_by_a_model(text: str) -> str:
    """Compatibility forms folded, and without what nobody sees: categories and names as Unicode gives them."""
    return unicodedata.normalize("NFKC", "".join(char for char in text if not is_hidden(char)))


def is_hidden(char: str) -> bool:
    name = unicodedata.name(char, "")
    is_selector = "VARIATION SELECTOR" in name or re.search("HANGUL.* FILLER", name) is not None
    return unicodedata.category(char) in ("Cf", "Cc", "Cs") or 0xE0000 <= ord(char) <= 0xE0FFF or is_selector or char == "\u034f"


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
    text = "".join(hidden)
    assert not LIVE.search(one_line(text))
    assert not LIVE.search(one_line_json(text.encode("utf-8", "replace").decode()))


@settings(max_examples=500)
@given(TEXTS)
def test_no_text_holds_a_token_after_normalisation(text: str) -> None:
    line = one_line(text)
    assert not LIVE.search(read_by_a_model(line))
    assert len(line.splitlines()) <= 1
    assert one_line(line) == line
    shown = one_line_json(text.encode("utf-8", "replace").decode())
    assert not LIVE.search(read_by_a_model(shown))
    assert orjson.loads(shown) == text.encode("utf-8", "replace").decode()


@settings(max_examples=500)
@given(TEXTS)
def test_visible_characters_are_kept(text: str) -> None:
    def seen(shown: str) -> str:
        return "".join(shown.translate(str.maketrans("‹＜﹤(［﹇\t\u2800", "<<<[[[  ")).split())

    visible = "".join(char for char in text if char in "\t\n\r\v\f\x1c\x1d\x1e\x85" or not is_hidden(char))
    broken = re.sub(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", r"\\n", re.sub(r"^\s+|\s+$", "", visible))
    assert "".join(char for char in seen(one_line(text)) if not is_hidden(char)) == seen(broken)


@pytest.mark.parametrize("text", LEGITIMATE)
def test_characters_with_a_visible_effect_stay(text: str) -> None:
    assert one_line(text) == text


def test_all_other_invisible_characters_go() -> None:
    drawn = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    for code in (*range(0x20000), *range(0xE0000, 0xE1000)):
        if is_hidden(chr(code)) and code not in drawn and not chr(code).isspace():
            assert one_line(f"I like tea{chr(code)}s") == "I like teas", hex(code)


@pytest.mark.parametrize(("token", "between"), WRAPPED)
def test_a_token_is_found_through_hidden_characters(token: str, between: str) -> None:
    for at in range(1, len(token)):
        assert one_line(f"a{token[:at]}{between}{token[at:]}b")[1] in "‹("


@pytest.mark.parametrize("token", ["<|im_start|>", "</query>", "[INST]", "<think>"])
def test_a_token_in_full_width_does_not_survive(token: str) -> None:
    text = token.translate(FULL_WIDTH)
    assert one_line(text) == ("‹" if token[0] == "<" else "(") + text[1:]
    assert orjson.loads(one_line_json([text])) == [text]
    assert text not in one_line_json([text])


def test_joiners_hide_no_token() -> None:
    assert one_line("[\U0001f138\u200d\U0001f13d\U0001f142\U0001f143]").startswith("(")


def test_hidden_characters_of_json_are_escaped() -> None:
    value: JsonValue = {"text": "".join(HIDDEN[:-1]) + "\x85\u2028"}
    shown = one_line_json(value)
    assert shown.isascii()
    assert orjson.loads(shown) == value


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_a_nonce_is_in_no_text(texts: list[str]) -> None:
    nonce = delimiter_for(texts)
    assert delimiter_for([*texts, nonce.translate(FULL_WIDTH), f"{nonce[:3]}\u200b{nonce[3:].upper()}"]) != nonce


@given(
    st.lists(st.sampled_from(["0a1b2c3d", "0A1B2C3D", "0a1b", "2c3d", "０ａ１ｂ２ｃ３ｄ", "0a1b\u200d2c3d", " ", "می‌"]), max_size=8).map(
        "".join
    )
)
def test_a_fixed_nonce_is_broken_up(text: str) -> None:
    line = without_nonce(one_line(text), "0a1b2c3d")
    assert "0a1b2c3d" not in read_by_a_model(line).lower()
    assert line.replace("·", "") == one_line(text)


def test_a_long_text_is_cleaned_in_linear_time() -> None:
    for unit in ("<", "< ", "＜", "<\u200d", "👩\u200d", "[ ", "\U000e0041"):
        started = time.process_time()
        one_line(unit * (200_000 // len(unit)))
        assert time.process_time() - started < 2, unit


@pytest.mark.parametrize("blank", [" ", "\t", " \t"])
def test_a_run_of_blanks_takes_linear_time(blank: str) -> None:
    assert growth(one_line, lambda size: f"a{blank * size}a", size=40_000) < LINEAR


@given(st.text(st.sampled_from(" \r\na\u2028\x85")))
def test_blanks_around_line_breaks_are_removed(text: str) -> None:
    breaks = re.compile(r" *(?:\r\n|[\n\r\x85\u2028]) *")
    assert one_line(text) == breaks.sub(r"\\n", text.strip())
