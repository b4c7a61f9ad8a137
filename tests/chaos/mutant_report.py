"""The tests and faults that noticed each mutant: a file that is complete after each of them."""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one mutant."""

    noticed_by: str | None
    """The test or fault; None: it survived, or nothing can be said."""
    problem: str | None
    """Why nothing noticed it."""
    seconds: float


class MutantReport:
    """``{"mutants": [{"mutant", "noticed_by", ...}]}``, in the order of the mutants' list.

    Args:
        path: The file; what it holds of an earlier run is kept.
        keep: The mutants that there are, in order: rows of others are dropped.
    """

    def __init__(self, path: Path, *, keep: Collection[str]) -> None:
        self._path = path
        self._order = list(keep)
        rows = orjson.loads(path.read_bytes())["mutants"] if path.exists() else []
        self._rows: dict[str, dict[str, Any]] = {row["mutant"]: row for row in rows if row["mutant"] in self._order}

    def is_noticed(self, name: str, code: str) -> bool:
        """Whether a mutant was noticed in a file that read as it does now.

        Args:
            name: The mutant's.
            code: The text of its file with the defect in it.
        """
        row = self._rows.get(name)
        return row is not None and row["noticed_by"] is not None and row["code"] == _digest(code)

    def write(self, name: str, code: str, result: Result) -> None:
        """Adds the result of a mutant, and replaces the file.

        Args:
            name: The mutant's.
            code: The text of its file with the defect in it.
            result: The result.
        """
        fields = {"noticed_by": result.noticed_by, "problem": result.problem, "seconds": round(result.seconds, 1)}
        self._rows[name] = {"mutant": name, **fields, "code": _digest(code)}
        rows = [self._rows[each] for each in self._order if each in self._rows]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(".new")
        draft.write_bytes(orjson.dumps({"mutants": rows}, option=orjson.OPT_INDENT_2))
        draft.replace(self._path)

    def unnoticed(self, names: Iterable[str]) -> list[str]:
        """The mutants among these that no test or fault has detected."""
        return [name for name in names if self._rows.get(name, {}).get("noticed_by") is None]


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()[:16]
