"""The forms that statements of event types have."""

import pytest

from extraction.offline.events.type_forms import form_of, open_form_of
from extraction.offline.factuality.moods import is_plain


def forms_of(text: str) -> set[str]:
    found = {name: form_of(name) for name in ("life_event", "plan", "workout")}
    return {name for name, form in found.items() if form is not None and form.search(text) and is_plain(text)}


@pytest.mark.parametrize(
    "text",
    [
        "My uncle broke his hip.",
        "My niece was born on Sunday.",
        "my mum was diagnosed with diabetes",
        "Our grandma is in hospital.",
        "My sister has cancer.",
        "Rosa and I split up.",
        "My wife and I are getting divorced.",
        "We had a baby girl!",
        "My brother got engaged yesterday.",
    ],
)
def test_family_events_are_life_events(text: str) -> None:
    assert "life_event" in forms_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "I have a blood test on the 4th.",
        "I've got an interview next Monday.",
        "I have surgery on the 12th.",
        "I'm going to see the dentist on the 4th.",
        "My train to Ghent leaves tomorrow at 7.",
        "My sister is coming on Sunday.",
        "Dentist on Friday at 10",
    ],
)
def test_appointments_ahead_are_plans(text: str) -> None:
    assert forms_of(text) == {"plan"}


@pytest.mark.parametrize(
    "text",
    [
        "An hour of spinning, 25 km.",
        "30 minutes on the treadmill, 5 km",
        "Leg day: 45 minutes of squats",
        "Bike ride, 40 km in 2 hours",
        "5k this morning in 27 min 💪",
    ],
)
def test_workouts_need_no_verb(text: str) -> None:
    assert forms_of(text) == {"workout"}


@pytest.mark.parametrize(
    "text",
    [
        "The treadmill costs 500 euros.",
        "20 minutes by bus to the gym",
        "Our run of bad luck lasted 3 hours.",
        "The 10 km run takes an hour.",
        "2 hours of tennis on TV",
        "My code was born out of despair.",
        "I had an appointment on Tuesday, it went fine.",
        "I have a class on Sundays.",
        "My phone died.",
        "Is there an appointment on the 4th?",
        "I did not know that Ida was coming.",
        "Everything we discussed is in the draft.",
        "Hang in there, you'll find a flat soon!",
        "I fly south in the winter.",
    ],
)
def test_other_statements_have_no_type(text: str) -> None:
    assert forms_of(text) == set()


@pytest.mark.parametrize("text", ["I'm worn out.", "Feeling low today.", "So proud of my son!", "I felt lonely."])
def test_own_feelings_are_moods(text: str) -> None:
    assert is_mood(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'm good at chess.",
        "It must have felt great to win.",
        "Call when someone is feeling down.",
        "Content analysis of nine interviews",
    ],
)
def test_abilities_and_others_feelings_are_no_moods(text: str) -> None:
    assert not is_mood(text)


def is_mood(text: str) -> bool:
    form, open_form = form_of("mood"), open_form_of("mood")
    assert form is not None
    assert open_form is not None
    return bool(form.search(text) or open_form.search(text))


@pytest.mark.parametrize("text", ["great what is your favourite hat", "so do you like jazz"])
def test_an_unmarked_question_states_nothing(text: str) -> None:
    assert not is_plain(text)
