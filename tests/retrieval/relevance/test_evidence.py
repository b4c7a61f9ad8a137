"""The score of each source message of a memory for a query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.profiles import RANKERS
from retrieval.relevance.final_score import evidence_scores
from tests.stores.factories import memory

SCORES = st.floats(0, 1)
DECAYS = st.floats(0.01, 0.99)


@given(SCORES, DECAYS, st.integers(1, 20))
def test_the_first_message_has_its_events_score(score: float, decay: float, messages: int) -> None:
    event = memory(message_ids=[f"m{index}" for index in range(messages)])
    scores = evidence_scores(event, score, decay)
    assert scores[0] == score
    assert len(scores) == messages
    assert [*scores] == sorted(scores, reverse=True)


def test_each_further_message_has_less() -> None:
    assert evidence_scores(memory(message_ids=["m1", "m2", "m3"]), 0.8, 0.5) == pytest.approx((0.8, 0.4, 0.2))


@pytest.mark.parametrize("kind", ["entity", "summary", "segment"])
def test_messages_that_have_no_order_have_one_score(kind: str) -> None:
    rests_on_many = memory(kind=kind, message_ids=["m1", "m2", "m3"])
    assert evidence_scores(rests_on_many, 0.8, 0.5) == (0.8, 0.8, 0.8)


def test_a_memory_of_no_message_has_no_scores() -> None:
    assert evidence_scores(memory(message_ids=[]), 0.8, 0.5) == ()


def test_every_ranker_has_a_decay() -> None:
    assert all(0 < each.evidence_decay < 1 for each in RANKERS.values())
