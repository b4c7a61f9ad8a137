"""Run folders: the configuration of each step, its metrics as JSON lines, and its results.

A step writes each file completely under another name first, so that a file that exists is whole and need not be made again. A step that
continues must have the configuration with which it began.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from memory.errors import VarveError

R = TypeVar("R", bound=BaseModel)


class RunError(VarveError):
    """A run cannot be started or continued. The message says why."""


class Run:
    """The folder of a run.

    Args:
        folder: The folder; created if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def begin(self, step: str, config: Mapping[str, Any]) -> None:
        """Stores the configuration of a step, or checks that it is the one with which the step began.

        Args:
            step: The step.
            config: Its configuration, as JSON values.

        Raises:
            RunError: If the step began with another configuration.
        """
        path = self.folder / f"{step}.config.json"
        if path.exists():
            begun = orjson.loads(path.read_bytes())
            given = orjson.loads(orjson.dumps(config))
            changed = [name for name in sorted({*begun, *given}) if begun.get(name) != given.get(name)]
            if changed:
                raise RunError(f"{path} has another {changed[0]!r} ({begun.get(changed[0])!r}): use it, or another folder")
        else:
            _write(path, orjson.dumps(config, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")

    def record(self, step: str, **metrics: Any) -> None:
        """Appends a line to the metrics."""
        with (self.folder / "metrics.jsonl").open("ab") as lines:
            lines.write(orjson.dumps({"step": step, **metrics}) + b"\n")

    def metrics(self, step: str | None = None) -> list[dict[str, Any]]:
        """The metrics so far, of one step or of all."""
        path = self.folder / "metrics.jsonl"
        lines = [orjson.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
        return [each for each in lines if step in (None, each["step"])]

    def digest(self, name: str) -> str:
        """SHA-256 (hex) of a file.

        Raises:
            RunError: If the file is missing.
        """
        return hashlib.sha256(self._content(name)).hexdigest()

    def has(self, name: str) -> bool:
        """Whether a file exists; then it is whole."""
        return (self.folder / name).exists()

    def write(self, name: str, records: Iterable[BaseModel]) -> int:
        """Writes records as JSON lines, and returns their number."""
        lines = [each.model_dump_json().encode() + b"\n" for each in records]
        _write(self.folder / name, b"".join(lines))
        return len(lines)

    def write_text(self, name: str, text: str) -> None:
        """Writes a text file."""
        _write(self.folder / name, text.encode())

    def discard(self, step: str, name: str) -> None:
        """Deletes a result of a step and its configuration, so that the step makes it again."""
        for each in (name, f"{step}.config.json"):
            (self.folder / each).unlink(missing_ok=True)

    def delete(self, *patterns: str) -> None:
        """Deletes the files that match a pattern, relative to the folder."""
        for pattern in patterns:
            for path in list(self.folder.glob(pattern)):
                path.unlink()

    def keep_only(self, folder: str, names: Iterable[str]) -> None:
        """Deletes the files of a sub-folder that are not among the names."""
        kept = set(names)
        for path in (self.folder / folder).glob("*"):
            if f"{folder}/{path.name}" not in kept:
                path.unlink()

    def read(self, name: str, kind: type[R]) -> Iterator[R]:
        """Reads the records of a file.

        Args:
            name: The file.
            kind: The type of its records.

        Raises:
            RunError: If the file is missing or has other records.
        """
        for number, line in enumerate(self._content(name).splitlines(), start=1):
            try:
                yield kind.model_validate_json(line)
            except ValidationError as error:
                raise RunError(f"{self.folder / name}, line {number} is no {kind.__name__}: {error.errors()[0]['msg']}") from error

    def _content(self, name: str) -> bytes:
        path = self.folder / name
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise RunError(f"{path} is missing: run the step that makes it first") from error


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_bytes(content)
    part.replace(path)
