"""Reads a data set, whatever its format."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.compare.conversations import Dialogue
from evaluation.compare.formats import locomo, longmemeval, realmem, realtalk
from evaluation.data_files import Format, format_of
from evaluation.longmemeval.dataset import Question
from evaluation.realmem.dataset import user_files
from runtime.file_digest import files_sha256


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
        DataSetError: If a file cannot be read, or its format is unknown.
        ConversationError: If it lacks a field of LoCoMo's form.
    """
    found = format_of(path)
    if found == "LongMemEval":
        questions = longmemeval.read_questions(path, limit=limit)
        return DataSet(found, longmemeval.dialogues_of(questions), questions)
    reader = {"LoCoMo": locomo.read, "REALTALK": realtalk.read, "RealMem": realmem.read}[found]
    return DataSet(found, reader(path, limit=limit))


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, or of all files of a folder by name, in hexadecimal."""
    files = (realtalk.chat_files(path) or user_files(path)) if path.is_dir() else [path]
    return files_sha256(files)
