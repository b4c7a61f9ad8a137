"""Finds out the format of a data set, and reads it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import orjson

from evaluation.compare.conversations import Dialogue
from evaluation.compare.formats import locomo, longmemeval, realmem, realtalk
from evaluation.errors import DataSetError
from evaluation.longmemeval.dataset import Question
from evaluation.realmem.dataset import user_files
from runtime.file_digest import files_sha256

Format = Literal["LoCoMo", "LongMemEval", "REALTALK", "RealMem"]
_FIELDS: Final[dict[Format, tuple[str, ...]]] = {
    "LoCoMo": ("conversation",),
    "LongMemEval": ("question_id",),
    "REALTALK": ("name", "session_1"),
    "RealMem": ("_metadata",),
}
"""Fields by which a file's format is known."""
_MOST_NAMED: Final = 8


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set."""

    format: Format
    dialogues: Sequence[Dialogue]
    questions: Sequence[Question] = field(default=())
    """The questions with their histories, of LongMemEval only."""


def read_data(path: Path, *, limit: int | None = None) -> DataSet:
    """Reads a file of LoCoMo or LongMemEval, or a folder or file of REALTALK or RealMem.

    Args:
        path: The file or folder.
        limit: Most conversations. None: all.

    Raises:
        ConversationError: If a file cannot be read or has another form.
        DataSetError: The same, and if the format is unknown.
    """
    found = format_of(path)
    if found == "LongMemEval":
        questions = longmemeval.read_questions(path, limit=limit)
        return DataSet(found, longmemeval.dialogues_of(questions), questions)
    reader = {"LoCoMo": locomo.read, "REALTALK": realtalk.read, "RealMem": realmem.read}[found]
    return DataSet(found, reader(path, limit=limit))


def format_of(path: Path) -> Format:
    """The format of a file, by the fields of its first entry, or of a folder, by its files.

    Raises:
        DataSetError: If it is none of the known ones, or the file cannot be read.
    """
    if path.is_dir():
        return "REALTALK" if realtalk.chat_files(path) else "RealMem"
    try:
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise DataSetError(f"{path} cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise DataSetError(f"{path} is not JSON: {error}") from error
    first = content[0] if isinstance(content, list) and content else content
    names = set(first) if isinstance(first, dict) else set()
    for name, fields in _FIELDS.items():
        if names.issuperset(fields):
            return name
    known = "; ".join(f"{name} has {' and '.join(fields)}" for name, fields in _FIELDS.items())
    has = ", ".join(sorted(map(str, names))[:_MOST_NAMED]) or "no fields"
    raise DataSetError(f"{path} is in no known format: its first entry has {has}; {known}")


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, or of all files of a folder by name, in hexadecimal."""
    files = (realtalk.chat_files(path) or user_files(path)) if path.is_dir() else [path]
    return files_sha256(files)
