"""What an embeddings endpoint's errors say of the texts it was sent."""

import re
from datetime import datetime
from typing import Final

from openai import APIError, APIStatusError

from models.embedding.errors import InputTooLongError, UnusableVectorError
from models.errors import ModelError
from models.faults import model_error, words_of

_TOO_LONG: Final = re.compile(
    r"too (?:long|large|many tokens)|(?:maximum|max) (?:context|input|sequence)|context (?:length|window|size)|token limit|exceed"
    r"|longer than|(?:less|fewer) than \d+ tokens",
    re.IGNORECASE,
)
_TOO_LONG_AS_A_FAULT: Final = re.compile(
    r"\b(?:inputs?|prompt|text|sequence|tokens)\b[^.]{0,40}\b(?:too (?:long|large)|exceeds?\b)|maximum context", re.IGNORECASE
)
"""Of a status 500 more must be said: it is mostly an outage, and ``exceeds`` may be said of the server's own memory."""
_NOT_FINITE: Final = re.compile(r"\bnan\b|[+-]inf\b|\binfinity\b|not JSON compliant", re.IGNORECASE)
"""Servers that cannot write their own vectors: Go's ``unsupported value: NaN``, Python's ``not JSON compliant``."""
_FORMAT: Final = "encoding_format"


def embedding_error(error: APIError, *, endpoint: str, now: datetime) -> ModelError:
    """The error of ours that an error of the client stands for.

    Args:
        error: What the client raised.
        endpoint: The endpoint's name, for the message.
        now: The time, for a ``Retry-After`` that is a date.

    Returns:
        An :class:`InputTooLongError` for 413, for 400 and 422 that speak of a text's length, and for such a 500 (llama.cpp); an
        :class:`UnusableVectorError` for a 500 over a vector that cannot be written; else as :func:`models.faults.model_error`.
    """
    meant = model_error(error, endpoint=endpoint, now=now)
    if not isinstance(error, APIStatusError):
        return meant
    words = words_of(error)
    match error.status_code:
        case 413:
            return InputTooLongError(str(meant))
        case 400 | 422 if _TOO_LONG.search(words):
            return InputTooLongError(str(meant))
        case 500 if _TOO_LONG_AS_A_FAULT.search(words):
            return InputTooLongError(str(meant))
        case 500 if _NOT_FINITE.search(words):
            return UnusableVectorError(str(meant))
        case _:
            return meant


def is_of_the_format(error: APIStatusError) -> bool:
    """Whether an endpoint refuses a request because of the ``encoding_format`` that it names."""
    return error.status_code in {400, 422} and _FORMAT in words_of(error)
