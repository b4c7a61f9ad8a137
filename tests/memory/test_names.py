"""Names that look the same are equal, and invisible characters are refused."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import MalformedRecordError
from memory.records import Message
from memory.texts.text import problem_of_id, problem_of_name


@pytest.mark.parametrize("name", ["dev", "a b", "ü", "é", "#operators", "Dev", "日本語", "a/b", "नमस्ते", "کتاب", "👍", "-", "x" * 256])
def test_a_visible_name_is_accepted(name: str) -> None:
    assert problem_of_name(name) is None


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("e\u0301", "NFC"),
        ("dev ", "space"),
        (" dev", "space"),
        ("\u00a0dev", "space"),
        ("dev\u200b", "U\\+200B"),
        ("\u202edev", "U\\+202E"),
        ("de\u00adv", "U\\+00AD"),
        ("a\x00b", "U\\+0000"),
        ("a\nb", "U\\+000A"),
        ("dev\ufe0f", "U\\+FE0F"),
        ("dev\u3164", "U\\+3164"),
        ("dev\U000e0061", "U\\+E0061"),
        ("a\u2028b", "U\\+2028"),
    ],
)
def test_a_name_that_can_be_mistaken_is_refused(name: str, problem: str) -> None:
    found = problem_of_name(name)
    assert found is not None
    assert re.search(problem, found)


@given(st.text(max_size=20))
def test_at_most_one_spelling_is_accepted(name: str) -> None:
    taken = {each for each in (name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))) if problem_of_name(each) is None}
    assert len(taken) <= 1


@pytest.mark.parametrize("text", ["ann", " ann ", "e\u0301", "کتاب\u200cها", "👩\u200d🚀", "a/b", "-", "0", "...", ". ", "a.."])
def test_an_id_may_be_any_visible_text(text: str) -> None:
    assert problem_of_id(text) is None


@pytest.mark.parametrize("field", ["tenant", "user", "session", "id"])
@pytest.mark.parametrize("text", [" ", "\u00a0\u2003", "\u200b", "\ufeff ", "\n", "ann\r\n", "a\x00b", "a\u2028b", "\x7f", "\x85"])
def test_a_blank_or_broken_id_is_refused(field: str, text: str) -> None:
    fields = {"tenant": "acme", "user": "ann", "session": "s", "text": "hi", "event_time": "2024-05-06T12:00:00Z"}
    with pytest.raises(MalformedRecordError, match=f"{field}: .*an id (?:needs a visible character|has no control characters)"):
        Message.from_fields({**fields, field: text})


@pytest.mark.parametrize("field", ["tenant", "user", "session", "id"])
@pytest.mark.parametrize("text", [".", ".."])
def test_an_id_that_urls_remove_is_refused(field: str, text: str) -> None:
    fields = {"tenant": "acme", "user": "ann", "session": "s", "text": "hi", "event_time": "2024-05-06T12:00:00Z"}
    with pytest.raises(MalformedRecordError, match=f"{field}: .*an id cannot be '{re.escape(text)}'"):
        Message.from_fields({**fields, field: text})
