"""The words around a name decide how surely it must be a place."""

from extraction.offline.facts.place_context import least_score

USUAL = -0.04


def test_known_software_is_never_a_place() -> None:
    assert least_score("Obsidian", USUAL, "I moved to Obsidian last week.") > 1
    assert least_score("Anytype", USUAL, "I moved from Notion to Anytype.") > 1


def test_words_of_work_ask_for_more_evidence() -> None:
    assert least_score("Ruse", USUAL, "I moved to Ruse with all my tasks.") > USUAL


def test_words_of_housing_ask_for_less_evidence() -> None:
    assert least_score("Ruse", USUAL, "I moved to Ruse, the flat is small.") < USUAL


def test_names_of_products_and_regions_are_no_homes() -> None:
    assert least_score("Dublin", USUAL, "We moved to Dublin, the bandwidth is cheaper.") > 1
    assert least_score("Havana", USUAL, "I moved to Havana, a static site platform.") > 1
    assert least_score("Rome", USUAL, "I moved to Rome, the city of my wife.") < 1
