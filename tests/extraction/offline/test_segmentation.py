from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from extraction.offline.segmentation import GAP_MODEL, Utterance, boundaries, depth_scores, gap_features, topics, window_similarity
from models.embedding.port import Embedding

TOPICS = np.eye(6, dtype=np.float32)


def utterance(topic: int, text: str = "the plain words of it", *, late: bool = True) -> Utterance:
    vector = TOPICS[topic] + 0.01 * TOPICS[5]
    dense = (vector / np.linalg.norm(vector)).astype(np.float32)
    return Utterance(text, Embedding(dense=dense, late=dense[None, :] if late else None))


def utterances_of(*numbers: int, late: bool = True) -> list[Utterance]:
    return [utterance(number, late=late) for number in numbers]


def probability(utterances: list[Utterance]) -> float:
    """The probability of a boundary in the middle of four utterances."""
    return float(GAP_MODEL.probabilities(gap_features(utterances))[1])


def test_depth_is_measured_from_the_peaks_on_both_sides() -> None:
    depths = depth_scores(np.array([0.9, 0.4, 0.2, 0.5, 0.8, 0.7]))

    np.testing.assert_allclose(depths, [0.0, 0.5, 1.3, 0.3, 0.0, 0.1], atol=1e-12)


def test_window_similarity_compares_the_means_on_both_sides() -> None:
    similarity = window_similarity(utterances_of(0, 0, 1, 1), 2)

    assert similarity[1] < 0.01
    assert similarity[0] > 0.5
    assert similarity[2] > 0.5


def test_a_plain_change_of_topic_is_found() -> None:
    for late in (True, False):
        assert boundaries(utterances_of(0, 0, 0, 0, 1, 1, 1, 1, late=late)) == [4]


def test_one_topic_has_no_boundary() -> None:
    assert boundaries(utterances_of(0, 0, 0, 0, 0, 0)) == []


def test_words_move_the_likelihood_of_a_gap() -> None:
    plain = utterances_of(0, 0, 1, 1)
    reply = [*plain[:2], utterance(1, "yes , it is"), plain[3]]
    opener = [
        plain[0],
        utterance(0, "thank you , goodbye"),
        utterance(1, "can you find a cheap hotel near the station for two nights ?"),
        plain[3],
    ]

    assert probability(reply) < probability(plain) < probability(opener)


def test_separate_stretches_on_one_topic_are_joined() -> None:
    assert topics(utterances_of(0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0)) == [((0, 3), (8, 11)), ((4, 7),)]


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["hi ?", "yes", "thanks, bye", "i need a train to york", ""])), max_size=30))
def test_every_utterance_is_in_exactly_one_topic(talk: list[tuple[int, str]]) -> None:
    utterances = [utterance(topic, text) for topic, text in talk]

    found = topics(utterances)

    covered = [index for stretches in found for first, last in stretches for index in range(first, last + 1)]
    assert sorted(covered) == list(range(len(talk)))
    assert [stretches[0] for stretches in found] == sorted(stretches[0] for stretches in found)
    assert all(one[1] + 1 < other[0] for stretches in found for one, other in pairwise(stretches))
