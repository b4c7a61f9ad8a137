"""The progress of a re-extraction as numbers: share, windows left, budget left, time left, next step."""

from dataclasses import replace
from datetime import timedelta

import pytest

from control.reextraction import RunBudget
from models.llm.budget import Amount, Spent
from runtime.kafka import TopicPartition
from streams.operations.reextraction.day_waits import DayWait
from streams.operations.reextraction.progress import position_in, windows_left
from tests.streams.operations.reextraction.half_done import HALF, START, with_run


def test_half_of_the_way_is_half() -> None:
    assert HALF.share == 0.5
    assert HALF.windows_left == 50
    assert HALF.left_s == pytest.approx(100.0)
    assert (HALF.tokens_left, HALF.cost_left) == (6_000, 1.5)
    assert not HALF.is_caught_up
    assert HALF.advice == ""


def test_the_rate_counts_from_the_last_resumption() -> None:
    resumed = with_run(HALF, running_since=START + timedelta(seconds=80), position_then=90)
    assert resumed.left_s == pytest.approx(100.0), "10 windows in 20 s, and 50 are left"
    assert with_run(HALF, position_then=100).left_s is None, "there is no progress yet"
    assert with_run(HALF, state="paused").left_s is None


def test_parked_windows_are_not_done() -> None:
    parked = replace(HALF, position=150, parked=3)
    assert not parked.is_caught_up
    assert parked.windows_left == 3
    assert replace(parked, parked=0).is_caught_up


def test_marks_of_transactions_are_no_windows() -> None:
    """Of 100 offsets, half are marks: 50 windows were counted at the start."""
    run = with_run(HALF, estimate=HALF.run.estimate.model_copy(update={"windows": 50})).run
    assert [windows_left(run, position=position, end=150) for position in (0, 50, 100, 149, 150)] == [50, 50, 25, 1, 0]


def test_a_wait_for_a_budget_is_shown() -> None:
    wait = DayWait(START + timedelta(days=1), "tenant 'acme' has used 1 of 1")
    waiting = replace(HALF, waits={"acme": wait})
    assert waiting.as_json()["waits_for_budget"] == [{"tenant": "acme", "until": "2026-01-02T00:00:00+00:00", "reason": wait.reason}]
    assert "(acme)" in waiting.advice
    assert HALF.as_json()["waits_for_budget"] == []


def test_a_wait_for_live_traffic_is_shown() -> None:
    yielding = replace(HALF, yields_to="events (2,500 records)")
    assert yielding.as_json()["yields_to"] == "events (2,500 records)"
    assert "varve status" in yielding.advice
    assert "rehearse" in replace(yielding, position=150).advice, "there is nothing to wait for"


def test_an_empty_history_is_caught_up() -> None:
    empty = replace(with_run(HALF, first_position=0, position_then=0), position=0, end=0)
    assert (empty.share, empty.windows_left, empty.left_s, empty.is_caught_up) == (1.0, 0, 0.0, True)


def test_an_overspent_budget_has_nothing_left() -> None:
    over = replace(HALF, spent=Spent(Amount(12_000, 2.5), 60))
    assert (over.tokens_left, over.cost_left) == (0, 0.0)
    free = with_run(HALF, budget=RunBudget())
    assert (free.tokens_left, free.cost_left) == (None, None)


def test_the_next_step_depends_on_the_state() -> None:
    assert "generations work v2" in replace(HALF, workers=0).advice
    assert "erasure" in replace(HALF, workers=0, is_erasing=True).advice
    assert "generations switch TENANT v2" in replace(HALF, position=150).advice
    assert "generations resume v2" in with_run(HALF, state="paused").advice
    assert "generations cancel v2" in with_run(HALF, state="cancelling").advice
    assert with_run(HALF, state="done").advice == ""


def test_a_position_ends_with_its_partition() -> None:
    ends = {TopicPartition("windows", 0): 5, TopicPartition("windows", 1): 7}
    assert position_in(ends, {TopicPartition("windows", 0): 9}) == 5
