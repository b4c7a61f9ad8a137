"""Scores of the working LLM's answers: F1 of words, exact match, or accuracy of an option (MemSifter 4.1 and table 9).

Numbers count as words. The public release drops them, so that a wrong date or price scores as a right one.
"""

import re
from typing import Final, Literal, get_args

from evaluation.qa.measures import token_f1

Scoring = Literal["auto", "f1", "exact", "option"]
"""``auto``: ``option`` if the right answer is one, such as "(b)", else ``f1``."""
SCORINGS: Final[tuple[Scoring, ...]] = get_args(Scoring)

_OPTION_ONLY: Final = re.compile(r"\s*\(?([a-z])\)?[.:]?\s*", re.IGNORECASE)
_PARENTHESES: Final = re.compile(r"\(([a-z])\)", re.IGNORECASE)
_AT_START: Final = re.compile(r"\s*(?:the\s+)?(?:correct\s+)?(?:answer|option)?(?:\s+is)?\s*:?\s*\(?([a-z])(?:[).:]|\s*$)", re.IGNORECASE)


def score(answer: str, right: str, *, scoring: Scoring = "auto") -> float:
    """Scores an answer, in [0, 1].

    Args:
        answer: The answer.
        right: The right answer.
        scoring: The kind of score.
    """
    if scoring == "auto":
        scoring = "option" if _OPTION_ONLY.fullmatch(right) else "f1"
    match scoring:
        case "f1":
            return token_f1(answer, right)
        case "exact":
            return float(" ".join(answer.lower().split()).strip(" .") == " ".join(right.lower().split()).strip(" ."))
        case "option":
            chosen = option_of(answer)
            return float(chosen is not None and chosen == option_of(right))


def option_of(answer: str) -> str | None:
    """The option that an answer names, as a letter: "(b)", "b)", "The answer is b." None: none, or more than one."""
    alone = _OPTION_ONLY.fullmatch(answer)
    if alone is not None:
        return alone[1].lower()
    named = {each.lower() for each in _PARENTHESES.findall(answer)}
    if named:
        return named.pop() if len(named) == 1 else None
    first = _AT_START.match(answer)
    return None if first is None else first[1].lower()
