"""The demo's outcome: for eyes, and as one JSON object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.markup import escape

from varve.demo.harvest import Harvest

SHOWN: Final = 12
"""Lines of each list; the JSON form has no lists but the recalls."""
RESULT_FIELDS: Final = ("id", "type", "content", "score", "evidence")
CONTENT_WIDTH: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One question with the results of its recall, best first."""

    query: str
    results: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOutcome:
    """What the demo has to show."""

    harvest: Harvest
    answers: tuple[Answer, ...]
    seconds: float
    """From the start of the stack to the last answer."""

    def as_json(self) -> dict[str, Any]:
        """The numbers and the recalls, as ``varve demo --json`` prints them."""
        return {
            "messages": self.harvest.messages,
            "windows": len(self.harvest.windows),
            "events": len(self.harvest.of_kind("event")),
            "entities": len(self.harvest.of_kind("entity")),
            "dead_letters": len(self.harvest.dead_letters),
            "recalls": [
                {"query": answer.query, "results": [{name: result[name] for name in RESULT_FIELDS} for result in answer.results]}
                for answer in self.answers
            ],
            "seconds": round(self.seconds, 2),
        }

    def show(self, console: Console) -> None:
        """Prints all of it."""
        harvest = self.harvest
        _section(
            console,
            "windows",
            [
                f"{escape(window.session)} #{window.sequence}: {len(window.messages)} messages, closed by {window.closed_by}"
                for window in harvest.windows
            ],
        )
        for kind, title in (("event", "events"), ("entity", "entities"), ("summary", "summaries")):
            memories = harvest.of_kind(kind)
            if memories or kind != "summary":
                _section(
                    console,
                    title,
                    [f"[dim]{memory.event_time:%Y-%m-%d}[/] {escape(memory.type)}: {_short(memory.content)}" for memory in memories],
                )
        _say(console, "\n[bold]recalls[/]")
        for answer in self.answers:
            _say(console, f"[bold cyan]? {escape(answer.query)}[/]")
            for line in recall_lines(answer.results[:3]):
                _say(console, f"  {line}")
        letters = [f"{letter.stage}: {letter.reason}: {escape(letter.detail)}" for letter in harvest.dead_letters]
        _section(console, "dead letters", letters)
        counted = self.as_json()
        figures = ", ".join(
            f"{counted[name]} {name.replace('_', ' ')}" for name in ("messages", "windows", "events", "entities", "dead_letters")
        )
        _say(console, f"\n{figures}; {len(self.answers)} recalls; {self.seconds:.1f} s in all")


def recall_lines(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Results as lines of rich markup: score, type, content, evidence."""
    for result in results:
        source = escape(", ".join(map(str, result["evidence"]))) or "no message"
        yield f"[green]{result['score']:.3f}[/] {escape(str(result['type']))}: {_short(str(result['content']))} [dim]from {source}[/]"


def _section(console: Console, title: str, lines: Sequence[str]) -> None:
    _say(console, f"\n[bold]{title}[/] ({len(lines)})")
    for line in lines[:SHOWN]:
        _say(console, f"  {line}")
    if len(lines) > SHOWN:
        _say(console, f"  ... and {len(lines) - SHOWN} more")


def _say(console: Console, line: str) -> None:
    """One line as one line, however narrow the terminal: it wraps by itself, and a file has no width."""
    console.print(line, soft_wrap=True)


def _short(content: str) -> str:
    line = " ".join(content.split())
    return escape(line if len(line) <= CONTENT_WIDTH else line[: CONTENT_WIDTH - 1] + "…")
