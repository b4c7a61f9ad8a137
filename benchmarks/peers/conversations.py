"""LoCoMo's conversations as messages and questions for all systems."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.ingest import locomo_messages
from benchmarks.peers.interface import Query, Turn
from evaluation.data_files import read_entries
from evaluation.recall.corpus import UNANSWERABLE, questions_of


@dataclass(frozen=True, slots=True)
class Corpus:
    """Messages, questions, and the messages that answer them."""

    file: str
    """The file's name."""
    conversations: int
    turns: list[Turn]
    queries: list[Query]
    gold: list[frozenset[str]]
    """For each question the ids of its evidence. Empty: the conversation does not answer it."""


def locomo_file(path: Path) -> Path | None:
    """LoCoMo's file in a folder, or the path itself if it is a file. None: there is none."""
    if path.is_dir():
        return next((each for each in sorted(path.glob("locomo*.json")) if each.is_file()), None)
    return path if path.is_file() else None


def read_corpus(path: Path, *, conversations: int, questions: int | None = None) -> Corpus:
    """Reads the first conversations of a file.

    Args:
        path: LoCoMo's file, or a part of it.
        conversations: Maximum number of conversations.
        questions: Maximum number of questions of each conversation. Default: all.

    Raises:
        DataSetError: If the file cannot be read.
        ConversationError: If it has another form.
    """
    samples = read_entries(path)[:conversations]
    messages = locomo_messages(path)
    users = list(dict.fromkeys(each["user"] for each in messages))[:conversations]
    queries, gold = [], []
    for user, sample in zip(users, samples, strict=True):
        for question in questions_of(sample, path)[:questions]:
            queries.append(Query(user, question.text))
            is_answered = question.category != UNANSWERABLE
            gold.append(frozenset(f"{user}-{each}" for each in question.evidence) if is_answered else frozenset())
    turns = [Turn(**each) for each in messages if each["user"] in users]
    return Corpus(path.name, len(users), turns, queries, gold)
