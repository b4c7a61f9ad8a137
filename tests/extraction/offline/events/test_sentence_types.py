"""The types of sentences: plans, promises and events of a life, one sentence of a message at a time."""

import pytest

from extraction.offline.events.type_forms import form_of, open_form_of
from extraction.offline.factuality.moods import stated_plainly
from extraction.offline.grammar.plan_forms import promised_act
from extraction.offline.rewriting.spoken_style import in_standard_english


def types_of(text: str) -> set[str]:
    sentences = stated_plainly(in_standard_english(text))
    forms = {name: form_of(name) for name in ("plan", "promise", "life_event")}
    return {name for name, form in forms.items() if form is not None and any(form.search(each) for each in sentences)}


@pytest.mark.parametrize(
    "text",
    [
        "I'm at the clinic on Monday.",
        "We've guests on Saturday. Nothing fancy.",
        "off to lisbon w my sis on the 3rd",
        "I'm gonna sell the van in spring.",
        "In two weeks we sail to Corsica.",
        "Theo is driving us to the airport on Friday.",
        "Piano exam on 9 May",
        "got my eye test thursday",
        "Our daughter starts school in September.",
        "I have to renew my passport before Easter.",
        "So happy I could cry. We fly on Tuesday!",
    ],
)
def test_a_present_with_a_time_ahead_is_a_plan(text: str) -> None:
    assert "plan" in types_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "I feel low in November.",
        "The match is on Saturday.",
        "We moved here in March.",
        "No meeting on Monday.",
        "Phase I begins in May.",
        "I'm not flying on Tuesday.",
        "If it rains we drive home on Monday.",
        "I was at the clinic on Monday.",
        "I swim every Monday.",
        "Would you fly on Tuesday?",
        "The second child sleeps, and I drink tea.",
        "I'm going to be honest with you.",
        "She wrote: 'we fly on Tuesday, come along'",
    ],
)
def test_other_times_are_no_plan(text: str) -> None:
    assert "plan" not in types_of(text)


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("I told Ines I'd repair her bike by Sunday.", "to repair her bike by Sunday"),
        ("Promised my daughter that we'll build a treehouse", "to build a treehouse"),
        ("I pledge that I'll call the landlord.", "to call the landlord"),
        ("I've given Ines my word, if she passes.", None),
    ],
)
def test_a_speech_act_is_a_promise(text: str, act: str | None) -> None:
    assert "promise" in types_of(text)
    assert promised_act(stated_plainly(text)) == act


@pytest.mark.parametrize(
    "text", ["I told Ines I'd love to.", "She told me I'd win.", "Did I promise that?", "I told him I'd never been there."]
)
def test_other_reports_are_no_promise(text: str) -> None:
    assert "promise" not in types_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "Fired by text message.",
        "I've been accepted in Ghent!",
        "They offered me the night shift.",
        "Ines had a stroke and we sat with her all night.",
        "One of the cats had to be put down.",
        "my parents split up when i was six",
        "ma sister's gettin merrit",
        "My cousin bought a bakery.",
        "It rained. My nephew passed his exam.",
    ],
)
def test_what_happens_to_somebody_close_is_an_event(text: str) -> None:
    assert "life_event" in types_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "We got this!",
        "Excited for the summer.",
        "Napoleon had a fall.",
        "They let me know.",
        "My brother is a baker.",
        "My sister works in a hospital.",
        "I am chosen family to nobody? Who said that?",
    ],
)
def test_other_sentences_are_no_event(text: str) -> None:
    assert "life_event" not in types_of(text)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("Feeling wobbly today", True),
        ("I'm properly chuffed", True),
        ("I do be homesick in the winters.", True),
        ("I'm in Ghent", False),
        ("I'm working late", False),
        ("I'm trying to", False),
        ("I'm used to it", False),
    ],
)
def test_any_word_may_fill_the_slot_of_a_mood(text: str, fits: bool) -> None:
    form = open_form_of("mood")
    assert form is not None
    assert (form.search(in_standard_english(text)) is not None) is fits
