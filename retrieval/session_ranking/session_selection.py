"""Orders memories by the ranking of their sessions, and shares the places of the response among the sessions."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from retrieval.request import RecallHit
from retrieval.selection import Ranked
from retrieval.session_ranking.sessions import SessionKey, session_key


def chosen(found: Ranked, ranking: Sequence[SessionKey], *, limit: int) -> Ranked:
    """The memories in the order of their sessions, best first within each; then those of no ranked session.

    A session's share of the places depends on its rank, by the discount of DCG, so that the best session does not take all places.

    Args:
        found: All memories of the sessions, best first.
        ranking: The sessions, best first.
        limit: Most hits of the response.
    """
    by_session: dict[SessionKey, deque[RecallHit]] = {key: deque() for key in ranking}
    others: list[RecallHit] = []
    for hit in found.hits:
        key = session_key(hit.memory)
        if key in by_session:
            by_session[key].append(hit._replace(parts=hit.parts | {"session": _discount(ranking.index(key))}))
        else:
            others.append(hit)
    best: list[RecallHit] = []
    for key, seats in zip(ranking, _seats([len(by_session[each]) for each in ranking], limit), strict=True):
        best += [by_session[key].popleft() for _ in range(seats)]
    ranked = [*best, *(hit for key in ranking for hit in by_session[key]), *others]
    return replace(found, hits=ranked, limit=limit)


def _discount(place: int) -> float:
    return 1 / math.log2(place + 2)


def _seats(sizes: Sequence[int], limit: int) -> list[int]:
    """The number of places of each session. Each place goes to the session with the highest discount per place."""
    seats = [0] * len(sizes)
    for _ in range(min(limit, sum(sizes))):
        open_places = [place for place, size in enumerate(sizes) if seats[place] < size]
        seats[max(open_places, key=lambda place: (_discount(place) / (seats[place] + 1), -place))] += 1
    return seats
