"""Variants of LongMemEval for robustness: longer and shorter histories, and other places of the evidence (framework paper, B.2).

Every place of a history keeps its date, whatever session moves there: a memory then sees sessions in the order of their dates. So the
answers of questions about dates may be wrong in the variants of the place.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Literal

from evaluation.errors import DataSetError
from evaluation.longmemeval.dataset import Question
from evaluation.windows import windows_of
from memory.records import Message

SCALES: Final = (50, 150, 200)
"""Lengths of the history in percent; the data set itself has 100."""
Place = Literal["early", "middle", "late"]
PLACES: Final[tuple[Place, ...]] = ("early", "middle", "late")
"""Third of the history that contains the evidence."""
_SEED: Final = 7
_BETWEEN_SESSIONS: Final = timedelta(minutes=30)

_Session = list[Message]


def scaled(questions: Sequence[Question], percent: int) -> list[Question]:
    """The questions with histories of another length.

    Shorter ones lose sessions at even distances, but none with evidence. Longer ones get sessions without evidence from the histories of
    other questions, after their own.

    Args:
        questions: The questions.
        percent: The length.

    Raises:
        DataSetError: If the other questions have too few sessions.
    """
    return [_shorter(each, percent) if percent < 100 else _longer(each, percent, questions) for each in questions]


def moved(questions: Sequence[Question], place: Place) -> list[Question]:
    """The questions with the evidence in the middle of one third of the history.

    Args:
        questions: The questions.
        place: The third.
    """
    return [_moved(each, PLACES.index(place)) for each in questions]


def _moved(question: Question, third: int) -> Question:
    sessions = _sessions(question)
    dates = [each[0].event_time for each in sessions]
    evidence = [each for each in sessions if each[0].session in question.answer_sessions]
    others = [each for each in sessions if each[0].session not in question.answer_sessions]
    middle = (2 * third + 1) * len(sessions) / 6
    at = max(0, round(middle - len(evidence) / 2))
    ordered = [*others[:at], *evidence, *others[at:]]
    return _with_sessions(question, [_redated(each, date) for each, date in zip(ordered, dates, strict=True)])


def _shorter(question: Question, percent: int) -> Question:
    sessions = _sessions(question)
    others = [each for each in sessions if each[0].session not in question.answer_sessions]
    wanted = max(0, len(sessions) * percent // 100 - (len(sessions) - len(others)))
    kept = {others[number * len(others) // wanted][0].session for number in range(wanted)} | question.answer_sessions
    return _with_sessions(question, [each for each in sessions if each[0].session in kept])


def _longer(question: Question, percent: int, questions: Sequence[Question]) -> Question:
    sessions = _sessions(question)
    wanted = len(sessions) * (percent - 100) // 100
    pool = [
        _adopted(session, question.id, f"{other.id}-{session[0].session}")
        for other in questions
        if other.id != question.id
        for session in _sessions(other)
        if session[0].session not in other.answer_sessions
    ]
    if len(pool) < wanted:
        raise DataSetError(
            f"{percent} % of the history of question {question.id} needs {wanted} further sessions, and the other questions of the file "
            f"have {len(pool)}; give a file with more questions"
        )
    last = sessions[-1][0].event_time
    added = random.Random(f"{_SEED}/{question.id}").sample(pool, wanted)
    dated = [_redated(each, last + number * _BETWEEN_SESSIONS) for number, each in enumerate(added, start=1)]
    end = dated[-1][0].event_time + _BETWEEN_SESSIONS if dated else last
    return replace(_with_sessions(question, [*sessions, *dated]), asked_at=max(question.asked_at, end))


def _sessions(question: Question) -> list[_Session]:
    found: dict[str, _Session] = {}
    for window in question.windows:
        found.setdefault(window.session, []).extend(window.messages)
    return [*found.values()]


def _adopted(session: _Session, user: str, name: str) -> _Session:
    return [each.model_copy(update={"user": user, "session": name, "id": f"{name}/{number}"}) for number, each in enumerate(session)]


def _redated(session: _Session, start: datetime) -> _Session:
    shift = start - session[0].event_time
    return [each.model_copy(update={"event_time": each.event_time + shift}) for each in session]


def _with_sessions(question: Question, sessions: Sequence[_Session]) -> Question:
    return replace(question, windows=tuple(windows_of(sessions)), sessions=len(sessions))
