"""The words for days, months and numbers that dates are said in."""

from typing import Final

MONTHS: Final[dict[str, int]] = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}

WEEKDAYS: Final[dict[str, int]] = {
    name: number
    for number, names in enumerate(
        ("monday mon", "tuesday tues tue", "wednesday wed", "thursday thurs thur thu", "friday fri", "saturday sat", "sunday sun")
    )
    for name in names.split()
}
"""From Monday, 0, as :meth:`datetime.date.weekday` counts."""

SEASONS: Final[dict[str, int]] = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
"""The first month of each, on the northern half of the earth."""

NUMBERS: Final[dict[str, int]] = {
    word: number
    for number, words in {
        1: "a an one",
        2: "two couple",
        3: "three",
        4: "four",
        5: "five",
        6: "six",
        7: "seven",
        8: "eight",
        9: "nine",
        10: "ten",
        11: "eleven",
        12: "twelve",
    }.items()
    for word in words.split()
}
