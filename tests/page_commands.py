"""The commands of a documentation page, and what the page says that they print."""

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

_BLOCK: Final = re.compile(r'^```(?P<kind>sh|text|json)(?P<title> title="[^"]*")?\n(?P<body>.*?)^```$', re.MULTILINE | re.DOTALL)
_END: Final = "=== end of command, status "
_VARYING: Final = frozenset({"partition", "offset", "tokens"})
"""Members whose number depends on what was sent before."""
_TOLERANCE: Final = 0.1
"""Of fractions, such as a confidence: pages show them rounded."""
_SHOWN: Final = re.compile(r"(?P<rest>\.\.\.)|(?P<mark>\b[0-9a-f]{8}\b)|(?P<fraction>\b\d+\.\d+\b)|(?P<time>\b\d{4}-\d\d-\d\dT[\d:.]+Z)")
"""Parts of a shown line that differ from run to run. An ellipsis stands for any words, a mark, fraction or time for its like."""
_LIKE: Final = {"rest": r".*?", "mark": r"[0-9a-f]{8}", "fraction": r"\d+\.\d+", "time": r"\d{4}-\d\d-\d\dT[\d:.]+Z"}


@dataclass(frozen=True, slots=True)
class Step:
    """One block of commands, with the output that the page shows after it."""

    command: str
    lines: list[str] = field(default_factory=list)
    """Each must be a part of the output, except for white space and what :data:`_SHOWN` finds in it."""
    documents: list[Any] = field(default_factory=list)
    """JSON that the output contains, further members aside."""

    def is_printed_by(self, output: str) -> bool:
        """Whether an output is what the page shows."""
        words = " ".join(output.split())
        found = [json.loads(line) for line in output.splitlines() if self.documents and line.startswith("{")]
        return all(re.search(_pattern(line), words) for line in self.lines) and all(
            any(_contains(each, shown) for each in found) for shown in self.documents
        )


def steps_of(page: Path) -> list[Step]:
    """The blocks of a page that are run, in their order: those of ``sh`` without a title.

    Blocks of ``text`` and ``json`` show the output of the last one.
    """
    steps: list[Step] = []
    follows: Step | None = None
    for block in _BLOCK.finditer(page.read_text()):
        if block["kind"] == "sh":
            follows = None if block["title"] else Step(block["body"])
            steps += [] if follows is None else [follows]
        elif follows is None:
            continue
        elif block["kind"] == "json":
            follows.documents.append(json.loads(block["body"]))
        else:
            follows.lines.extend(block["body"].splitlines())
    return steps


def _pattern(line: str) -> str:
    """A regular expression for the words of a shown line."""
    words, pattern, end = " ".join(line.split()), "", 0
    for found in _SHOWN.finditer(words):
        pattern += re.escape(words[end : found.start()]) + _LIKE[str(found.lastgroup)]
        end = found.end()
    return pattern + re.escape(words[end:])


def _contains(actual: Any, shown: Any, name: str = "") -> bool:
    match shown:
        case dict():
            return isinstance(actual, dict) and all(key in actual and _contains(actual[key], each, key) for key, each in shown.items())
        case list():
            rest = iter(actual)
            return isinstance(actual, list) and all(any(_contains(each, one) for each in rest) for one in shown)
        case bool() | str() | None:
            return bool(actual == shown)
        case int():
            return isinstance(actual, int) and (name in _VARYING or actual == shown)
        case _:
            return isinstance(actual, float) and abs(actual - shown) <= _TOLERANCE


class Terminal:
    """A shell that is typed into, and keeps its variables and functions. Use it as a context manager."""

    def __init__(self, *, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder, self._environment = folder, environment

    def __enter__(self) -> Self:
        self._shell = subprocess.Popen(
            ["bash", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self._folder,
            env=dict(self._environment),
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.kill()
        self._shell.communicate()

    def type(self, command: str) -> tuple[int, str]:
        """The status and the output of a block of commands."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{command}\nstatus=$?; echo; echo '{_END}'$status\n")
        self._shell.stdin.flush()
        printed: list[str] = []
        for line in self._shell.stdout:
            if line.startswith(_END):
                return int(line.removeprefix(_END)), "".join(printed)
            printed.append(line)
        raise AssertionError(f"the shell ended: {''.join(printed)}")
