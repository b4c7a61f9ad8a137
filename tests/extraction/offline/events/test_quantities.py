"""Numbers with units: the right value, or none."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from extraction.offline.events.quantities import number_for, quantities_of
from memory.dates.number_words import number_from_words
from memory.schema import Property

MINUTES = Property(name="minutes", value_type="int64", description="How long it took, in minutes.")
DISTANCE = Property(name="distance_km", value_type="float32", description="The distance in kilometres.")
STEPS = Property(name="steps", value_type="int64", description="The number of steps.")
DEGREES = Property(name="degrees", value_type="float32", description="The temperature.")


def value(field: Property, text: str) -> float | None:
    return number_for(field, tuple(quantities_of(text)))


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("I read for half an hour.", 30),
        ("I read for half-an-hour's worth: half an hour.", 30),
        ("I read for an hour and a half.", 90),
        ("I read for one and a half hours.", 90),
        ("I read for 2½ hours.", 150),
        ("I read for 1/2 hour.", 30),
        ("I read for 1 1/2 hours.", 90),
        ("I read for 3/4 of an hour.", 45),
        ("I read for 1.5 hours.", 90),
        ("I read for 1,5 hours.", 90),
        ("I read for three quarters of an hour.", 45),
        ("I read for a quarter of an hour.", 15),
        ("It took 1h30.", 90),
        ("It took 2 h 15 min.", 135),
        ("It took an hour and twenty minutes.", 80),
        ("It took 1:30 hours.", 90),
        ("It took twenty-five minutes.", 25),
        ("It took about 40min.", 40),
        ("It took 2 hours, so 120 minutes.", 120),
    ],
)
def test_durations_become_minutes(text: str, minutes: int) -> None:
    assert value(MINUTES, text) == minutes


@pytest.mark.parametrize(
    ("text", "kilometres"),
    [
        ("I ran 3,5 km.", 3.5),
        ("I ran 3.5 km.", 3.5),
        ("I swam 1500 m.", 1.5),
        ("I swam 1 500 m.", 1.5),
        ("I swam 1,500 m.", 1.5),
        ("I swam 1.500 m.", 1.5),
        ("It was a 5k run.", 5),
        ("I ran a 10k.", 10),
        ("I finished a half marathon.", 21.0975),
        ("I ran my first marathon.", 42.195),
        ("I ran about 5 km.", 5),
        ("I ran 5km.", 5),
        ("I walked half a mile.", pytest.approx(0.804672)),
    ],
)
def test_distances_become_kilometres(text: str, kilometres: float) -> None:
    assert value(DISTANCE, text) == kilometres


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (MINUTES, "It took 40-45 minutes."),
        (MINUTES, "It took 40 – 45 minutes."),
        (MINUTES, "It took two to three hours."),
        (MINUTES, "It took five or six hours."),
        (MINUTES, "It took under 30 minutes."),
        (MINUTES, "I read for 20 minutes and ran for 30 minutes."),
        (MINUTES, "We start at 7:30."),
        (DISTANCE, "I cycled 10-15 km."),
        (DISTANCE, "I cycled 10 to 15 km."),
        (DISTANCE, "I cycled between 10 and 15 km."),
        (DISTANCE, "I cycled 10 km to 15 km."),
        (DISTANCE, "I can run up to 10 km."),
        (DISTANCE, "I ran -5 km."),
        (DISTANCE, "I ran for 30m."),
        (DISTANCE, "It was 1.500 km."),
        (DISTANCE, "I read about marathon training."),
        (DISTANCE, "I rode at 25 km/h."),
        (DISTANCE, "I rode at 25 km per hour."),
        (MINUTES, "I ran at 6 min/km."),
        (STEPS, "I took 5k or 6k steps."),
    ],
)
def test_doubtful_numbers_give_no_value(field: Property, text: str) -> None:
    assert value(field, text) is None


def test_only_temperatures_are_negative() -> None:
    assert value(DEGREES, "It was -5 °C.") == -5
    assert value(DEGREES, "It was minus 12 degrees.") == -12
    assert value(DEGREES, "It was 5 degrees.") == 5


@pytest.mark.parametrize(
    ("text", "steps"),
    [("3,500 steps", 3500), ("5k steps", 5000), ("two thousand five hundred steps", 2500), ("a hundred steps", 100), ("a dozen steps", 12)],
)
def test_counts_are_read_in_digits_and_words(text: str, steps: int) -> None:
    assert value(STEPS, text) == steps


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("twenty-five", 25),
        ("one hundred and one", 101),
        ("two thousand five hundred", 2500),
        ("half a dozen", 6),
        ("two dozen", 24),
        ("two three", None),
        ("twenty eleven", None),
        ("five twenty", None),
        ("hundred hundred", None),
        ("", None),
    ],
)
def test_number_words_are_one_number_or_none(words: str, number: int | None) -> None:
    assert number_from_words(words) == number


PIECES = [
    "half",
    "an",
    "a",
    "hour",
    "and",
    "5",
    "1,5",
    "1.500",
    "-",
    "–",
    "to",
    "km",
    "k",
    ":",
    "30",
    "%",
    "$",
    "twenty",
    "hundred",
    "m",
    "½",
    "+",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from(["", " "]))
@example(["-", "5", "km"], "")
def test_any_pieces_give_plausible_numbers(pieces: list[str], space: str) -> None:
    for each in quantities_of(space.join(pieces)):
        assert abs(each.value) < 1e19
        assert each.value >= 0 or each.unit in ("degree", "percent")


@given(st.integers(0, 9999), st.sampled_from(["minutes", "steps", "km"]))
def test_a_written_number_is_read_back(number: int, unit: str) -> None:
    assert [each.value for each in quantities_of(f"It was {number} {unit}.")] == [number]
    assert [each.value for each in quantities_of(f"It was {number:,} {unit}.")] == [number]
