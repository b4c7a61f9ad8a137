"""Parts of a question that several steps of a recall need. Those of the latest questions are cached."""

from datetime import date
from functools import lru_cache
from typing import Final

from memory.dates.query_dates import AskedOffset, AskedSpan, asked_offset, asked_spans
from memory.texts.language import is_foreign
from memory.texts.terms import terms_of

KEPT_QUESTIONS: Final = 64
"""About as many as one process answers at once. A question has at most some thousand characters."""


@lru_cache(maxsize=KEPT_QUESTIONS)
def terms_in(question: str) -> tuple[str, ...]:
    """The terms of a question, in order, with repeats (:func:`memory.texts.terms.terms_of`)."""
    return tuple(terms_of(question))


@lru_cache(maxsize=KEPT_QUESTIONS)
def spans_in(question: str, today: date) -> tuple[AskedSpan, ...]:
    """The times that a question asks for (:func:`memory.dates.query_dates.asked_spans`).

    Args:
        question: The text of a query.
        today: The day on which it is asked.
    """
    return tuple(asked_spans(question, today))


@lru_cache(maxsize=KEPT_QUESTIONS)
def offset_in(question: str) -> AskedOffset | None:
    """The time that a question counts from an event (:func:`memory.dates.query_dates.asked_offset`)."""
    return asked_offset(question)


@lru_cache(maxsize=KEPT_QUESTIONS)
def is_foreign_question(question: str) -> bool:
    """Whether a question is certainly not English (:func:`memory.texts.language.is_foreign`)."""
    return is_foreign(question)
