"""Files of data sets: their JSON, and the data set that a file or folder belongs to."""

from pathlib import Path
from typing import Any, Final, Literal

import orjson

from evaluation.errors import DataSetError

Format = Literal["LoCoMo", "LongMemEval", "REALTALK", "RealMem"]

REALTALK_FILES: Final = "Chat_*.json"
"""REALTALK is a folder with a file for each chat."""
_FIELDS: Final[dict[Format, tuple[str, ...]]] = {
    "LoCoMo": ("conversation",),
    "LongMemEval": ("question_id",),
    "REALTALK": ("name", "session_1"),
    "RealMem": ("_metadata",),
}
"""Fields by which a file's format is known."""
_MOST_NAMED: Final = 8


def read_json(path: Path) -> Any:
    """The content of a JSON file.

    Raises:
        DataSetError: If the file cannot be read or is not JSON.
    """
    try:
        return orjson.loads(path.read_bytes())
    except OSError as error:
        raise DataSetError(f"{path} cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise DataSetError(f"{path} is not JSON: {error}") from error


def read_entries(path: Path) -> list[Any]:
    """The entries of a JSON file; a file may also be one entry alone.

    Raises:
        DataSetError: See :func:`read_json`.
    """
    content = read_json(path)
    return content if isinstance(content, list) else [content]


def format_of(path: Path) -> Format:
    """The format of a file, by the fields of its first entry, or of a folder, by the names of its files.

    Raises:
        DataSetError: If it is none of the known ones, or the file cannot be read.
    """
    if path.is_dir():
        return "REALTALK" if any(path.glob(REALTALK_FILES)) else "RealMem"
    first = next(iter(read_entries(path)), None)
    names = set(first) if isinstance(first, dict) else set()
    for name, fields in _FIELDS.items():
        if names.issuperset(fields):
            return name
    known = "; ".join(f"{name} has {' and '.join(fields)}" for name, fields in _FIELDS.items())
    has = ", ".join(sorted(map(str, names))[:_MOST_NAMED]) or "no fields"
    raise DataSetError(f"{path} is in no known format: its first entry has {has}; {known}")
