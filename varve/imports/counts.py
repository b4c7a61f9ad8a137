"""The counts of an import: what a file has, and what is left out and why. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memory.texts.text import counted, estimate_tokens
from varve.imports.files import ExportFile
from varve.imports.formats import FileFormat, Format
from varve.imports.messages import Found, ImportOptions, Remark, Skipped


@dataclass(slots=True)
class ImportCounts:
    """The messages of a file, counted as they are read."""

    messages: int = 0
    tokens: int = 0
    """Estimated."""
    users: Counter[str] = field(default_factory=Counter)
    """Messages per user."""
    sessions: set[str] = field(default_factory=set)
    skipped: Counter[str] = field(default_factory=Counter)
    first_problem: str | None = None
    """The error of the first item that is left out because of one, with its place."""
    remarks: Counter[str] = field(default_factory=Counter)
    first: str | None = None
    last: str | None = None

    def add(self, found: Found) -> None:
        """Counts a message, items that are left out, or a remark."""
        if isinstance(found, Skipped):
            self.skipped[found.reason] += found.count
            self.first_problem = self.first_problem or found.problem
            return
        if isinstance(found, Remark):
            self.remarks[found.about] += 1
            return
        self.messages += 1
        self.tokens += estimate_tokens(found["text"])
        self.users[found["user"]] += 1
        self.sessions.add(found["session"])
        time = found["event_time"]
        self.first = time if self.first is None else min(self.first, time)
        self.last = time if self.last is None else max(self.last, time)

    def lines(self) -> list[str]:
        """The counts for people."""
        lines = [
            f"{counted(self.messages, 'message')} of {counted(len(self.users), 'user')} in {counted(len(self.sessions), 'session')}, "
            f"about {counted(self.tokens, 'token')}"
        ]
        if self.first is not None:
            lines.append(f"from {self.first} to {self.last}")
        lines += [f"left out: {count} ({reason})" for reason, count in self.skipped.most_common()]
        if self.first_problem is not None:
            lines.append(f"the first that is wrong: {self.first_problem}")
        lines += [f"imported: {count} {about}" for about, count in self.remarks.most_common()]
        return lines

    def as_json(self) -> dict[str, Any]:
        """The counts as plain values."""
        return {
            "messages": self.messages,
            "tokens": self.tokens,
            "users": len(self.users),
            "sessions": len(self.sessions),
            "first": self.first,
            "last": self.last,
            "left_out": dict(self.skipped),
            "first_problem": self.first_problem,
            "remarks": dict(self.remarks),
        }


def read_messages(file: ExportFile, chosen: Format | FileFormat, options: ImportOptions, counts: ImportCounts) -> Iterator[dict[str, Any]]:
    """The messages of a file in order, which are counted.

    Args:
        file: The file.
        chosen: Its format.
        options: The options of the import.
        counts: Counts what is read.

    Raises:
        ImportFileError: If the file has another form; says where.
    """
    for found in chosen.messages(file, options):
        counts.add(found)
        if isinstance(found, dict):
            yield found
