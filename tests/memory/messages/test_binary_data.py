"""Binary data in a message becomes a placeholder; texts stay."""

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.messages.binary_data import message_without_binary, without_binary, without_placeholders
from memory.records import Message
from tests.growth import LINEAR, growth

DATA = base64.b64encode(random.Random(7).randbytes(90_000)).decode()
WRAPPED = "\n".join(DATA[start : start + 76] for start in range(0, 7600, 76))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"My card: data:image/png;base64,{DATA} It is new.", "My card: [image, 90 kB] It is new."),
        (f"data:application/pdf;base64,{DATA}", "[file, 90 kB]"),
        (f"Key:\n{WRAPPED}\nI live in Oslo.", "Key:\n[binary data, 6 kB]\nI live in Oslo."),
        (f"dump {random.Random(1).randbytes(300).hex()} end", "dump [binary data, 300 bytes] end"),
        ("data:image/svg+xml;utf8,%3Csvg" + "%20" * 100, "[image, 306 bytes]"),
    ],
)
def test_binary_data_becomes_a_placeholder(text: str, expected: str) -> None:
    assert without_binary(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "x" * 300_000,
        "https://example.com/" + "abc-def/Ghi_" * 40,
        "Donaudampfschifffahrtsgesellschaft " * 20,
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "我对花生过敏" * 100,
    ],
)
def test_long_texts_stay(text: str) -> None:
    assert without_binary(text) == text


@given(st.text(max_size=500))
def test_it_is_idempotent(text: str) -> None:
    once = without_binary(f"{text} data:image/png;base64,{DATA} {text}")
    assert DATA not in once
    assert without_binary(once) == once


def test_a_tools_values_are_cleaned_too() -> None:
    result = {"pages": [{"screenshot": DATA, "title": "Shop"}]}
    fields = {"tenant": "t", "user": "u", "session": "s", "text": "see", "event_time": "2024-05-06T18:00:00Z"}
    message = Message.model_validate({**fields, "tool_call": {"name": "browse", "result": result}})
    plain = Message.model_validate(fields)

    call = message_without_binary(message).tool_call

    assert call is not None
    assert call.result == {"pages": [{"screenshot": "[binary data, 90 kB]", "title": "Shop"}]}
    assert message_without_binary(plain) is plain


def test_placeholders_are_no_search_words() -> None:
    assert without_placeholders("This is my card. [image, 90 kB] It is new.") == "This is my card. It is new."
    assert without_placeholders("[draft, 3 pages]") == "[draft, 3 pages]"


def test_a_run_of_blanks_takes_linear_time() -> None:
    assert growth(without_placeholders, lambda size: f"[{' ' * size}a", size=100_000) < LINEAR
    assert without_placeholders("[image, 9 kB] a [audio, 1 MB]\t[video, 2 MB] b") == "a  b"
