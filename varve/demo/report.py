"""The demo's outcome: as text, and as one JSON object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from memory.records import Memory
from memory.schema import MemorySchema
from varve.demo.contents import TopicContents
from varve.demo.views import rendered, shown
from varve.output import visible

BEST_EVENTS: Final = 12
"""How many of the events are shown."""
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

    schema: MemorySchema
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
            "shown": shown(self.schema, self.contents.of_kind("entity")),
            "seconds": round(self.seconds, 2),
        }

    def print_to(self, console: Console) -> None:
        """Prints all of it, as wide as the terminal is; nothing is cut off."""
        contents = self.contents
        events = contents.of_kind("event")
        best = sorted(sorted(events, key=lambda each: -each.importance)[:BEST_EVENTS], key=lambda each: each.event_time)
        console.print(f"\n[bold]what was laid down[/]  [dim]the {len(best)} most important of {len(events)} events[/]")
        console.print(_memories(best))
        summaries = contents.of_kind("summary")
        if summaries:
            console.print(f"\n[bold]what has aged[/]  [dim]{len(summaries)} summaries[/]")
            console.print(_memories(summaries))
        for each in rendered(self.schema, contents.of_kind("entity")):
            console.print(each)
        if self.recalls:
            console.print("\n[bold]recalls[/]  [dim]the best three of each, and the messages that they rest on[/]")
            console.print(_answers(self.recalls))
        for letter in contents.dead_letters:
            console.print(f"[red]dead letter[/] {letter.stage}: {letter.reason}: {_plain(letter.detail)}")
        counts = self.as_json()
        figures = ", ".join(
            f"{counts[name]} {name.replace('_', ' ')}" for name in ("messages", "windows", "events", "entities", "dead_letters")
        )
        console.print(f"\n{figures}; {len(self.recalls)} recalls; {self.seconds:.1f} s in all")


def _memories(memories: Sequence[Memory]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for memory in memories:
        table.add_row(f"{memory.event_time:%Y-%m-%d}", _plain(memory.type), _plain(" ".join(memory.content.split())))
    return table


def _answers(recalls: Sequence[Recall]) -> Table:
    table = Table(box=box.ROUNDED, header_style="cyan", show_lines=False)
    table.add_column("score", justify="right", style="green")
    table.add_column("what is remembered", overflow="fold")
    table.add_column("rests on", style="dim", overflow="fold")
    for recall in recalls:
        table.add_section()
        table.add_row("?", f"[bold cyan]{_plain(recall.query)}[/]", "")
        for result in recall.results[:3]:
            first, *others = [_plain(str(each)) for each in result["evidence"]] or ["no message"]
            source = f"{first} and {len(others)} more" if others else first
            table.add_row(f"{result['score']:.3f}", _plain(" ".join(str(result["content"]).split())), source)
    return table


def recall_lines(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Results as lines of rich markup: score, type, content, evidence."""
    for result in results:
        source = _plain(", ".join(map(str, result["evidence"]))) or "no message"
        yield f"[green]{result['score']:.3f}[/] {_plain(str(result['type']))}: {_short(str(result['content']))} [dim]from {source}[/]"


def _plain(text: str) -> str:
    """Stored text as rich markup that is read as no markup, and by no terminal as an order."""
    return escape(visible(text))


def _short(content: str) -> str:
    line = " ".join(content.split())
    return _plain(line if len(line) <= CONTENT_CHARS else line[: CONTENT_CHARS - 1] + "…")
