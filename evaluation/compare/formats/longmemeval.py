"""LongMemEval: one question per history, asked after it. Variants of it change the length of the history or the place of the evidence."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from evaluation.compare.conversations import Asked, Dialogue, Step
from evaluation.longmemeval.dataset import Question, read_longmemeval


def read_questions(path: Path, *, limit: int | None) -> list[Question]:
    """Reads the questions whose history contains the answer.

    Args:
        path: The file.
        limit: Most questions of the file. None: all.

    Raises:
        DataSetError: If the file cannot be read or has another form.
    """
    return [each for each in islice(read_longmemeval(path), limit) if each.evidence]


def dialogues_of(questions: Sequence[Question]) -> list[Dialogue]:
    """The conversations of questions: each has its own user."""
    return [
        Dialogue(
            question.id,
            (
                Step(windows=question.windows),
                Step(
                    questions=(
                        Asked(
                            text=question.text,
                            category=question.kind,
                            evidence=question.evidence,
                            asked_at=question.asked_at,
                            answer=question.answer,
                        ),
                    )
                ),
            ),
        )
        for question in questions
    ]
