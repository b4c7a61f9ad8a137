"""The demo's outcome: what the topics contain, as text, as a picture (SVG), and as one JSON object."""

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.terminal_theme import DIMMED_MONOKAI

from memory.dates.event_date import shown_date
from memory.headers import KIND
from memory.records import DeadLetterMetadata, Memory, MemoryChange, Window
from memory.records.wording import attributed_text
from memory.schema import MemorySchema
from memory.topics import DEAD_LETTERS, MEMORIES, MESSAGES, WINDOWS
from runtime.dead_letters import read_metadata
from runtime.kafka import read_topic
from runtime.settings import Settings
from varve.demo.views import rendered, shown
from varve.output import as_markup
from varve.results import ResultTable, confidence_line


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicContents:
    """The topics' contents."""

    messages: int
    windows: tuple[Window, ...]
    """Ordered by the time of their first message, each once."""
    memories: tuple[Memory, ...]
    """The last state of each, by event time."""
    dead_letters: tuple[DeadLetterMetadata, ...]

    def of_kind(self, kind: str) -> list[Memory]:
        """The memories of one kind."""
        return [memory for memory in self.memories if memory.kind == kind]


async def read_contents(settings: Settings) -> TopicContents:
    """Reads the topics from the beginning.

    Raises:
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If the topics have not been created.
    """
    return TopicContents(
        messages=await _count_messages(settings),
        windows=await _windows(settings),
        memories=await _read_memories(settings),
        dead_letters=await _dead_letters(settings),
    )


async def _count_messages(settings: Settings) -> int:
    kinds = Counter([KIND in dict(record.headers) async for record in read_topic(settings.topic(MESSAGES.name), settings.kafka)])
    return kinds[False]


async def _windows(settings: Settings) -> tuple[Window, ...]:
    found = [
        Window.from_json(record.value)
        async for record in read_topic(settings.topic(WINDOWS.name), settings.kafka)
        if record.value is not None
    ]
    return tuple(sorted({window.id: window for window in found}.values(), key=lambda window: window.messages[0].event_time))


async def _read_memories(settings: Settings) -> tuple[Memory, ...]:
    latest: dict[bytes | None, Memory | None] = {}
    async for record in read_topic(settings.topic(MEMORIES.name), settings.kafka):
        latest[record.key] = None if record.value is None else MemoryChange.from_json(record.value).memory
    return tuple(sorted((memory for memory in latest.values() if memory is not None), key=lambda memory: memory.event_time))


async def _dead_letters(settings: Settings) -> tuple[DeadLetterMetadata, ...]:
    letters = [read_metadata(tuple(record.headers)) async for record in read_topic(settings.topic(DEAD_LETTERS.name), settings.kafka)]
    return tuple(letter for letter in letters if letter is not None)


RESULT_FIELDS: Final = ("id", "type", "content", "score", "evidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """Extent of the shown outcome. None: everything."""

    events: int = 12
    """Number of events, the most important ones."""
    summaries: int | None = None
    entities: Sequence[str] | None = None
    """Entity types."""
    recalls: int | None = None
    results: int = 3
    """Latency of each recall."""
    figures: bool = True
    """Whether to show a line with counts and the duration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """A question with its results, best first."""

    query: str
    results: tuple[dict[str, Any], ...]
    confidence: float | None
    """The service's value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOutcome:
    """Results of the demo."""

    schema: MemorySchema
    contents: TopicContents
    recalls: tuple[Recall, ...]
    seconds: float
    """Seconds from the start of the stack to the last recall."""

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
        """Prints the outcome in the terminal's width; nothing is cut off."""
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


_WIDTH: Final = 118
_EXTENT: Final = Extent(events=3, summaries=0, entities=("user_profile", "mood_week", "promises"), recalls=3, results=1, figures=False)
_FORMAT: Final = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="What varve demo prints">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-family: ui-sans-serif, Arial, sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own format without its fonts, which each reader's browser would load from another host."""


def picture_of(outcome: DemoOutcome) -> str:
    """The part of the outcome that fits a page. The same outcome gives the same picture on every terminal."""
    console = Console(record=True, file=io.StringIO(), width=_WIDTH, force_terminal=True, color_system="truecolor", highlight=False)
    outcome.print_to(console, _EXTENT)
    return console.export_svg(title="varve demo", theme=DIMMED_MONOKAI, code_format=_FORMAT, unique_id="varve")
