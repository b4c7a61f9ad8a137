"""LoCoMo: a conversation of two people per user, with questions after its end."""

from pathlib import Path
from typing import Final

from evaluation.compare.conversations import Asked, Dialogue, Step
from evaluation.data_files import read_entries
from evaluation.errors import DataSetError
from evaluation.locomo import read_locomo
from evaluation.recall.corpus import UNANSWERABLE, Question, questions_of
from evaluation.recall.memories import last_moment

_CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
_SEVERAL_FACTS: Final = 1
_OPEN: Final = 3
"""The category whose answers have remarks after a semicolon. LoCoMo's evaluation drops them."""


def read(path: Path, *, limit: int | None) -> list[Dialogue]:
    """Reads the conversations of a file. Questions that the conversation does not answer are left out.

    Args:
        path: The file; it may contain one conversation alone.
        limit: Most conversations. None: all.

    Raises:
        DataSetError: If the file cannot be read, or the evidence of a question is no list.
        ConversationError: If it has another form.
    """
    dialogues = []
    for number, (sample, conversation) in enumerate(list(zip(read_entries(path), read_locomo(path), strict=True))[:limit]):
        for place, each in enumerate(sample.get("qa", ())):
            if not isinstance(each.get("evidence", []), list):
                raise DataSetError(f"{path} is not in LoCoMo's form: {number}.qa.{place}.evidence: a list of message ids is expected")
        windows = tuple(each.window for each in conversation)
        end = last_moment(windows)
        questions = tuple(
            Asked(
                text=question.text,
                category=_CATEGORIES.get(question.category, str(question.category)),
                evidence=question.evidence,
                asked_at=end,
                is_dated=False,
                answer=_answer(question),
                has_several_answers=question.category == _SEVERAL_FACTS,
            )
            for question in questions_of(sample, path)
            if question.category != UNANSWERABLE
        )
        dialogues.append(Dialogue(windows[0].user, (Step(windows=windows), Step(questions=questions))))
    return dialogues


def _answer(question: Question) -> str:
    return question.answer.partition(";")[0].strip() if question.category == _OPEN else question.answer
