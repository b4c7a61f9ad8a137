"""How well each message that a memory rests on answers a query."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from memory.records import Memory
from runtime.settings import RankingProfile

EVIDENCE_DECAYS: Final[Mapping[RankingProfile, float]] = MappingProxyType({"learned": 0.8, "weighted": 0.95, "memx": 0.95})
"""What each further message of an event has of the score of the one before it, by the base of the profile: the scores of one reach from 0
to 1, those of another lie close together. Measured on a model's events (docs/internals/adr/0030)."""


def evidence_scores(memory: Memory, score: float, decay: float) -> tuple[float, ...]:
    """The scores of a memory's messages, in their order.

    An event names the message that tells most of it first, so what is further behind answers less. Other memories rest on many messages,
    of which none comes before another.

    Args:
        memory: What the query found.
        score: How well it answers, in [0, 1].
        decay: See :data:`EVIDENCE_DECAYS`.
    """
    messages = len(memory.message_ids)
    if messages == 1 or memory.kind != "event":
        return (score,) * messages
    return tuple(score * decay**place for place in range(messages))
