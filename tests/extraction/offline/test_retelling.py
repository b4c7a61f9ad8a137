"""What a window's messages say, as a model's events are found by it."""

from extraction.bounds import LONGEST_SAID
from extraction.offline.paraphrase import retold
from memory.text import content_hash
from tests.extraction.windows import window_of


def told(*messages: str | dict[str, object], recalled: str = "") -> dict[int, str]:
    return dict(retold(window_of(*messages, speaker="Ann"), frozenset({content_hash(recalled)} if recalled else ())))


def test_names_and_days_stand_in_it() -> None:
    assert told("I moved to Oslo yesterday.") == {0: "Ann (8 May 2023): Ann moved to Oslo yesterday (7 May 2023)."}


def test_an_answer_is_told_with_its_question() -> None:
    question: dict[str, object] = {"text": "Where did you move to?", "speaker": "Bob"}
    assert told(question, "To Oslo, last week.") == {
        1: "Ann (8 May 2023): To Oslo, last week (week of 1 May 2023). (answering Bob: Where did Ann move to?)"
    }


def test_what_says_nothing_by_itself_is_left_out() -> None:
    assert told("Hey!", {"text": "I moved to Oslo.", "role": "system"}, "") == {}


def test_what_a_recall_brought_up_is_left_out() -> None:
    recalled = "Ann is allergic to peanuts and to walnuts."
    assert told(recalled, "I bake a cake for Sunday.", recalled=recalled) == {1: "Ann (8 May 2023): Ann bakes a cake for Sunday."}


def test_a_long_message_is_cut() -> None:
    (text,) = told(" ".join(f"I planted {number} trees in the garden." for number in range(200))).values()
    assert text.startswith("Ann (8 May 2023): Ann planted 0 trees")
    assert len(text) <= LONGEST_SAID
