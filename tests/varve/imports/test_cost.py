"""The estimate of a model's calls for an import."""

from typing import Any

import pytest

from memory.records.message import STATEMENT
from models.llm.usage import Price, PriceTable
from runtime.settings import Settings
from varve.imports.cost import WindowCount


def message(number: int, *, session: str = "s", day: int = 6, **fields: Any) -> dict[str, Any]:
    time = f"2024-05-{day:02}T12:{number % 60:02}:00+00:00"
    return {"user": "ann", "session": session, "id": f"{session}{number}", "text": "I live in Oslo", "event_time": time, **fields}


def calls(*messages: dict[str, Any]) -> int:
    windows = WindowCount(Settings())
    for each in messages:
        windows.add(each)
    return windows.estimate(prefix_tokens=0, model="m", prices=PriceTable()).calls


def test_windows_close_by_the_service_rules() -> None:
    assert calls() == 0
    assert calls(*(message(number) for number in range(19))) == 1
    assert calls(*(message(number) for number in range(41))) == 2
    assert calls(message(0), message(1, day=7)) == 2
    assert calls(message(0), message(1, session="t")) == 2
    assert calls(*(message(0, session=f"s{number}") for number in range(1500))) == 1500


def test_stated_events_cost_no_calls() -> None:
    stated: dict[str, Any] = {"tool_call": {"name": STATEMENT}}
    assert calls(*(message(number, **stated) for number in range(41))) == 0
    assert calls(message(0, **stated), message(1, day=7)) == 1
    assert calls(message(0, **stated), message(1), message(2, session="t", **stated)) == 1
    windows = WindowCount(Settings())
    windows.add(message(0, **stated))
    assert windows.estimate(prefix_tokens=1000, model="m", prices=PriceTable()).as_json() == {
        "calls": 0,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "cost": None,
    }


def test_the_cost_includes_prompts_and_answers() -> None:
    windows = WindowCount(Settings())
    for number in range(10):
        windows.add(message(number))
    windows.add(message(11, automated=True))
    prices = PriceTable({"m": Price(prompt=1_000_000, completion=2_000_000)})
    found = windows.estimate(prefix_tokens=1000, model="m", prices=prices)
    assert found.prompt_tokens > 1000
    assert found.completion_tokens == 256
    assert found.cost == pytest.approx(found.prompt_tokens + 2 * found.completion_tokens)
    assert windows.estimate(prefix_tokens=1000, model="other", prices=prices).cost is None
