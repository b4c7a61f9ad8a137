"""Families of wording that conversations showed which nobody tuned on."""

import pytest

from extraction.offline.events.type_forms import form_of
from extraction.offline.factuality.frames import Said, own_texts
from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    "before",
    [
        "the mock is in January",
        "a: Good. Any exercise today?",
        "they put me on it in spring, like everybody",
        "I put salt on everything",
        "say I have 40 pounds, then it is enough",
    ],
)
def test_everyday_words_set_no_frame(before: str) -> None:
    role, speaker = ("assistant", "bot") if before.startswith("a: ") else ("user", "Mara")
    said = [Said(role, speaker, before.removeprefix("a: ")), Said("user", "Mara", "I live in Tromsø.")]
    assert own_texts(said)[1] == "I live in Tromsø."


@pytest.mark.parametrize("before", ["Let's do a mock interview.", "a: Exercise: introduce yourself."])
def test_a_mock_interview_and_a_task_set_one(before: str) -> None:
    role, speaker = ("assistant", "bot") if before.startswith("a: ") else ("user", "Mara")
    said = [Said(role, speaker, before.removeprefix("a: ")), Said("user", "Mara", "I live in Tromsø.")]
    assert own_texts(said)[1] == ""


@pytest.mark.parametrize(
    ("messages", "facts"),
    [
        (("Liver I can't eat.",), ["avoid liver"]),
        (("Beer I never drink.",), ["avoid beer"]),
        (("Opera is kind of my thing.",), ["like opera"]),
        (("I quit smoking in June.",), ["avoid smoking"]),
        (("We gave up dairy last year.",), ["avoid dairy"]),
        (("I'm happy with anything except olives.",), ["dislike olives"]),
        (("my boss craig is ill",), ["boss Craig"]),
        (("Ruben is coming along, my nephew.",), ["nephew Ruben"]),
        (("I train with Jonas, he is my flatmate from Norway.",), ["flatmate Jonas"]),
        (("Greta can't come.", "A: And Greta is?", "My niece."), ["niece Greta"]),
        (("My wife Ann and I got a puppy. His name is Rex.",), ["wife Ann", "puppy Rex"]),
        (("I can't stand hostels anymore.",), ["dislike hostels"]),
        (("Oats are giving me stomach problems.",), ["dislike oats"]),
    ],
)
def test_facts_in_these_orders_are_read(messages: tuple[str, ...], facts: list[str]) -> None:
    assert stated(*messages) == facts


@pytest.mark.parametrize("text", ["Fine with me.", "Better by train.", "Good. Next: the budget.", "I'm fine with anything but eels."])
def test_a_judgement_is_no_mood(text: str) -> None:
    form = form_of("mood")
    assert form is not None
    assert form.search(text) is None


@pytest.mark.parametrize("text", ["I'm fine.", "Good, thanks!", "Long day. Exhausted.", "felt really proud", "I feel better today."])
def test_a_feeling_is_a_mood(text: str) -> None:
    form = form_of("mood")
    assert form is not None
    assert form.search(text) is not None


@pytest.mark.parametrize(
    "text", ["Saturday we're rafting down the Soča.", "I start as a cook on 19 August.", "Interview at the mill next Tuesday!"]
)
def test_an_arranged_day_is_a_plan(text: str) -> None:
    form = form_of("plan")
    assert form is not None
    assert form.search(text) is not None


@pytest.mark.parametrize("text", ["I play chess every Sunday.", "I met her on Sunday.", "On Sundays we swim."])
def test_a_habit_or_past_is_no_plan(text: str) -> None:
    form = form_of("plan")
    assert form is not None
    assert form.search(text) is None
