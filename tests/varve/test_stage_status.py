"""The reason why a stage does not advance, in one line, and the report that shows it."""

from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from runtime.kafka.parked_note import ParkedNote
from streams.engine.tasks.offset_metadata import OffsetMetadata, unfinished_command
from varve.cli.application import app
from varve.cli.status import status_report
from varve.stage_status import PagesOfStage, StageStatus, describe_holder, each_address, failed_checks, merged_pages

WITHOUT_WORKERS = StageStatus(
    name="index",
    lag=0,
    parked=ParkedNote(),
    rate=None,
    dead_letters=None,
    retries=None,
    ready=None,
    oldest_s=None,
    retention_left_s=None,
    held_by=None,
)
"""The status of a stage whose workers do not answer."""


def _partition(*, oldest_s: float | None = None, held_by: Any = None, log_gap: str | None = None) -> dict[str, Any]:
    return {"oldest_s": oldest_s, "held_by": held_by, "log_gap": log_gap}


def test_the_oldest_partition_is_described() -> None:
    young = _partition(oldest_s=1.0, held_by={"offset": 3, "tenant": "other", "state": "handling", "attempts": 1})
    old = _partition(oldest_s=90.0, held_by={"offset": 4, "tenant": "acme", "state": "retrying", "attempts": 6})
    assert describe_holder({"partitions": {"0": young, "1": old, "2": _partition(oldest_s=500.0)}}) == "1/4: acme, retrying, try 6"
    nobody = _partition(held_by={"offset": 3, "tenant": "", "state": "waiting", "attempts": 0})
    assert describe_holder({"partitions": {"5": nobody}}) == "5/3: ?, waiting"


def test_a_data_loss_is_reported_before_old_records() -> None:
    old = _partition(oldest_s=90.0, held_by={"offset": 4, "tenant": "acme", "state": "retrying", "attempts": 6})
    gone = _partition(log_gap="offsets 0 to 4 of windows/2 are lost")
    assert describe_holder({"partitions": {"1": old, "2": gone}}) == "2: offsets 0 to 4 of windows/2 are lost"
    assert describe_holder({"partitions": {"1": _partition()}}) is None
    assert describe_holder({}) is None


def test_a_failed_check_names_its_problem() -> None:
    problem = {"ok": False, "needed": False, "problem": "the endpoint answered 401. Set VARVE_LLM__API_KEY to a valid key"}
    checks = {"assigned": True, "recovered": False, "background_work": {"ok": True, "problem": None}, "llm_credentials": problem}
    assert failed_checks({"ready": True, "checks": checks}) == (f"llm_credentials: {problem['problem']}",)
    assert failed_checks({}) == ()


def test_the_report_fits_a_terminal_of_80_columns() -> None:
    stage = StageStatus(
        name="extraction",
        lag=1200,
        parked=ParkedNote(5),
        rate=3.25,
        dead_letters=None,
        retries=7,
        ready=True,
        oldest_s=6.5 * 86_400,
        retention_left_s=-90.0,
        held_by="3/41: [red]acme\x1b, paused",
        problems=("llm_credentials: refused",),
    )
    idle = StageStatus(
        name="index",
        lag=0,
        parked=ParkedNote(),
        rate=None,
        dead_letters=0,
        retries=0,
        ready=None,
        oldest_s=None,
        retention_left_s=None,
        held_by=None,
    )
    console = Console(width=80)
    with console.capture() as shown:
        console.print(status_report([stage, idle]))
    above, header, first, second, held, problem, *parked = shown.get().splitlines()
    assert above.split() == ["dead", "deleted"]
    assert header.split() == ["part", "lag", "parked", "records/s", "letters", "retries", "oldest", "in", "ready"]
    assert first.split() == ["extraction", "1200", "5", "3.2", "?", "7", "6", "d", "-2", "min", "yes"]
    assert second.split() == ["index", "0", "0", "?", "0", "0", "?"]
    assert held == "extraction is held at partition/offset 3/41: [red]acme\\u001b, paused"
    assert problem == "extraction reports llm_credentials: refused"
    assert " ".join(parked).startswith("extraction has parked 5 records")


def test_a_stage_names_the_command_that_it_waits_for() -> None:
    unfinished = unfinished_command([None, OffsetMetadata(unfinished="replay sessions").text])
    stage = replace(WITHOUT_WORKERS, name="sessions", lag=3, unfinished=unfinished)
    console = Console(width=80)
    with console.capture() as shown:
        console.print(status_report([stage]))
    assert "`varve replay sessions` was interrupted; run it again" in " ".join(shown.get().split())
    assert unfinished_command([None, "", OffsetMetadata(cut_at=3).text]) is None


def test_the_workers_of_a_stage_are_one_status() -> None:
    held = _partition(oldest_s=90.0, held_by={"offset": 4, "tenant": "acme", "state": "retrying", "attempts": 6})
    one = PagesOfStage({"varve_retries_total": 2}, True, {"partitions": {"0": _partition()}}, ("llm_credentials: refused",))
    other = PagesOfStage({"varve_retries_total": 3}, True, {"partitions": {"1": held}}, ("llm_credentials: refused",))
    both = merged_pages([one, other])
    assert (both.counters, both.ready, both.problems) == ({"varve_retries_total": 5}, True, ("llm_credentials: refused",))
    assert describe_holder(both.report) == "1/4: acme, retrying, try 6"


def test_a_stage_with_a_silent_worker_is_not_ready() -> None:
    answers = PagesOfStage({"varve_retries_total": 2}, True, {}, ())
    assert merged_pages([answers, None]).ready is False
    assert merged_pages([answers, None]).counters == {"varve_retries_total": 2}
    assert merged_pages([]) == PagesOfStage(None, False, {}, ())


async def test_a_name_stands_for_each_of_its_addresses() -> None:
    assert await each_address("http://127.0.0.1:9100") == ["http://127.0.0.1:9100"]
    assert await each_address("http://[::1]:9100") == ["http://[::1]:9100"]
    assert await each_address("http://nowhere.invalid:9100") == []


@pytest.mark.parametrize("pages", ["http://varve:9100", "varve-{stage}:9100", "http://varve-{stage}", "http://{stage}:port"])
def test_pages_without_a_stage_are_refused(pages: str) -> None:
    refused = CliRunner().invoke(app, ["status", "--pages", pages])
    assert refused.exit_code == 2
    assert "http://varve-{stage}:9100" in " ".join(refused.output.replace("\u2502", "").split())


def test_unknown_figures_name_the_option_that_shows_them() -> None:
    console = Console(width=200)
    with console.capture() as shown:
        console.print(status_report([WITHOUT_WORKERS]))
    assert "--pages http://varve-{stage}:9100" in shown.get()
