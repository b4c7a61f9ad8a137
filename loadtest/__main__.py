"""``python -m loadtest``: puts load on the embedded stack, and reports the outcomes. ``make load PROFILE=smoke`` calls it.

A first report is written when arrivals have ended, the final one when all messages are drained and counted. SIGINT or SIGTERM ends the
arrivals early; a second signal ends the run.
"""

import argparse
import asyncio
import json
import os
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
from varve_client import AsyncVarveClient

from control import ControlWriter, Draft
from control.access_keys import hash_key, new_api_key
from control.key_changes import add_key
from control.tenant_changes import add_tenant
from loadtest.footprint import FootprintWatch, bytes_by_folder
from loadtest.outcomes import problems, read_outcomes, summary
from loadtest.schedule import LOAD_PROFILES
from memory.records import Window
from runtime.clocks import SystemClock
from runtime.kafka import read_topic
from runtime.settings import Settings
from streams.stages.catalog import STAGES
from varve.conversations import Conversation, read_conversation
from varve.embedded.lifecycle import temporary_stack
from varve.lag import lag_by_stage, wait_for_zero_lag

_ROOT = Path(__file__).parents[1]
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LOOKS = 10
"""Measurements of the stack's resources during the load."""


async def run(
    profile: str, *, seed: int, seconds: float | None, data: Conversation | None, locust: Path, report: Path, folder: Path
) -> dict[str, Any]:
    """Runs a profile against a new embedded stack.

    Args:
        profile: A name of :data:`loadtest.schedule.LOAD_PROFILES`.
        seed: Seed of the arrivals.
        seconds: Duration of the load. None: the profile's.
        data: File with the texts. None: generated texts.
        locust: The program, in its own environment.
        report: The file for the figures; Locust's page is written next to it.
        folder: An empty folder for the stack's data.

    Returns:
        The figures of the report.
    """
    async with temporary_stack(folder / "stack", tenant="load") as running:
        settings, service_url = running.settings, running.file.service_url
        tenants = await _add_tenants(settings, LOAD_PROFILES[profile].tenants)
        options = {"profile": profile, "seed": seed, "seconds": seconds, "outcomes": str(folder / "outcomes.jsonl")}
        given = {**options, **_target(settings, service_url, tenants), **_texts(data)}
        (folder / "given.json").write_text(json.dumps(given))
        load_before = psutil.getloadavg()[0]
        begun = time.monotonic()
        footprint = FootprintWatch(running.supervisor, data=settings.data, every_s=LOAD_PROFILES[profile].lasting(seconds).seconds / _LOOKS)
        async with footprint:
            code = await _locust(locust, report.with_suffix(".html"), given=folder / "given.json")
        sending_s = time.monotonic() - begun
        outcomes, is_complete = _outcomes(folder / "outcomes.jsonl", code)
        known = {
            "profile": profile,
            "seed": seed,
            "arrival_seconds": LOAD_PROFILES[profile].lasting(seconds).seconds,
            "memory_mb": footprint.memory_mb,
            "disk_mb": footprint.disk_mb,
            "run_seconds": round(sending_s, 1),
            "load_before": round(load_before, 2),
        }
        _write(report, summary(outcomes, None) | known | {"complete": False})
        await _drain(settings, service_url, tenants, stages=LOAD_PROFILES[profile].drained or tuple(STAGES))
        drained_s = time.monotonic() - begun - sending_s
        lag = await lag_by_stage(settings)
        windows = [Window.from_json(each.value or b"") async for each in read_topic(settings.topic("windows"), settings.kafka)]
        disk_in_the_end = bytes_by_folder(settings.data)
    messages_of = {window.id: [message.id or "" for message in window.messages] for window in windows}
    figures = {
        **summary(outcomes, messages_of),
        **known,
        "complete": is_complete,
        "disk_mb_in_the_end": {name: round(size / 1e6, 1) for name, size in disk_in_the_end.items()},
        "seconds_until_no_lag": round(drained_s, 1),
        "lag": lag,
        "windows": len(windows),
        "load_after": round(psutil.getloadavg()[0], 2),
    }
    _write(report, figures)
    return figures


