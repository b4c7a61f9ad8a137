"""The demo's outcome: as text, and as one JSON object."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from memory.dates.event_date import shown_date
from memory.records import Memory
from memory.records.wording import attributed_text
from memory.schema import MemorySchema
from varve.demo.contents import TopicContents
from varve.demo.views import rendered, shown
from varve.output import as_markup
from varve.results import ResultTable, confidence_line

RESULT_FIELDS: Final = ("id", "type", "content", "score", "evidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much of the outcome is shown; None: all there is."""

    events: int = 12
    """The most important ones."""
    summaries: int | None = None
    entities: Sequence[str] | None = None
    """Of these types."""
    recalls: int | None = None
    results: int = 3
    """Latency of each recall."""
    figures: bool = True
    """With a line of counts and of the time it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """A question with its results, best first."""

    query: str
    results: tuple[dict[str, Any], ...]
    confidence: float | None
    """As the service gives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOutcome:
    """Results of the demo."""

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
                {
                    "query": recall.query,
                    "confidence": recall.confidence,
                    "results": [{name: result[name] for name in RESULT_FIELDS} for result in recall.results],
                }
                for recall in self.recalls
            ],
            "shown": shown(self.schema, self.contents.of_kind("entity")),
            "seconds": round(self.seconds, 2),
        }

    def print_to(self, console: Console, extent: Extent = Extent()) -> None:
        """Prints it, as wide as the terminal is; nothing is cut off.

        Args:
            console: Where to.
            extent: How much of it.
        """
        contents = self.contents
        events = contents.of_kind("event")
        best = sorted(sorted(events, key=lambda each: -each.importance)[: extent.events], key=lambda each: each.event_time)
        console.print(f"\n[bold]events[/]  [dim]the {len(best)} most important of {len(events)} events[/]")
        console.print(_memories(best))
        summaries = contents.of_kind("summary")[: extent.summaries]
        if summaries:
            console.print(f"\n[bold]summaries[/]  [dim]{len(summaries)} that stand for older events[/]")
            console.print(_memories(summaries))
        entities = [each for each in contents.of_kind("entity") if extent.entities is None or each.type in extent.entities]
        for each in rendered(self.schema, entities):
            console.print(each)
        recalls = self.recalls[: extent.recalls]
        if recalls:
            console.print("\n[bold]recalls[/]  [dim]best results[/]")
            console.print(_answers(recalls, results=extent.results))
        for letter in contents.dead_letters:
            console.print(f"[red]dead letter[/] {letter.stage}: {letter.reason}: {as_markup(letter.detail)}")
        if extent.figures:
            console.print(self._figures())

    def _figures(self) -> str:
        counts = self.as_json()
        figures = ", ".join(
            f"{counts[name]} {name.replace('_', ' ')}" for name in ("messages", "windows", "events", "entities", "dead_letters")
        )
        return f"\n{figures}\n{len(self.recalls)} recalls; {self.seconds:.1f} s in all"


def _memories(memories: Sequence[Memory]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for memory in memories:
        table.add_row(
            shown_date(memory.event_time, memory.date), as_markup(memory.type), as_markup(" ".join(attributed_text(memory).split()))
        )
    return table


def _answers(recalls: Sequence[Recall], *, results: int) -> Table:
    answers = ResultTable()
    for recall in recalls:
        answers.add(recall.results[:results], query=recall.query, note=confidence_line(recall.confidence))
    return answers.table
