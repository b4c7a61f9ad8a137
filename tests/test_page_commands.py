"""A page's output is compared with what its commands print: other values are noticed."""

from pathlib import Path

import pytest

from tests.page_commands import Step, Terminal, steps_of

PAGE = """
```sh title="terminal 1"
never run
```

```sh
echo one
```

```text
one
```

```sh
echo '{"a": 1}'
```

Words between.

```json
{"a": 1}
```

```sh title="setup"
also never run
```

```json
{"of": "what is not run"}
```
"""


def test_blocks_are_paired_with_their_output(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    one, two = steps_of(page)
    assert (one.command, one.lines, one.documents) == ("echo one\n", ["one"], [])
    assert (two.lines, two.documents) == ([], [{"a": 1}])


@pytest.mark.parametrize(
    ("output", "is_right"),
    [
        ('{"results": [{"id": "x"}, {"content": "Ann moved", "evidence": ["m1"]}], "confidence": 0.81, "offset": 7}', True),
        ('{"results": [{"content": "Ann moved", "evidence": ["m2"]}], "confidence": 0.81, "offset": 7}', False),
        ('{"results": [{"content": "Ann moved", "evidence": ["m1"]}], "confidence": 0.02, "offset": 7}', False),
        ('{"results": [], "confidence": 0.81, "offset": 7}', False),
        ('{"results": [{"content": "Ann moved", "evidence": ["m1"]}], "confidence": 0.81, "offset": null}', False),
        ("", False),
    ],
)
def test_a_response_must_contain_the_shown_fields(output: str, is_right: bool) -> None:
    shown = {"results": [{"content": "Ann moved", "evidence": ["m1"]}], "confidence": 0.85, "offset": 0}
    assert Step("", documents=[shown]).is_printed_by(output) is is_right


def test_lines_are_compared_without_white_space() -> None:
    assert Step("", lines=["home: Oslo"]).is_printed_by("│ home:\n   Oslo │")
    assert not Step("", lines=["home: Oslo"]).is_printed_by("home: Bergen")


@pytest.mark.parametrize(
    ("line", "output", "is_right"),
    [
        ("score ... memory", "score  when  memory", True),
        ("score ... memory", "score  when", False),
        ("[7119de3f] home", "[aa5f8292] home", True),
        ("[7119de3f] home", "[none] home", False),
        ("confidence 0.99", "confidence 0.97", True),
        ("confidence 0.99", "confidence ?", False),
        ("2024-05-06  2 (two)", "2024-05-06 2 (two)", True),
        ("2024-05-06", "2024-05-07", False),
    ],
)
def test_what_differs_from_run_to_run_may_differ(line: str, output: str, is_right: bool) -> None:
    assert Step("", lines=[line]).is_printed_by(output) is is_right


def test_a_terminal_keeps_its_variables(tmp_path: Path) -> None:
    with Terminal(folder=tmp_path, environment={"PATH": "/usr/bin:/bin"}) as terminal:
        assert terminal.type("NAME=Ann")[0] == 0
        assert terminal.type("echo $NAME") == (0, "Ann\n\n")
        assert terminal.type("false")[0] != 0
