"""``varve generations estimate``, ``start``, ``work``, ``show``, ``runs``, ``pause``, ``resume``, ``cancel``: extraction of all history."""

import time
from datetime import datetime
from typing import Annotated, Final

import typer

from memory.texts.text import counted
from runtime.interruption import run, run_until_signal
from varve.cli.options import (
    ByOption,
    DataOption,
    MethodOption,
    actor,
    attached_settings,
    parse_time,
    print_notice,
    write_control,
)
from varve.cli.reextraction_output import budget_line, print_progress, print_report
from varve.cli.reextraction_work import (
    estimated,
    new_budget,
    new_request,
    progress_of,
    remove_cancelled,
    resumed_reextraction,
    spawn_worker,
    started_reextraction,
)
from varve.output import confirm, say, say_json, say_rows

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

_WATCH_S: Final = 5.0
"""Interval at which `--watch` prints the progress."""


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
    request = new_request("", tenant, schema, method, from_time)
    _, report = run(estimated(settings, request, calls_per_minute=calls_per_minute))
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

    It adds the generation to tenants that lack it. Live traffic keeps priority. Set VARVE_LLM__* to another model to use it for the new
    generation only.
    """
    settings = attached_settings(data)
    limits = new_budget(budget_tokens, budget_cost, calls_per_minute)
    asked = new_request(name, tenant, schema, method, from_time)
    request, report = run(estimated(settings, asked, calls_per_minute=calls_per_minute))
    print_report(report)
    say(budget_line(limits, report.total))
    if not yes:
        confirm(f"extract {counted(report.total.windows, 'window')} into generation {name!r}?")
    started = run(started_reextraction(settings, request, report.total, limits, by=actor(by)))
    say(f"generation {name} is being built for {counted(len(started.tenants), 'tenant')}; watch it with `varve generations show {name}`")
    if not no_worker:
        spawn_worker(settings, name)


@app.command("work")
def work(
    name: NameArgument,
    wait: Annotated[bool, typer.Option("--wait", help="Wait while it is paused, instead of ending: for a Deployment.")] = False,
    data: DataOption = None,
) -> None:
    """Run a worker of a re-extraction until it is paused, cancelled or done, or until SIGTERM. It may be killed at any time."""
    from runtime.logs import configure_logging
    from streams.operations.reextraction.worker import work as work_on
    from streams.run import load_stage

    settings = attached_settings(data)
    configure_logging(settings.log, stage="reextraction")
    load_stage("extraction")  # later it would stop the event loop, and with it the Kafka clients
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
        found = run(progress_of(settings, name))
        if as_json:
            say_json(found.as_json(), indent=not watch)
        else:
            print_progress(found)
        if not watch or found.run.state != "running" or found.is_caught_up:
            return
        time.sleep(_WATCH_S)


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
    from control.generations.reextraction_changes import pause_reextraction

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
    given = {"tokens": budget_tokens, "cost": budget_cost, "calls_per_minute": calls_per_minute}
    changes = {key: value for key, value in given.items() if value is not None}
    resumed, workers = run(resumed_reextraction(settings, name, changes, by=actor(by)))
    say(f"the re-extraction into {name} is {resumed.state}")
    if not no_worker and not workers:
        spawn_worker(settings, name)


@app.command("cancel")
def cancel(
    name: NameArgument,
    patience: Annotated[float, typer.Option(min=1, help="Seconds to wait for each stage.")] = 900.0,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Cancel a re-extraction, and remove all that it has produced. The stages must run. Run it again if it is interrupted."""
    from control.generations.reextraction_changes import cancel_reextraction

    settings = attached_settings(data)
    cancelled = write_control(settings, lambda draft: cancel_reextraction(draft, name), action="reextraction cancel", by=by)
    if cancelled.state == "cancelling":
        run(remove_cancelled(settings, cancelled, by=actor(by), patience_s=patience))
    say(f"the re-extraction into {name} is cancelled")
