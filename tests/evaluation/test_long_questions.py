"""Questions in more words are long for the ranking, and ask the same."""

from evaluation.recall.long_questions import in_more_words
from retrieval.rankers.fitted_models import LONGEST_QUESTION

QUESTIONS = [f"Who has {number} dogs?" for number in range(100)]


def test_every_question_becomes_long_and_keeps_its_words() -> None:
    for question in QUESTIONS:
        assert question in in_more_words(question)
        assert len(in_more_words(question).split()) > LONGEST_QUESTION


def test_a_question_has_one_frame_and_all_frames_occur() -> None:
    frames = [in_more_words(question).replace(question, "") for question in QUESTIONS]
    assert frames == [in_more_words(question).replace(question, "") for question in QUESTIONS]
    assert len(set(frames)) == 8
