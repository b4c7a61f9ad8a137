"""Printed stored text: a terminal executes nothing in it."""

import io
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.acting_characters import acts
from varve.errors import OutputError
from varve.output import confirm, say, say_json, say_rows
from varve.results import ResultTable


@given(st.dictionaries(st.text(max_size=5), st.text(), max_size=3), st.booleans())
def test_printed_json_is_the_same_value(value: dict[str, Any], indent: bool) -> None:
    with pytest.MonkeyPatch.context() as patch, io.StringIO() as printed:
        patch.setattr("sys.stdout", printed)
        say_json(value, indent=indent)
        assert acts(printed.getvalue()) == set()
        assert orjson.loads(printed.getvalue()) == value


def test_a_line_may_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    say("\x1b]0;title\x07", err=True)
    assert capsys.readouterr() == ("", "\\u001b]0;title\\u0007\n")


@pytest.mark.parametrize(
    ("is_terminal", "printed"), [(True, "id    what\n日本  a\n1     \\u001b\n"), (False, "id\twhat\n日本\ta\n1\t\\u001b\n")]
)
def test_rows_are_aligned_in_columns_on_a_terminal(is_terminal: bool, printed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.StringIO()
    monkeypatch.setattr(output, "isatty", lambda: is_terminal)
    monkeypatch.setattr("sys.stdout", output)
    say_rows(("id", "what"), [("日本", "a"), ("1", "\x1b")])
    assert output.getvalue() == printed


def test_a_question_that_nobody_can_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(OutputError, match=r"Erase\? The standard input is closed.*add --yes"):
        confirm("Erase?")


def test_a_recalled_memory_paints_nothing() -> None:
    answer = ResultTable()
    answer.add(
        [
            {
                "score": 0.5,
                "type": "[bold]x[/]",
                "event_time": "2023-05-01T00:00:00Z",
                "date": "2023-05",
                "content": "I \x1b[31mred\u202e.",
                "evidence": ["m\x1b[2J", "n"],
            }
        ],
        query="[red]who?",
    )
    answer.add([{"type": "user_profile", "event_time": "2023-06-01T00:00:00Z", "content": "name: Ann", "evidence": []}])
    with io.StringIO() as printed:
        Console(file=printed, highlight=False, width=200).print(answer.table)
        text = printed.getvalue()
    assert "2023-05 " in text
    assert "user_profile  name: Ann" in text, "an entity has no score"
    assert "[bold]x[/]  I \\u001b[31mred\\u202e." in text
    assert "m\\u001b[2J and 1 more" in text
    assert "[red]who?" in text
    assert acts(text) == set()


def test_a_recall_fits_a_narrow_terminal() -> None:
    answer = ResultTable()
    evidence = [f"weekly-2024-09-02-{number:02d}-action-item" for number in range(3)]
    answer.add(
        [
            {
                "score": 0.5,
                "type": "figure",
                "event_time": "2024-09-02T00:00:00Z",
                "date": "2024-09-02/2024-09-08",
                "content": "We had two pages last week.",
                "evidence": evidence,
            }
        ],
        query="How many pages were there?",
    )
    with io.StringIO() as printed:
        Console(file=printed, highlight=False, width=80).print(answer.table)
        lines = printed.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    for whole in ("How many pages were there?", "figure  We had two pages last week.", f"{evidence[0]} and 2 more", "to 2024-09-08"):
        assert [line for line in lines if whole in line], f"{whole!r} is broken over lines"