async def _add_tenants(settings: Settings, count: int) -> list[dict[str, str]]:
    tenants = [{"id": f"load-{number}", "key": new_api_key()} for number in range(count)]

    def change(draft: Draft) -> None:
        for tenant in tenants:
            add_tenant(draft, tenant["id"], schema="companion")
            add_key(draft, tenant["id"], hash_key(tenant["key"]), now=SystemClock().now())

    writer = ControlWriter(settings=settings)
    await writer.write(change, action="load test", by="load test")
    await writer.settle()
    return tenants


def _target(settings: Settings, service_url: str, tenants: list[dict[str, str]]) -> dict[str, Any]:
    """The addresses that Locust sends to."""
    topic = settings.topic("messages")
    return {"service_url": service_url, "bootstrap": settings.kafka.bootstrap, "topic": topic, "tenants": tenants}


def _texts(data: Conversation | None) -> dict[str, Any]:
    """The texts that Locust sends; empty: it generates them."""
    if data is None:
        return {"said": [], "asked": []}
    return {"said": [each["text"] for each in data.messages], "asked": data.questions}


async def _drain(settings: Settings, service_url: str, tenants: list[dict[str, str]], *, stages: Sequence[str]) -> None:
    """Closes all windows, and waits until the stages have no lag."""
    for tenant in tenants:
        async with AsyncVarveClient(service_url, api_key=tenant["key"]) as service:
            await service.flush()
    await wait_for_zero_lag(settings, stages=stages)


async def _locust(program: Path, page: Path, *, given: Path) -> int:
    """Runs Locust until it ends, or a signal; returns its exit code."""
    page.parent.mkdir(parents=True, exist_ok=True)
    stopping, loop = asyncio.Event(), asyncio.get_running_loop()
    process = await asyncio.create_subprocess_exec(
        *(str(program), "--locustfile", str(_ROOT / "loadtest" / "locustfile.py"), "--headless", "--only-summary", "--users", "1"),
        *("--html", str(page)),
        env={**os.environ, "VARVE_LOAD": str(given), "PYTHONPATH": str(_ROOT)},
    )
    ended, stopped = asyncio.create_task(process.wait()), asyncio.create_task(stopping.wait())
    for number in _STOP_SIGNALS:
        loop.add_signal_handler(number, stopping.set)
    try:
        await asyncio.wait((ended, stopped), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for number in _STOP_SIGNALS:
            loop.remove_signal_handler(number)
        stopped.cancel()
        if process.returncode is None:
            process.terminate()
        # Its exit code shows whether a request failed; the outcomes have the failures.
        code = await ended
    return code


def _outcomes(file: Path, code: int) -> tuple[list[dict[str, Any]], bool]:
    if not file.exists():
        raise SystemExit(f"Locust ended with {code} before the schedule began: see its output above")
    return read_outcomes(file.read_text())


def _write(report: Path, figures: dict[str, Any]) -> None:
    report.write_text(json.dumps(figures, indent=2) + "\n")


def main() -> None:
    """Runs, prints and writes the report; exits with 1 if a message was lost, stored twice or not sent, or freshness was too low."""
    parser = argparse.ArgumentParser(prog="python -m loadtest", description=__doc__)
    parser.add_argument("--profile", choices=LOAD_PROFILES, default="smoke", help="rates and duration of the load; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="seed of the arrivals; default: %(default)s")
    parser.add_argument("--seconds", type=float, help="duration of the load at the profile's rates; default: the profile's")
    parser.add_argument("--data", type=Path, help="conversation whose texts are sent: JSONL, or LoCoMo's form; default: generated texts")
    parser.add_argument("--locust", type=Path, default=Path(".venv-load/bin/locust"), help="Locust's program; default: %(default)s")
    parser.add_argument(
        "--report", type=Path, default=Path("build/reports/load.json"), help="where the report is written; default: %(default)s"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="varve-load-") as folder:
        figures = asyncio.run(
            run(
                arguments.profile,
                seed=arguments.seed,
                seconds=arguments.seconds,
                data=None if arguments.data is None else read_conversation(arguments.data),
                locust=arguments.locust,
                report=arguments.report,
                folder=Path(folder),
            )
        )
    print(json.dumps(figures, indent=2))
    if found := problems(figures, freshness_limit_s=LOAD_PROFILES[arguments.profile].freshness_limit_s):
        raise SystemExit(f"failed: {'; '.join(found)}; see {arguments.report}")
    print(f"passed: {figures['sent']} messages sent, none lost or duplicated; {figures['errors']} requests failed; see {arguments.report}")


if __name__ == "__main__":
    main()
