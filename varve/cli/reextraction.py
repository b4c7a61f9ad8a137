"""``varve generations estimate``, ``start``, ``work``, ``show``, ``runs``, ``pause``, ``resume``, ``cancel``: extraction of all history."""

import subprocess
import sys
import time
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from runtime.interruption import run, run_until_signal
from varve.cli.options import (
    ByOption,
    DataOption,
    MethodOption,
    actor,
    attached_settings,
    method_argument,
    parse_time,
    print_notice,
    schema_argument,
    write_control,
)
from varve.cli.reextraction_output import budget_line, print_progress, print_report
from varve.output import say, say_json, say_rows

if TYPE_CHECKING:
    from control.reextraction import Estimate, Reextraction, RunBudget
    from memory.schema import MemorySchema
    from memory.schema.methods import MethodDocument
    from runtime.settings import Settings
    from streams.operations.reextraction.progress import Progress
    from streams.operations.reextraction.sizing import SizeReport

app = typer.Typer()

NameArgument = Annotated[str, typer.Argument(help="The generation that it builds.")]
TenantsOption = Annotated[list[str] | None, typer.Option("--tenant", help="Only this tenant; may be repeated. Default: all tenants.")]
SchemaOption = Annotated[str | None, typer.Option(help="Name of a schema, or a path. Default: the live generation's schema.")]
SinceOption = Annotated[
    datetime | None,
    typer.Option(parser=parse_time, help="Only windows that closed at this time or later (ISO 8601). Default: all windows."),
]
RateOption = Annotated[int | None, typer.Option(min=1, help="Most model calls in a minute; without a model, windows. Default: no limit.")]
TokensOption = Annotated[int | None, typer.Option(min=1, help="Most tokens of prompts and answers. Default: no limit.")]
CostOption = Annotated[float | None, typer.Option(min=0, help="Most money, in the price table's currency. Default: no limit.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NoWorkerOption = Annotated[
    bool, typer.Option("--no-worker", help="Start no worker on this machine: `varve generations work` runs elsewhere.")
]

_LEAVE_S: Final = 30.0
"""How long a cancellation waits for the worker to end the re-extraction."""
_POLL_S: Final = 1.0


@app.command("estimate")
def estimate(
    tenant: TenantsOption = None,
    schema: SchemaOption = None,
    method: MethodOption = None,
    from_time: SinceOption = None,
    calls_per_minute: RateOption = None,
    as_json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Estimate windows, model calls, tokens, cost and time of a re-extraction. Starts nothing.

    Run it with the settings of the worker: its model and its price table.
    """
    settings = attached_settings(data)
    given = _schema_and_method(schema, method)
    _, report = run(_estimate(settings, "", tenant or [], *given, since=from_time, calls_per_minute=calls_per_minute))
    if as_json:
        say_json(report.as_json(), indent=True)
    else:
        print_report(report)


@app.command("start")
def start(
    name: Annotated[str, typer.Argument(help="The generation to build.")],
    tenant: TenantsOption = None,
    schema: SchemaOption = None,
    method: MethodOption = None,
    from_time: SinceOption = None,
    budget_tokens: TokensOption = None,
    budget_cost: CostOption = None,
    calls_per_minute: RateOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    no_worker: NoWorkerOption = False,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Print the estimate of a re-extraction, ask for confirmation, and start it in the background.

    Live traffic keeps priority. Set VARVE_LLM__* to another model to use it for the new generation only.
    """
    settings = attached_settings(data)
    given = _schema_and_method(schema, method)
    limits = _budget(budget_tokens, budget_cost, calls_per_minute)
    chosen, report = run(_estimate(settings, name, tenant or [], *given, since=from_time, calls_per_minute=calls_per_minute))
    print_report(report)
    say(budget_line(limits, report.total))
    if not yes:
        typer.confirm(f"extract {report.total.windows:,} windows into generation {name!r}?", abort=True)
    started = run(_start(settings, name, chosen, report.total, limits, *given, since=from_time, by=actor(by)))
    say(f"generation {name} is being built for {len(started.tenants)} tenants; watch it with `varve generations show {name}`")
    if not no_worker:
        _spawn(settings, name)


@app.command("work")
def work(
    name: NameArgument,
    wait: Annotated[bool, typer.Option("--wait", help="Wait while it is paused, instead of ending: for a Deployment.")] = False,
    data: DataOption = None,
) -> None:
    """Run a worker of a re-extraction until it is paused, cancelled or done, or until SIGTERM. It may be killed at any time."""
    import os

    from runtime.logs import configure_logging
    from streams.operations.reextraction.worker import work as work_on

    settings = attached_settings(data)
    with suppress(OSError):
        os.nice(10)  # live stages on the same machine go first
    configure_logging(settings.log, stage="reextraction")
    state = run_until_signal(work_on(settings, name, wait=wait, notice=print_notice))
    if state is not None:
        say(f"the re-extraction into {name} is {state}")


@app.command("show")
def show(
    name: NameArgument,
    as_json: JsonOption = False,
    watch: Annotated[bool, typer.Option("--watch", help="Print it again every few seconds, until it ends or has caught up.")] = False,
    data: DataOption = None,
) -> None:
    """Show the progress of a re-extraction: windows, calls, what is spent and left, and the time that it still takes."""
    settings = attached_settings(data)
    while True:
        found = run(_progress(settings, name))
        if as_json:
            say_json(found.as_json(), indent=not watch)
        else:
            print_progress(found)
        if not watch or found.run.state != "running" or found.is_caught_up:
            return
        time.sleep(5 * _POLL_S)


@app.command("runs")
def runs(as_json: JsonOption = False, data: DataOption = None) -> None:
    """List all re-extractions, the oldest first, including ended ones."""
    from control import Draft, read_control

    known = Draft(run(read_control(attached_settings(data)))).reextractions()
    if as_json:
        say_json([each.model_dump(mode="json", exclude={"schema_version", "revision"}) for each in known], indent=True)
        return
    say_rows(
        ("generation", "state", "tenants", "windows", "started", "by", "reason"),
        (
            (
                each.generation,
                each.state,
                str(len(each.tenants)),
                str(each.estimate.windows),
                f"{each.started_at:%Y-%m-%d %H:%M}Z",
                each.started_by,
                each.reason,
            )
            for each in known
        ),
    )


@app.command("pause")
def pause(name: NameArgument, by: ByOption = None, data: DataOption = None) -> None:
    """Pause a re-extraction. Its worker finishes the running calls and ends."""
    from control.generations.reextractions import pause_reextraction

    settings, who = attached_settings(data), actor(by)
    paused = write_control(
        settings, lambda draft: pause_reextraction(draft, name, reason=f"paused by {who}"), action="reextraction pause", by=by
    )
    say(f"the re-extraction into {name} is {paused.state}: {paused.reason}")


@app.command("resume")
def resume(
    name: NameArgument,
    budget_tokens: TokensOption = None,
    budget_cost: CostOption = None,
    calls_per_minute: RateOption = None,
    no_worker: NoWorkerOption = False,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Continue a paused re-extraction where it stopped, with the budget so far or a larger one; or start its worker again.

    The budget counts from the start of the re-extraction, not from its resumption.
    """
    settings = attached_settings(data)
    changes = {"tokens": budget_tokens, "cost": budget_cost, "calls_per_minute": calls_per_minute}
    resumed, workers = run(_resume(settings, name, {key: value for key, value in changes.items() if value is not None}, by=actor(by)))
    say(f"the re-extraction into {name} is {resumed.state}")
    if not no_worker and not workers:
        _spawn(settings, name)


@app.command("cancel")
def cancel(
    name: NameArgument,
    patience: Annotated[float, typer.Option(min=1, help="Seconds to wait for each stage.")] = 900.0,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Cancel a re-extraction, and remove all that it has produced. The stages must run. Run it again if it is interrupted."""
    from control.generations.reextractions import cancel_reextraction

    settings = attached_settings(data)
    cancelled = write_control(settings, lambda draft: cancel_reextraction(draft, name), action="reextraction cancel", by=by)
    if cancelled.state == "cancelling":
        run(_remove(settings, cancelled, by=actor(by), patience_s=patience))
    say(f"the re-extraction into {name} is cancelled")


def _schema_and_method(schema: str | None, method: str | None) -> "tuple[str | MemorySchema | None, str | MethodDocument | None]":
    return None if schema is None else schema_argument(schema), method_argument(method)


def _budget(tokens: int | None, cost: float | None, calls_per_minute: int | None) -> "RunBudget":
    from control.draft import new
    from control.reextraction import RunBudget

    return new(RunBudget, tokens=tokens, cost=cost, calls_per_minute=calls_per_minute)


async def _estimate(
    settings: "Settings",
    name: str,
    tenants: list[str],
    schema: "str | MemorySchema | None",
    method: "str | MethodDocument | None",
    *,
    since: datetime | None,
    calls_per_minute: int | None,
) -> "tuple[list[str], SizeReport]":
    """The tenants, and the estimate."""
    from control import Draft, read_control
    from control.generations.reextractions import tenants_of_new
    from streams.operations.reextraction.estimate import estimate_reextraction

    known = Draft(await read_control(settings))
    chosen = tenants_of_new(known, name, tenants) if name else tenants or list(known.tenants())
    report = await estimate_reextraction(
        settings, chosen, generation=name, schema=schema, method=method, since=since, calls_per_minute=calls_per_minute
    )
    return chosen, report


async def _start(
    settings: "Settings",
    name: str,
    tenants: list[str],
    size: "Estimate",
    budget: "RunBudget",
    schema: "str | MemorySchema | None",
    method: "str | MethodDocument | None",
    *,
    since: datetime | None,
    by: str,
) -> "Reextraction":
    from control import ControlWriter
    from runtime.redis import open_redis
    from streams.operations.reextraction.start import start as start_run

    async with open_redis(settings.redis) as redis:
        written = await start_run(
            settings,
            name,
            writer=ControlWriter(settings=settings),
            redis=redis,
            tenants=tenants,
            estimate=size,
            budget=budget,
            by=by,
            schema=schema,
            method=method,
            since=since,
        )
    return written.result


async def _progress(settings: "Settings", name: str) -> "Progress":
    from control import Draft, read_control
    from runtime.redis import open_redis
    from streams.operations.reextraction.progress import read_progress

    async with open_redis(settings.redis) as redis:
        return await read_progress(settings, Draft(await read_control(settings)), name, redis=redis)


async def _resume(settings: "Settings", name: str, changes: dict[str, Any], *, by: str) -> "tuple[Reextraction, int]":
    """The resumed re-extraction, and how many workers it has."""
    from control import ControlWriter, Draft, read_control
    from control.draft import changed
    from control.generations.reading import workers_of
    from control.generations.reextractions import reextraction_of
    from runtime.kafka import ConsumerGroups
    from streams.operations.reextraction.start import resume as resume_run

    before = reextraction_of(Draft(await read_control(settings)), name)
    budget = changed(before.budget, **changes) if changes else None
    resumed = (await resume_run(settings, name, writer=ControlWriter(settings=settings), by=by, budget=budget)).result
    group = workers_of(settings, name)
    workers = (await ConsumerGroups(kafka=settings.kafka).members([group]))[group] if before.state == "running" else 0
    return resumed, workers


async def _remove(settings: "Settings", cancelled: "Reextraction", *, by: str, patience_s: float) -> None:
    """Removes the results, unless a worker that still runs does so."""
    import asyncio

    from control import Draft, read_control
    from control.generations.reading import workers_of
    from control.generations.reextractions import reextraction_of
    from runtime.kafka import ConsumerGroups
    from runtime.redis import open_redis
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


def _spawn(settings: "Settings", name: str) -> None:
    """Starts a worker of its own session on this machine, which outlives this command."""
    log = settings.data / "logs" / f"reextraction-{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "varve", "generations", "work", name, "--data", str(settings.data)]
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    say(f"its worker is process {process.pid}, with its log in {log}")
