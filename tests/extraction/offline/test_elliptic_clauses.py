"""Clauses that leave out their subject, their verb or "my", and frames that take any word."""

import pytest

from extraction.offline.events.type_forms import form_of
from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        # no subject
        ("Spend most mornings rowing on the canal.", "like rowing on the canal"),
        ("Haven't drunk milk since 2011.", "avoid milk"),
        ("usually do the crossword on Sundays", "habit usually do the crossword on Sundays"),
        ("wine drinker here", "like wine"),
        ("have been a vegan since 2009", "diet vegan"),
        ("I love me some flatbread", "like flatbread"),
        ("more of a beach person honestly", "like beach"),
        # no "my"
        ("Brother's Otto, he's away.", "brother Otto"),
        ("cat is called Pepper", "cat Pepper"),
        # lists of predicates
        ("33, dad of two, welder by trade", "occupation welder"),
        ("I'm 52, divorced, a cab driver", "occupation cab driver"),
        # a parent of named children
        ("I'm a proud mum of Nils (5) and Freya", "child Nils"),
        ("Father of Amara and Kofi.", "child Kofi"),
        # a name begins a clause
        ("I was born in Lagos but Cork has been home for nine years", "home Cork"),
        ("I'm Chilean and Turin is home now", "home Turin"),
        ("Graz's been home since 2017", "home Graz"),
        # homes
        ("Home's a caravan in Devon", "home Devon"),
        ("shifted to Nagpur in March", "home Nagpur"),
        ("I've moved back in with my aunt in Porto", "home Porto"),
        ("My cousin Ilse lives with us in Gdańsk", "home Gdańsk"),
        ("We moved house in May, we're in Tromsø now", "home Tromsø"),
        # habits with any verb
        ("we normally order noodles on Thursdays", "habit normally order noodles on Thursdays"),
        ("I bike to work", "habit bike to work"),
        # work, names, food
        ("I do upholstery full time", "occupation do upholstery"),
        ("The name's Alexandros but Alex is fine.", "name Alex"),
        ("Kindly note we do not take beef.", "avoid beef"),
        ("I take my coffee white with one sugar", "like coffee white with one sugar"),
        ("Cheese makes me really ill.", "dislike cheese"),
    ],
)
def test_elliptic_clauses_and_open_frames_state_facts(message: str, fact: str) -> None:
    assert fact in stated(message)


@pytest.mark.parametrize(
    "message",
    [
        "Spend every penny you have!",
        "Haven't heard back since 2011.",
        "haven't had coffee since this morning",
        "usually the bus is late on Sundays",
        "more of a suggestion than a rule",
        "big fan here",
        "have been to Rome twice since 2009",
        "You would love me some day.",
        "Brother's Volvo is gone.",
        "Dad of the groom cried.",
        "I'm not a dad to Kofi.",
        "33 welders were hired.",
        "I'm starving, chef",
        "Cork is home to great bakers.",
        "She said Turin is home.",
        "Her home's a caravan in Devon",
        "My sister was ill, moved to Porto last year",
        "I moved back in with my aunt in Porto for a week",
        "My cousin's friend lives with her in Gdańsk",
        "They moved house in May, we're in Tromsø now",
        "we normally deploy the service on Thursdays",
        "I used to bike to work",
        "My uncle does upholstery full time",
        "I do not take criticism well",
        "I take my time with no hurry",
        "Do people usually do the crossword on Sundays?",
    ],
)
def test_similar_clauses_state_none(message: str) -> None:
    assert stated(message) == []


@pytest.mark.parametrize(
    ("message", "event_type"),
    [
        ("I've finally decided to learn Welsh.", "plan"),
        ("My driving test has been moved to the 21st.", "plan"),
        ("absolutely drained after that meeting", "mood"),
        ("she got the part, so proud of her", "mood"),
        ("this laptop is driving me up the wall", "mood"),
        ("My best mate is emigrating.", "life_event"),
    ],
)
def test_open_forms_tell_event_types(message: str, event_type: str) -> None:
    form = form_of(event_type)
    assert form is not None
    assert form.search(message) is not None


@pytest.mark.parametrize(
    ("message", "event_type"),
    [
        ("I haven't had a cigarette in two years", "plan"),
        ("I decided to learn Welsh.", "life_event"),
        ("The bulb is burnt out.", "mood"),
        ("She is driving me to the airport.", "mood"),
    ],
)
def test_other_statements_have_no_such_form(message: str, event_type: str) -> None:
    form = form_of(event_type)
    assert form is not None
    assert form.search(message) is None
