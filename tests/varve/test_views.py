"""Entities as tables, in a terminal of 80 columns."""

import io
from datetime import UTC, datetime

from rich.console import Console

from memory.ids import entity_id
from memory.keys import entity_key
from memory.records import Memory
from memory.schema import scenario
from varve.demo.views import column_widths, rendered

SHOP = "search_recommendation"


def interest(category: str, stars: float) -> Memory:
    """A user's interest in a category, with all fields of the schema."""
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


def experience(tool: str) -> Memory:
    """The experience with a tool, in words that fit no narrow column."""
    texts = {
        "suitable_for": "navigation and forms of any kind",
        "failure_cases": "the page is behind a login, and says so late",
        "suggestions": "give it the whole address, and a deadline of a minute",
        "frequent_errors": ["DeadlineExceededError: the page did not come"],
    }
    figures = {"calls": 12, "failure_rate": 0.25, "slowest_ms": 12345.0, "lessons": 2}
    return Memory(
        id=entity_id("acme", "tool_experience", entity_key(tool)),
        tenant="acme",
        kind="entity",
        type="tool_experience",
        content="",
        properties={"tool_name": tool, **texts, **figures, "learned": ["ask for the text alone"]},
        importance=0.5,
        event_time=datetime(2024, 5, 1, tzinfo=UTC),
        entity_key=entity_key(tool),
    )


def printed(schema: str, entities: list[Memory], width: int) -> list[str]:
    with io.StringIO() as text:
        console = Console(file=text, width=width)
        for each in rendered(scenario(schema), entities):
            console.print(each)
        return text.getvalue().splitlines()


def test_bars_are_whole_in_a_narrow_terminal() -> None:
    lines = printed(SHOP, [interest("tents", 5.0), interest("headlamps", 3.0)], 80)
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if "5 ██████████ " in line]
    assert [line for line in lines if "3 █████░░░░░ " in line]
    for heading in ("category", "searches", "bought"):
        assert [line for line in lines if f" {heading} " in line], f"{heading!r} is broken over lines"


def test_columns_that_do_not_fit_become_cards() -> None:
    tools = [experience("browser"), experience("database")]
    narrow, wide = (printed("agent_tools", tools, width) for width in (80, 200))
    assert max(map(len, narrow)) <= 80
    assert sum(line.startswith("╭") for line in narrow) == 2, "a card of each"
    assert sum(line.startswith("╭") for line in wide) == 1, "one table"
    for lines in (narrow, wide):
        for word in ("suggestions", "navigation", "DeadlineExceededError:"):
            assert [line for line in lines if word in line], f"{word!r} is broken over lines"


def test_columns_share_the_remaining_width() -> None:
    texts = [["a", "x"], ["what", "one two three four five six"], ["bar", "1 ████████"]]
    assert column_widths(texts, 80, whole=[False, False, True]) == [1, 27, 10]
    assert column_widths(texts, 37, whole=[False, False, True]) == [1, 16, 10]
    assert column_widths(texts, 32, whole=[False, False, True]) is None
