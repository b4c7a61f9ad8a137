"""Facts that are mentioned in passing, and mentions of others, of the past and of suppositions."""

import pytest

from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("With my nut allergy, can I have pesto?", ["allergy nut"]),
        ("Because of my egg allergy I bake without eggs.", ["allergy egg"]),
        ("With my diabetes I watch the sugar.", ["diet diabetes"]),
        ("Strawberries give me hives, I'm allergic to them.", ["allergy strawberries"]),
        ("No sesame please, I'm allergic.", ["allergy sesame"]),
        ("As a vegetarian, I always check labels.", ["diet vegetarian"]),
        ("I need recipes for a vegan like me.", ["diet vegan"]),
        ("Her nut allergy is severe.", []),
        ("My nut allergy test was negative.", []),
        ("If my nut allergy were real, I'd know.", []),
        ("I need advice for a vegan like my sister.", []),
    ],
)
def test_health_and_diet_in_passing(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My shift as a bus driver starts at five.", ["occupation bus driver"]),
        ("As a courier, handling complaints is my daily work.", ["occupation courier"]),
        ("In my job as a paramedic you see everything.", ["occupation paramedic"]),
        ("I lost my job as a welder.", []),
        ("My time as a nurse taught me patience.", []),
        ("As a nurse, my wife works nights.", []),
        ("As a plumber, what would you charge?", []),
        ("As a student I lived in Graz.", []),
    ],
)
def test_occupations_in_passing(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My home town is Pécs and I never left.", ["home Pécs"]),
        ("We own a cottage in Ystad and live there all year.", ["home Ystad"]),
        ("I finally got the keys to my place in Hastings!", ["home Hastings"]),
        ("I was born in Graz and my parents still live there.", []),
        ("My mum lives in Graz and I often visit.", []),
        ("I sold my flat in Leiden.", []),
        ("I lost the keys to my old place in Hastings.", []),
    ],
)
def test_homes_in_passing(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My love of old maps is out of hand.", ["like old maps"]),
        ("Coriander tastes like soap, I hate it.", ["dislike coriander"]),
        ("I lost my passion for chess.", []),
    ],
)
def test_tastes_in_passing(text: str, facts: list[str]) -> None:
    assert stated(text) == facts
