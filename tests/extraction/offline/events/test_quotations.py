"""The words and the search text of a window's messages, by which a model's events are found."""

from extraction.bounds import LONGEST_SAID
from extraction.offline.events.quotations import quotations
from memory.texts.text import content_hash
from tests.extraction.windows import window_of


def quoted(*messages: str | dict[str, object], recalled: str = "") -> dict[int, tuple[str, str]]:
    found = quotations(window_of(*messages, speaker="Ann"), frozenset({content_hash(recalled)} if recalled else ()))
    return {index: tuple(each) for index, each in found.items()}  # type: ignore[misc]


def test_only_the_search_text_names_speaker_and_day() -> None:
    assert quoted("I moved to Oslo yesterday.") == {
        0: ("Ann: I moved to Oslo yesterday.", "Ann (8 May 2023): Ann moved to Oslo yesterday (7 May 2023).")
    }


def test_only_the_search_text_has_the_question() -> None:
    question: dict[str, object] = {"text": "Where did you move to?", "speaker": "Bob"}
    said, searched = quoted(question, "To Oslo, last week.")[1]
    assert said == "Ann: To Oslo, last week."
    assert searched == "Ann (8 May 2023): To Oslo, last week (week of 1 May 2023). (answering Bob: Where did Ann move to?)"


def test_fillers_and_system_prompts_are_left_out() -> None:
    assert quoted("Hey!", {"text": "I moved to Oslo.", "role": "system"}, "") == {}


def test_echoes_of_a_recall_are_left_out() -> None:
    recalled = "Ann is allergic to peanuts and to walnuts."
    assert list(quoted(f"- {recalled}", "I bake a cake for Sunday.", recalled=recalled)) == [1]


def test_a_long_message_is_cut() -> None:
    ((said, searched),) = quoted(" ".join(f"I planted {number} trees in the garden." for number in range(200))).values()
    assert said.startswith("Ann: I planted 0 trees")
    assert searched.startswith("Ann (8 May 2023): Ann planted 0 trees")
    assert max(len(said), len(searched)) <= LONGEST_SAID
