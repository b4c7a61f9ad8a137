"""The results of a recall as a table. Memories are shown in full."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich import box
from rich.table import Table

from memory.dates.event_date import shown_date
from retrieval.relevance.thresholds import LEAST_CONFIDENCE
from varve.output import as_markup


def confidence_line(confidence: float | None) -> str:
    """The confidence of a recall in words, as ``varve recall`` and ``varve demo`` print it."""
    if confidence is None:
        return "confidence: not calibrated for this embedding model, ranking profile or language"
    return f"confidence {confidence:.2f}{': probably nothing relevant' if confidence < LEAST_CONFIDENCE else ''}"


class ResultTable:
    """Table of the results of one or more questions. Print :attr:`table`."""

    def __init__(self) -> None:
        self.table = Table(box=box.ROUNDED, header_style="cyan")
        self.table.add_column("score", justify="right", style="green")
        self.table.add_column("when", style="dim", no_wrap=True)
        self.table.add_column("memory, source messages", overflow="fold")

    def add(self, results: Sequence[dict[str, Any]], *, query: str | None = None, note: str = "") -> None:
        """Adds the results of a question.

        Args:
            results: The service's results, best first; entities have no score.
            query: The question, shown above its results.
            note: A note below the question.
        """
        if query is not None:
            self.table.add_section()
            self.table.add_row("?", "", f"[bold cyan]{as_markup(query)}[/]" + (f"\n[dim]{as_markup(note)}[/]" if note else ""))
        for result in results:
            first, *others = [as_markup(each) for each in result["evidence"]] or ["no message"]
            source = f"{first} and {len(others)} more" if others else first
            when = shown_date(datetime.fromisoformat(result["event_time"]), result.get("date"))
            speaker = f"{as_markup(result['speaker'])}: " if result.get("speaker") else ""
            content = f"[cyan]{as_markup(result['type'])}[/]  {speaker}{as_markup(' '.join(str(result['content']).split()))}"
            score = "" if "score" not in result else f"{result['score']:.3f}"
            # A range of dates takes two lines, which leaves more space for the content.
            self.table.add_row(score, as_markup(when.replace(" to ", "\nto ")), f"{content}\n[dim]{source}[/]")
