"""The conversation around a candidate: features of the messages near it and of its session.

A chat message often answers or continues another one, and lacks the words that the question asks for: "the 21st now" after "how is the
move going". Its neighbours among the candidates say what it is about.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from statistics import fmean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.records import Memory
from retrieval.relevance.feature_vector import FeatureVector

NEIGHBOURHOOD: Final = 2
"""Turns on each side."""
_BEST_OF_SESSION: Final = 3
_NEARBY_TURNS: Final = 1.5
"""Distance in turns at which the influence of a near candidate falls to 1/e."""
_DENSE_SHARE: Final = 0.3
"""Weight of the dense cosine relative to late interaction, in the score of a near candidate."""
_USER: Final = "user"
"""The speaker of a message with this role and without a name: the human in a chat with an assistant."""
_ROLES: Final = frozenset({_USER, "assistant"})
_RECENT_DAYS: Final = 7.0
_DAY_S: Final = 86400.0


def neighbours_of(memories: Sequence[Memory]) -> NDArray[np.bool_]:
    """For each memory, which others are in the same window and up to two turns away, but not in the same turn."""
    by_turn: dict[tuple[str | None, str, int], list[int]] = defaultdict(list)
    for index, memory in enumerate(memories):
        if memory.window_id is not None and memory.turn is not None:
            by_turn[memory.user, memory.window_id, memory.turn].append(index)
    pairs: list[tuple[int, int]] = []
    for (user, window, turn), indices in by_turn.items():
        for step in range(1, NEIGHBOURHOOD + 1):
            pairs += itertools.product(indices, by_turn.get((user, window, turn + step), ()))
    found = np.zeros((len(memories), len(memories)), dtype=np.bool_)
    if pairs:
        one, other = zip(*pairs, strict=True)
        found[one, other] = found[other, one] = True
    return found


def nearby_scores(memories: Sequence[Memory], late: FeatureVector, dense: FeatureVector) -> FeatureVector:
    """For each memory, ``log(1 + sum(exp(-|distance| / 1.5) * exp(late + 0.3 * dense)))`` over the others of its window.

    ``distance`` is the difference of the turns; memories of the same turn do not count. The decay with the distance is the exponential
    variant of the proximity kernels of positional language models (Lv and Zhai 2009, section 3.2).

    Args:
        memories: The candidates.
        late: Their standardised scores of late interaction.
        dense: Their standardised cosines.
    """
    found = np.zeros(len(memories))
    strength = np.exp(late + _DENSE_SHARE * dense)
    by_window: dict[tuple[str | None, str], list[int]] = defaultdict(list)
    for index, memory in enumerate(memories):
        if memory.window_id is not None and memory.turn is not None:
            by_window[memory.user, memory.window_id].append(index)
    for members in by_window.values():
        if len(members) > 1:
            turns = np.array([memories[index].turn for index in members], dtype=np.float64)
            distance = np.abs(turns[:, np.newaxis] - turns)
            found[members] = np.where(distance > 0, np.exp(-distance / _NEARBY_TURNS), 0.0) @ strength[members]
    return np.log1p(found)


def session_late(memories: Sequence[Memory], late: FeatureVector) -> FeatureVector:
    """For each memory, the mean of the three best of its session; less for a session of fewer candidates, -1 without a session.

    Args:
        memories: The candidates.
        late: Their standardised scores of late interaction.
    """
    by_session: dict[tuple[str | None, str], list[float]] = defaultdict(list)
    for memory, score in zip(memories, late.tolist(), strict=True):
        if memory.session is not None:
            by_session[memory.user, memory.session].append(score)
    best = {
        session: fmean(sorted(scores)[-_BEST_OF_SESSION:]) * min(1.0, len(scores) / _BEST_OF_SESSION)
        for session, scores in by_session.items()
    }
    return np.array([best.get((memory.user, memory.session or ""), -1.0) for memory in memories])


def session_size(memories: Sequence[Memory]) -> FeatureVector:
    """For each memory, the logarithm of the number of its session's candidates; 0 without a session."""
    sessions = [(memory.user, memory.session) for memory in memories]
    sizes = Counter(sessions)
    return np.array([0.0 if each[1] is None else math.log(sizes[each]) for each in sessions])


def openings(memories: Sequence[Memory]) -> FeatureVector:
    """For each memory, 1 / (1 + its turn in its window) if the human of a chat with an assistant said it, else 0.

    In such a chat, the first message of the human states the task, and later ones add to it.
    """
    return np.array([1 / (1 + memory.turn) if memory.speaker == _USER and memory.turn is not None else 0.0 for memory in memories])


def is_with_assistant(memories: Iterable[Memory]) -> bool:
    """Whether at least half of what is found is of chats with an assistant, and not of conversations among people.

    In the former, a message without a name has its role as the speaker. Memories without a speaker, which a model worded, do not count; if
    there are no others, the answer is True.

    Args:
        memories: The candidates.
    """
    said = [((memory.user, memory.session), memory.speaker) for memory in memories if memory.speaker is not None]
    with_role = {session for session, speaker in said if speaker in _ROLES}
    return 2 * sum(session in with_role for session, _ in said) >= len(said)


def recency(memories: Sequence[Memory], now: datetime) -> FeatureVector:
    """For each memory, 1 at ``now`` or later, halved with each week before.

    Args:
        memories: The candidates.
        now: The moment of the query.
    """
    ages = np.array([max(0.0, (now - memory.event_time).total_seconds() / _DAY_S) for memory in memories])
    return np.asarray(2.0 ** (-ages / _RECENT_DAYS))
