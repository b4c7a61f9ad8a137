"""Keeps an event once that a session tells twice, as far as words and vectors alone tell: nobody is asked, so what is in doubt stays."""

from collections.abc import Sequence
from dataclasses import replace

from extraction.bounds import MAX_KEYWORDS
from extraction.dedup import Candidate, Thresholds, compare, merge
from extraction.drafts import Draft
from extraction.statements import either_says_all
from models.embedding.port import Vector


def may_hold_repetitions(candidates: Sequence[Candidate]) -> bool:
    """Whether any of the window's events holds all the words of another one, or it of them: only then vectors are worth their cost.

    Args:
        candidates: The session's events, then the window's.
    """
    return any(
        later.type == earlier.type and either_says_all(earlier.statement, later.statement)
        for place, later in enumerate(candidates)
        if not later.is_laid_down
        for earlier in candidates[:place]
    )


def without_repetitions(draft: Draft, candidates: Sequence[Candidate], vectors: Sequence[Vector], thresholds: Thresholds) -> Draft:
    """The draft with each event once, and without those that the session has laid down before.

    Args:
        draft: What was found in the window.
        candidates: The session's events, then the draft's.
        vectors: Of the candidates' contents, in the same order.
        thresholds: The cosines to go by.
    """
    same, _ = compare(candidates, vectors, thresholds)
    events = merge(draft.events, len(candidates) - len(draft.events), same, draft.tally)
    return replace(draft, events=tuple(replace(each, keywords=each.keywords[:MAX_KEYWORDS]) for each in events))
