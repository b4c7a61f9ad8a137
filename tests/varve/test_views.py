"""Entities as tables, in a terminal of 80 columns."""

import io
from datetime import UTC, datetime

from rich.console import Console

from memory.ids import entity_id
from memory.keys import entity_key
from memory.records import Memory
from memory.schema import scenario
from varve.demo.views import rendered

SHOP = "search_recommendation"


def interest(category: str, stars: float) -> Memory:
    """How a user stands to a category, with all that the schema tells of it."""
    figures = {"searches": 3, "items_bought": 2, "highest_price": 1395.5, "lowest_price": 16.5, "average_stars": 3.33}
    return Memory(
        id=entity_id("acme", "category_interest", entity_key("noor", category)),
        tenant="acme",
        user="noor",
        kind="entity",
        type="category_interest",
        content="",
        properties={"user": "noor", "category": category, "current_stars": stars, **figures},
        importance=0.5,
        event_time=datetime(2024, 5, 1, tzinfo=UTC),
        entity_key=entity_key("noor", category),
    )


def test_bars_are_whole_in_a_narrow_terminal() -> None:
    with io.StringIO() as printed:
        console = Console(file=printed, width=80)
        for each in rendered(scenario(SHOP), [interest("tents", 5.0), interest("headlamps", 3.0)]):
            console.print(each)
        lines = printed.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if "5 ██████████ " in line]
    assert [line for line in lines if "3 █████░░░░░ " in line]
    for heading in ("category", "searches", "bought"):
        assert [line for line in lines if f" {heading} " in line], f"{heading!r} is broken over lines"
