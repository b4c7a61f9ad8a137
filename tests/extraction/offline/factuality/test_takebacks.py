"""A message that a later one takes back states nothing."""

import pytest

from extraction.offline.factuality.takebacks import without_taken_back


def kept(*conversation: str) -> list[str]:
    """The kept part of each message of Mara's; messages that begin with ``a:`` are the assistant's."""
    is_user = [not each.startswith("a: ") for each in conversation]
    questions = [[each] if each.endswith("?") and not own else [] for each, own in zip(conversation, is_user, strict=True)]
    texts = [each.removeprefix("a: ") for each in conversation]
    speakers = ["Mara" if own else "assistant" for own in is_user]
    found = without_taken_back(texts, texts, speakers, is_user, [[one.removeprefix("a: ") for one in each] for each in questions])
    return [text for text, own in zip(found, is_user, strict=True) if own]


@pytest.mark.parametrize(
    "later",
    [
        "just kidding",
        "haha as if",
        "lol no i'm not",
        "that was a joke",
        "of course it's not",
        "obviously i don't",
        "haha no, i wish",
        "Gotcha!",
        "oops wrong chat",
        "my brother typed that",
        "only for tonight though",
        "Scratch that",
        "NOT",
        "nah I sell shoes",
        "well that was last year",
        "not literally",
        "did you believe that?",
    ],
)
def test_the_message_before_a_takeback_is_not_kept(later: str) -> None:
    assert kept("I'm an astronaut", later)[0] == ""
    assert kept("I'm an astronaut", "a: Wow!", later)[0] == ""


def test_a_withdrawal_may_contain_the_right_value() -> None:
    assert kept("I'm a judge", "kidding, I'm a clerk") == ["", "I'm a clerk"]


def test_several_messages_are_withdrawn_together() -> None:
    assert kept("I'm a judge", "I live in Nassau", "just kidding, none of it is true")[:2] == ["", ""]


@pytest.mark.parametrize(
    "conversation",
    [
        ("I'm a pilot", "a: Are you flying today?", "no I'm not"),
        ("I live in Vigo", "a: Do you like it?", "not really"),
        ("I live in Vigo", "my sister is kidding me about it"),
        ("I live in Vigo", "I'm not a big fan of the rain though"),
        ("I live in Vigo", "today only two trains came late"),
    ],
)
def test_an_answer_or_a_remark_takes_nothing_back(conversation: tuple[str, ...]) -> None:
    assert kept(*conversation)[0] == conversation[0]


def test_an_echoing_question_does_not_hide_the_denial() -> None:
    assert kept("I'm a pilot", "a: Really?", "no")[0] == ""
