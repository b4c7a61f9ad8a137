"""The work of ``varve generations estimate``, ``start``, ``show``, ``resume`` and ``cancel``."""

import asyncio
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from varve.cli.options import method_argument, print_notice, schema_argument
from varve.output import say

if TYPE_CHECKING:
    from control.generations.reextraction_changes import ReextractionRequest
    from control.reextraction import Estimate, Reextraction, RunBudget
    from runtime.settings import Settings
    from streams.operations.reextraction.progress import Progress
    from streams.operations.reextraction.sizing import SizeReport

_LEAVE_S: Final = 30.0
"""How long a cancellation waits for the worker to end the re-extraction."""
_POLL_S: Final = 1.0
_NICENESS: Final = 10


def new_request(
    generation: str, tenants: list[str] | None, schema: str | None, method: str | None, since: datetime | None
) -> "ReextractionRequest":
    """The request of a command. Without tenants it is for all tenants (:func:`estimated`)."""
    from control.generations.reextraction_changes import ReextractionRequest

    return ReextractionRequest(
        tenants=tenants or [],
        generation=generation,
        schema=None if schema is None else schema_argument(schema),
        method=method_argument(method),
        since=since,
    )


def new_budget(tokens: int | None, cost: float | None, calls_per_minute: int | None) -> "RunBudget":
    """The limits of a new re-extraction."""
    from control.draft import new
    from control.reextraction import RunBudget

    return new(RunBudget, tokens=tokens, cost=cost, calls_per_minute=calls_per_minute)


async def estimated(
    settings: "Settings", request: "ReextractionRequest", *, calls_per_minute: int | None
) -> "tuple[ReextractionRequest, SizeReport]":
    """The request with the names of all its tenants, and its estimate."""
    from control import Draft, read_control
    from control.generations.reextraction_changes import tenants_of_new
    from streams.operations.reextraction.estimate import estimate_reextraction

    known = Draft(await read_control(settings))
    if request.generation:
        request = replace(request, tenants=tenants_of_new(known, request.generation, request.tenants))
    elif not request.tenants:
        request = replace(request, tenants=list(known.tenants()))
    return request, await estimate_reextraction(settings, request, calls_per_minute=calls_per_minute)


async def started_reextraction(
    settings: "Settings", request: "ReextractionRequest", size: "Estimate", budget: "RunBudget", *, by: str
) -> "Reextraction":
    """Starts a re-extraction."""
    from control import ControlWriter
    from runtime.redis.client import open_redis
    from streams.operations.reextraction.start import start

    async with open_redis(settings.redis) as redis:
        written = await start(settings, request, writer=ControlWriter(settings=settings), redis=redis, estimate=size, budget=budget, by=by)
    return written.result


async def progress_of(settings: "Settings", name: str) -> "Progress":
    """The progress of a re-extraction."""
    from control import Draft, read_control
    from runtime.redis.client import open_redis
    from streams.operations.reextraction.progress import read_progress

    async with open_redis(settings.redis) as redis:
        return await read_progress(settings, Draft(await read_control(settings)), name, redis=redis)


async def resumed_reextraction(settings: "Settings", name: str, limits: dict[str, Any], *, by: str) -> "tuple[Reextraction, int]":
    """Resumes a re-extraction with new limits; returns it with the number of its workers."""
    from control import ControlWriter, Draft, read_control
    from control.generations.reading import workers_of
    from control.generations.reextraction_changes import reextraction_of
    from runtime.kafka import ConsumerGroups
    from streams.operations.reextraction.start import resume as resume_run

    before = reextraction_of(Draft(await read_control(settings)), name)
    resumed = (await resume_run(settings, name, writer=ControlWriter(settings=settings), by=by, limits=limits)).result
    group = workers_of(settings, name)
    workers = (await ConsumerGroups(kafka=settings.kafka).members([group]))[group] if before.state == "running" else 0
    return resumed, workers


async def remove_cancelled(settings: "Settings", cancelled: "Reextraction", *, by: str, patience_s: float) -> None:
    """Removes the results, unless a worker that still runs does so."""
    from control import Draft, read_control
    from control.generations.reading import workers_of
    from control.generations.reextraction_changes import reextraction_of
    from runtime.kafka import ConsumerGroups
    from runtime.redis.client import open_redis
    from streams.operations.reextraction.cancelling import remove_results

    group = workers_of(settings, cancelled.generation)
    if (await ConsumerGroups(kafka=settings.kafka).members([group]))[group]:
        deadline = time.monotonic() + _LEAVE_S
        print_notice("waiting for the worker, which removes the results")
        while time.monotonic() < deadline:
            if reextraction_of(Draft(await read_control(settings)), cancelled.generation).state == "cancelled":
                return
            await asyncio.sleep(_POLL_S)
    async with open_redis(settings.redis) as redis:
        await remove_results(settings, cancelled, redis=redis, by=by, patience_s=patience_s, notice=print_notice)


def spawn_worker(settings: "Settings", name: str) -> None:
    """Starts a worker in its own session on this machine, which outlives this command. Live stages on the machine have priority over it."""
    log = settings.data / "logs" / f"reextraction-{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "varve", "generations", "work", name, "--data", str(settings.data)]
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
    say(f"its worker is process {process.pid}, with its log in {log}")
