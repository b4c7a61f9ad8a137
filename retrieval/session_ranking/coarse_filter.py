"""The coarse filter (MemSifter, appendix A): which sessions the proxy model reads if not all fit into its prompt.

A filter gives each session a score for the query. The best sessions are kept until the number of tokens is reached; there is no threshold.

- ``recall``: the mean of the best three scores of the session's memories in the recall pipeline.
- ``bm25``: BM25 of the session's whole text, with document frequencies among the sessions.
- ``cosine``: the cosine of the query and the session, as in the paper. The paper embeds a session as one text with a model that reads
  8,192 tokens. Here a session's cosine is the mean of the best three of its memories, whose vectors are stored: a model that reads 256
  tokens suffices, and a recall embeds nothing but the query.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from math import log
from typing import Final

from memory.texts.terms import terms_of
from retrieval.request import RecallHit
from retrieval.session_ranking.sessions import SessionKey, SessionText, session_key
from runtime.pieces import map_in_pieces
from runtime.settings import SiftFilter
from stores.lexical_analysis import K1, B

_BEST_OF_SESSION: Final = 3
"""A session's score is the mean of its best three memories: on LoCoMo and RealMem better than the best one, or than a sum."""


async def filter_scores(name: SiftFilter, sessions: Sequence[SessionText], hits: Sequence[RecallHit], query: str) -> list[float]:
    """The score of each session; 0: nothing in it matches.

    Args:
        name: The filter.
        sessions: The sessions.
        hits: The memories of the sessions, ranked by the recall pipeline; for ``cosine``, with their parts.
        query: The query's text.
    """
    if name == "bm25":
        return await bm25_scores(sessions, query)
    scores = cosine_scores(hits) if name == "cosine" else recall_scores(hits)
    return [scores.get(each.key, 0.0) for each in sessions]


def recall_scores(hits: Iterable[RecallHit]) -> dict[SessionKey, float]:
    """The mean of the best scores of each session's memories."""
    return _means_of_best((hit, hit.score) for hit in hits)


def cosine_scores(hits: Iterable[RecallHit]) -> dict[SessionKey, float]:
    """The mean of the best cosines of each session's memories."""
    return _means_of_best((hit, hit.parts.get("dense", 0.0)) for hit in hits)


async def bm25_scores(sessions: Sequence[SessionText], query: str) -> list[float]:
    """BM25 of each session (Robertson and Zaragoza 2009, section 3.4). The average length is that of these sessions."""
    asked = Counter(terms_of(query))
    terms = iter(await map_in_pieces(lambda line: [*terms_of(line)], [line for each in sessions for line in each.lines]))
    counts = [Counter(chain.from_iterable(islice(terms, len(each.lines)))) for each in sessions]
    lengths = [each.total() for each in counts]
    average = sum(lengths) / max(len(lengths), 1) or 1.0
    frequency = {term: sum(term in each for each in counts) for term in asked}
    idf = {term: log(1 + (len(counts) - number + 0.5) / (number + 0.5)) for term, number in frequency.items()}
    return [
        sum(
            times * idf[term] * found[term] * (K1 + 1) / (found[term] + K1 * (1 - B + B * length / average))
            for term, times in asked.items()
            if found[term]
        )
        for found, length in zip(counts, lengths, strict=True)
    ]


def within_budget(sessions: Sequence[SessionText], scores: Sequence[float], tokens: int) -> list[SessionText]:
    """All sessions if they fit, else those with the highest scores that fit, in the same order. Sessions that are too long are skipped.

    Args:
        sessions: The sessions.
        scores: Their scores. Of equal scores, the later session is kept.
        tokens: Most tokens of all sessions together.
    """
    if sum(each.tokens for each in sessions) <= tokens:
        return list(sessions)
    kept: set[int] = set()
    for place in sorted(range(len(sessions)), key=lambda place: (-scores[place], -place)):
        if sessions[place].tokens <= tokens:
            kept.add(place)
            tokens -= sessions[place].tokens
    return [each for place, each in enumerate(sessions) if place in kept]


def _means_of_best(scored: Iterable[tuple[RecallHit, float]]) -> dict[SessionKey, float]:
    by_session: dict[SessionKey, list[float]] = defaultdict(list)
    for hit, score in scored:
        key = session_key(hit.memory)
        if key is not None:
            by_session[key].append(score)
    best = {key: sorted(scores, reverse=True)[:_BEST_OF_SESSION] for key, scores in by_session.items()}
    return {key: sum(scores) / len(scores) for key, scores in best.items()}
