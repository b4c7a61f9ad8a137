"""The model of capacity, and the page that shows its figures."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from evaluation.capacity.command import closed_session_bytes
from evaluation.capacity.model import UTILISATION, Costs, Prices, limits, population_of, rate_of
from evaluation.capacity.tables import tables

PAGE = Path(__file__).parents[2] / "docs" / "operate" / "sizing.md"
COSTS = Costs(
    cpu_ms={"sessions": 1.0, "index": 6.0, "edge": 2.0},
    memories_per_message=0.5,
    prompt_tokens=100,
    completion_tokens=20,
    messages_per_window=20,
    call_s=4,
    memory_bytes=6000,
    session_row_bytes=250,
    tail_bytes=1000,
    log_bytes=2000,
)
PRICES = Prices(prompt=1.0, completion=5.0)


def test_a_rate_takes_cores_workers_and_calls() -> None:
    rate = rate_of(1000, COSTS, PRICES)
    assert rate.cores == {"sessions": 1.0, "index": 6.0, "edge": 2.0}
    assert rate.machines_cores == pytest.approx(9 / UTILISATION)
    assert (rate.workers["index"], rate.workers["recalls"], rate.partitions) == (10, 1, 10)
    assert rate.calls_in_flight == 200
    assert rate.dollars_per_million == 200


def test_users_determine_the_stored_bytes() -> None:
    year = population_of(1000, COSTS, messages_a_day=10, sessions_a_day=2)
    assert year.memories == pytest.approx(1000 * 10 * 365.25 * 0.5)
    assert year.store_bytes == pytest.approx(year.memories * 6000)
    assert year.session_rows_bytes == pytest.approx(1000 * 2 * 365.25 * 250)
    assert year.redis_bytes == 1000 * 2 * 7 * 1000


def test_the_largest_cost_is_reduced_first() -> None:
    found = limits(COSTS, partitions=2)
    assert [what.split()[0] for _, what in found] == ["the", "Edge", "the"]
    assert [rate for rate, _ in found] == pytest.approx([200, 300, 1200])
    assert limits(replace(COSTS, cpu_ms={}), partitions=2) == []


def test_the_command_prints_the_requested_estimate(tmp_path: Path) -> None:
    measured = tmp_path / "ingest.json"
    measured.write_bytes(orjson.dumps({"messages": 100, "memories": 50, "cpu_ms_per_message": {"index": 6.0}}))
    files = ["--data", str(measured), "--report", str(tmp_path / "capacity.json")]
    command = [sys.executable, "-m", "evaluation", "capacity", *files, "--messages-a-day", "40", "--partitions", "8"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "| memories after a year | 7.3 billion |" in printed
    assert "the stage index has a worker for each of 8 partitions" in printed
    assert "cores: index" in printed


def test_the_page_shows_the_figures_of_the_model() -> None:
    page = PAGE.read_text()
    inputs = orjson.loads(page.partition("```json\n")[2].partition("```")[0])
    assert tables(Costs(**inputs["costs"]), Prices(**inputs["prices"])) in page
    assert inputs["costs"]["session_row_bytes"] == closed_session_bytes()
