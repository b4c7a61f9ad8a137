"""Output of `varve generations show` about the waits and the cost of a re-extraction."""

from dataclasses import replace
from datetime import timedelta

import pytest

from models.llm.budget import Amount, Spent
from streams.operations.reextraction.day_waits import DayWait
from tests.streams.operations.reextraction.half_done import HALF, RUN, START, with_run
from varve.cli.reextraction_output import print_progress


def test_each_wait_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    wait = DayWait(START + timedelta(days=1), "tenant 'acme' has used 1 of 1")
    print_progress(replace(HALF, waits={"acme": wait}, yields_to="events (2,500 records)"))
    printed = capsys.readouterr().out
    assert "waits for live traffic: events (2,500 records)" in printed
    assert "waits until 2026-01-02 00:00 UTC: tenant 'acme' has used 1 of 1" in printed


def test_nothing_is_said_about_waits_without_any(capsys: pytest.CaptureFixture[str]) -> None:
    print_progress(HALF)
    assert "waits" not in capsys.readouterr().out


def test_cost_without_a_price_table_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    print_progress(HALF)
    assert "4,000 tokens, cost 0.5000; left" in capsys.readouterr().out
    unpriced = with_run(HALF, estimate=RUN.estimate.model_copy(update={"cost": None}))
    print_progress(replace(unpriced, spent=Spent(Amount(4_000, 0.0), 50)))
    assert "4,000 tokens, cost unknown; left" in capsys.readouterr().out
