"""The demo's outcome: as text, and as one JSON object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.markup import escape

from varve.demo.contents import TopicContents
from varve.output import visible

MAX_LINES: Final = 12
"""Of each printed list."""
RESULT_FIELDS: Final = ("id", "type", "content", "score", "evidence")
CONTENT_CHARS: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """A question with its results, best first."""

    query: str
    results: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOutcome:
    """What the demo found."""

    contents: TopicContents
    recalls: tuple[Recall, ...]
    seconds: float
    """From the start of the stack to the last recall."""

    def as_json(self) -> dict[str, Any]:
        """The numbers and the recalls, as ``varve demo --json`` prints them."""
        return {
            "messages": self.contents.messages,
            "windows": len(self.contents.windows),
            "events": len(self.contents.of_kind("event")),
            "entities": len(self.contents.of_kind("entity")),
            "dead_letters": len(self.contents.dead_letters),
            "recalls": [
                {"query": recall.query, "results": [{name: result[name] for name in RESULT_FIELDS} for result in recall.results]}
                for recall in self.recalls
            ],
            "seconds": round(self.seconds, 2),
        }

    def print_to(self, console: Console) -> None:
        """Prints all of it."""
        contents = self.contents
        _section(
            console,
            "windows",
            [
                f"{_plain(window.session)} #{window.sequence}: {len(window.messages)} messages, closed by {window.closed_by}"
                for window in contents.windows
            ],
        )
        for kind, title in (("event", "events"), ("entity", "entities"), ("summary", "summaries")):
            memories = contents.of_kind(kind)
            if memories or kind != "summary":
                _section(
                    console,
                    title,
                    [f"[dim]{memory.event_time:%Y-%m-%d}[/] {_plain(memory.type)}: {_short(memory.content)}" for memory in memories],
                )
        _print_line(console, "\n[bold]recalls[/]")
        for recall in self.recalls:
            _print_line(console, f"[bold cyan]? {_plain(recall.query)}[/]")
            for line in recall_lines(recall.results[:3]):
                _print_line(console, f"  {line}")
        letters = [f"{letter.stage}: {letter.reason}: {_plain(letter.detail)}" for letter in contents.dead_letters]
        _section(console, "dead letters", letters)
        counts = self.as_json()
        figures = ", ".join(
            f"{counts[name]} {name.replace('_', ' ')}" for name in ("messages", "windows", "events", "entities", "dead_letters")
        )
        _print_line(console, f"\n{figures}; {len(self.recalls)} recalls; {self.seconds:.1f} s in all")


def recall_lines(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Results as lines of rich markup: score, type, content, evidence."""
    for result in results:
        source = _plain(", ".join(map(str, result["evidence"]))) or "no message"
        yield f"[green]{result['score']:.3f}[/] {_plain(str(result['type']))}: {_short(str(result['content']))} [dim]from {source}[/]"


def _section(console: Console, title: str, lines: Sequence[str]) -> None:
    _print_line(console, f"\n[bold]{title}[/] ({len(lines)})")
    for line in lines[:MAX_LINES]:
        _print_line(console, f"  {line}")
    if len(lines) > MAX_LINES:
        _print_line(console, f"  ... and {len(lines) - MAX_LINES} more")


def _print_line(console: Console, line: str) -> None:
    """Prints without wrapping: a terminal wraps by itself, and a file has no width."""
    console.print(line, soft_wrap=True)


def _plain(text: str) -> str:
    """Stored text as rich markup that is read as no markup, and by no terminal as an order."""
    return escape(visible(text))


def _short(content: str) -> str:
    line = " ".join(content.split())
    return _plain(line if len(line) <= CONTENT_CHARS else line[: CONTENT_CHARS - 1] + "…")
