"""Estimates of re-extractions: counted windows and messages, tokens from previews or earlier calls, cost from the price table."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from extraction.one_pass.prompt.preview import preview_prompt
from memory.records import Message, Usage, Window
from memory.schema import parse_schema
from memory.texts.text import estimate_tokens
from models.llm.usage import Price, PriceTable
from runtime.settings import BudgetSettings, LLMSettings, Settings
from streams.operations.reextraction.sizing import ENOUGH_CALLS, Sizing
from tests.streams.operations.reextraction.history import NOTES, TENANT

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PRICES = PriceTable({"m": Price(prompt=2.0, cached=0.5, completion=10.0)})
OTHER = parse_schema(
    {"Name": "other", "EventTypes": [{"EventType": "talk", "Description": "A long talk about a topic.", "Properties": []}]}
)


def window(*texts: str, tenant: str = TENANT, number: int = 0) -> Window:
    messages = [
        Message(tenant=tenant, user="ann", session="s", id=f"m{number}-{index}", text=text, event_time=NOW)
        for index, text in enumerate(texts)
    ]
    return Window(
        id=f"w{number}",
        tenant=tenant,
        user="ann",
        session="s",
        sequence=number,
        messages=messages,
        closed_by="flush",
        source_partition=0,
        first_offset=number,
        last_offset=number,
    )


def sizing(tmp_path: Path, *, prices: PriceTable | None = None, **llm: object) -> Sizing:
    given = {"base_url": "http://127.0.0.1:1/v1", "model": "m", **llm}
    settings = Settings(data=tmp_path, llm=LLMSettings.model_validate({} if llm.get("model") == "" else given))
    return Sizing(settings=settings, prices=prices or PriceTable(), schemas={TENANT: NOTES, "globex": OTHER})


def call(*, prompt: int = 1_000, cached: int = 600, completion: int = 200, purpose: str = "extraction", tenant: str = TENANT) -> Usage:
    return Usage(
        tenant=tenant,
        stage="extraction",
        model="m",
        purpose=purpose,
        prompt_tokens=prompt,
        cached_tokens=cached,
        completion_tokens=completion,
        latency_ms=2_000.0,
        time=NOW,
    )


def test_prompts_are_counted_as_they_would_be_sent(tmp_path: Path) -> None:
    size = sizing(tmp_path)
    windows = [window("I moved to Bergen.", "And I like it."), window("x" * 4_000, number=1)]
    for each in windows:
        size.add_window(each)
    report = size.report(calls_per_minute=None)
    assert (report.total.windows, report.total.messages, report.total.calls) == (2, 3, 2)
    expected = sum(preview_prompt(NOTES, settings=size.settings, window=each).tokens for each in windows)
    assert report.total.prompt_tokens == pytest.approx(expected, abs=2)
    assert report.total.completion_tokens > 0
    assert (report.total.cost, report.total.duration_s) == (None, None), "there is no price table, and no rate is known"
    assert "assumed" in report.basis


def test_a_daily_budget_stretches_the_time(tmp_path: Path) -> None:
    size = sizing(tmp_path)
    for number in range(10):
        size.add_window(window("I moved to Bergen.", number=number))
    tokens = size.report(calls_per_minute=None).total.tokens
    size.daily = {TENANT: BudgetSettings(hard_tokens=tokens // 2)}
    report = size.report(calls_per_minute=600)
    assert report.total.duration_s == report.by_tenant[TENANT].duration_s == pytest.approx(2 * 86400, rel=0.01)
    size.daily = {TENANT: BudgetSettings(hard_tokens=tokens)}
    assert size.report(calls_per_minute=600).total.duration_s == pytest.approx(1.0), "one day is enough: the rate decides"


def test_windows_without_messages_need_no_call(tmp_path: Path) -> None:
    size = sizing(tmp_path)
    size.add_window(window())
    total = size.report(calls_per_minute=60).total
    assert (total.windows, total.calls, total.prompt_tokens, total.completion_tokens, total.duration_s) == (1, 0, 0, 0, 0.0)


def test_earlier_calls_correct_the_estimate(tmp_path: Path) -> None:
    size = sizing(tmp_path, prices=PRICES, concurrency=8)
    for number in range(10):
        size.add_window(window("Ten words are in this message, or a few more.", number=number))
    for _ in range(2 * ENOUGH_CALLS):
        size.add_call(call())
    for _ in range(ENOUGH_CALLS):
        size.add_call(call(prompt=400, cached=0, completion=100, purpose="deduplication"))
    total = size.report(calls_per_minute=None).total
    assert total.calls == 15, "one more call for every other window"
    assert total.completion_tokens == 10 * 250
    overhead = preview_prompt(NOTES, settings=size.settings, window=window("Ten words are in this message, or a few more.")).tokens
    assert total.prompt_tokens == round(10 * overhead * min(3.0, max(0.7, 1_200 / overhead)))
    assert total.cached_tokens == pytest.approx(total.prompt_tokens / 2, abs=1)
    cost = ((total.prompt_tokens - total.cached_tokens) * 2.0 + total.cached_tokens * 0.5 + total.completion_tokens * 10.0) / 1e6
    assert total.cost == pytest.approx(cost)
    assert total.duration_s == pytest.approx(15 * 2.0 / 4), "two seconds for each call, on half of the concurrency"


def test_the_slowest_known_rate_gives_the_time(tmp_path: Path) -> None:
    size = sizing(tmp_path, requests_per_minute=60)
    for number in range(30):
        size.add_window(window("A message.", number=number))
    assert size.report(calls_per_minute=None).total.duration_s == pytest.approx(60.0), "half of the endpoint's rate"
    assert size.report(calls_per_minute=10).total.duration_s == pytest.approx(180.0)


def test_calls_of_others_do_not_count(tmp_path: Path) -> None:
    size = sizing(tmp_path)
    for _ in range(ENOUGH_CALLS):
        size.add_call(call(tenant="umbrella"))
        size.add_call(call().model_copy(update={"stage": "merging"}))
    assert not size.earlier


def test_a_new_tenant_takes_the_averages_of_all(tmp_path: Path) -> None:
    size = sizing(tmp_path, prices=PRICES)
    size.add_window(window("A message."))
    size.add_window(window("A message.", tenant="globex"))
    for _ in range(ENOUGH_CALLS):
        size.add_call(call())
    report = size.report(calls_per_minute=None)
    assert {name: each.completion_tokens for name, each in report.by_tenant.items()} == {TENANT: 200, "globex": 200}
    for name in ("windows", "messages", "calls", "prompt_tokens", "completion_tokens"):
        assert getattr(report.total, name) == sum(getattr(each, name) for each in report.by_tenant.values())
    assert report.total.cost == pytest.approx(sum(each.cost or 0.0 for each in report.by_tenant.values()))


def test_rules_cost_nothing(tmp_path: Path) -> None:
    size = sizing(tmp_path, model="")
    for number in range(30):
        size.add_window(window("A message.", number=number))
    report = size.report(calls_per_minute=60)
    assert report.model is None
    assert (report.total.windows, report.total.calls, report.total.tokens, report.total.cost) == (30, 0, 0, 0.0)
    assert report.total.duration_s == 30.0, "then the rate limits windows"


def test_longer_messages_cost_more(tmp_path: Path) -> None:
    short, long = sizing(tmp_path, prices=PRICES), sizing(tmp_path, prices=PRICES)
    short.add_window(window("A message."))
    long.add_window(window("A message. " * 50))
    difference = long.report(calls_per_minute=None).total.prompt_tokens - short.report(calls_per_minute=None).total.prompt_tokens
    assert difference >= estimate_tokens("A message. " * 50) - estimate_tokens("A message.") - 2
