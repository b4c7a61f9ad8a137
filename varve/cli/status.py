"""``varve status`` and ``varve config``: the status of stages and programs, and the effective settings."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory.texts.visible_text import visible
from runtime.interruption import pause, run, run_until_signal
from varve.cli.options import DataOption, attached_settings
from varve.output import say

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from varve.stage_status import StageStatus
    from varve.supervisor.supervisor import ProgramState


app = typer.Typer()

_UNKNOWN: Final = "?: only the workers know it, and what holds a stage. Give their health pages: --pages http://varve-{stage}:9100"


@app.command()
def status(
    over: Annotated[float, typer.Option(min=0.1, help="Seconds between the two readings for the rates.")] = 1.0,
    watch: Annotated[bool, typer.Option("--watch", help="Refresh until Ctrl-C.")] = False,
    pages: Annotated[
        str | None,
        typer.Option(
            help="Health pages of the workers, such as `http://varve-{stage}:9100`. Each address of the name is asked. "
            "Default: those of the `varve dev` on the data folder."
        ),
    ] = None,
    data: DataOption = None,
) -> None:
    """Show each stage's lag, rate, errors and blockers, and the tenants whose records are parked.

    Errors, readiness, blockers and problems are known to the workers only, and are `?` or missing if their pages are not given.
    """
    shown = _status(over, data, watch=watch, pages=pages)
    run_until_signal(shown) if watch else run(shown)


def status_table(stages: "Sequence[StageStatus]", programs: "Sequence[ProgramState]" = ()) -> "Table":
    """A row for each program, with its stage's figures; without programs, a row for each stage.

    Args:
        stages: The status of the stages that could be read.
        programs: The processes that this command runs.
    """
    from rich.table import Table

    by_name = {stage.name: stage for stage in stages}
    table = Table(box=None, pad_edge=False)
    table.add_column("part", no_wrap=True)
    if programs:
        table.add_column("state")
    for column in ("lag", "parked", "records/s", "dead\nletters", "retries", "oldest", "deleted\nin"):
        table.add_column(column, justify="right", no_wrap=not programs)
    if programs:
        table.add_column("memory", justify="right")
        table.add_column("restarts", justify="right")
    else:
        table.add_column("ready", justify="right", no_wrap=True)
    for program in programs:
        figures = _figures(by_name.get(program.name))
        table.add_row(program.name, program.phase, *figures, _megabytes(program.memory_bytes), str(program.restarts))
    if not programs:
        for stage in stages:
            ready = {True: "yes", False: "no", None: "?"}[stage.ready]
            table.add_row(stage.name, *_figures(stage), ready)
    return table


def status_report(stages: "Sequence[StageStatus]") -> "Group":
    """The table, and a line for each stage that waits for a command, is held, reports a problem, or has parked records."""
    from rich.console import Group
    from rich.text import Text

    held = [Text(f"{stage.name} is held at partition/offset {visible(stage.held_by)}") for stage in stages if stage.held_by]
    waiting = [
        Text(f"{stage.name} waits: `varve {visible(stage.unfinished)}` was interrupted; run it again")
        for stage in stages
        if stage.unfinished
    ]
    problems = [Text(f"{stage.name} reports {visible(problem)}") for stage in stages for problem in stage.problems]
    unknown = [Text(_UNKNOWN)] if stages and all(stage.ready is None for stage in stages) else []
    return Group(
        status_table(stages), *waiting, *held, *problems, *(Text(_parked(stage)) for stage in stages if stage.parked.count), *unknown
    )


def _probes(pages: str) -> dict[str, str]:
    """The URL of each stage's health pages.

    Raises:
        typer.BadParameter: If the text is no such URL.
    """
    from streams.stages.catalog import STAGES

    probes = {name: pages.replace("{stage}", name).rstrip("/") for name in STAGES}
    if len(set(probes.values())) < len(probes) or not all(_is_page(each) for each in probes.values()):
        raise typer.BadParameter(f"{pages!r} is no URL with {{stage}}, such as http://varve-{{stage}}:9100", param_hint="--pages")
    return probes


def _is_page(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        return parts.scheme == "http" and bool(parts.hostname) and parts.port is not None
    except ValueError:
        return False


async def _status(over: float, data: Path | None, *, watch: bool, pages: str | None) -> None:
    from rich.console import Console
    from rich.live import Live

    from varve.embedded.stack_file import StackFile
    from varve.stage_status import StageStatusReader

    probes = None if pages is None else _probes(pages)
    settings = attached_settings(data)
    if probes is None:
        stack = StackFile.find(settings.data)
        probes = dict(stack.probes) if stack else {}
    console = Console(highlight=False)
    async with StageStatusReader(settings=settings, probes=probes) as reader:
        shown = status_report(await reader.read())
        if not watch:
            await asyncio.sleep(over)
            console.print(status_report(await reader.read()))
            return
        if not console.is_terminal:
            while True:
                await pause(over)
                console.print(status_report(await reader.read()))
        with Live(shown, console=console, auto_refresh=False) as live:
            while True:
                await pause(over)
                live.update(status_report(await reader.read()), refresh=True)


def _parked(stage: "StageStatus") -> str:
    tenants = ", ".join(f"{visible(tenant)} ({count:,})" for tenant, count in stage.parked.tenants.items())
    return f"{stage.name} has parked {stage.parked.count:,} records, which wait for their tenants' budgets or schemas. Most has: {tenants}"


def _figures(stage: "StageStatus | None") -> tuple[str, ...]:
    if stage is None:
        return ("",) * 7
    ages = (_span(stage.oldest_s), _span(stage.retention_left_s))
    return str(stage.lag), str(stage.parked.count), _number(stage.rate), _number(stage.dead_letters), _number(stage.retries), *ages


def _span(seconds: float | None) -> str:
    """A length of time in its largest unit."""
    if seconds is None:
        return ""
    units = (("d", 86_400), ("h", 3600), ("min", 60))
    name, length = next(((name, length) for name, length in units if abs(seconds) >= length), ("s", 1))
    return f"{seconds / length:,.0f} {name}"


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:,.1f}" if isinstance(value, float) else str(value)


def _megabytes(value: int | None) -> str:
    return "" if value is None else f"{value / 1e6:,.0f} MB"


@app.command()
def config(data: DataOption = None) -> None:
    """Print the effective settings as environment variables, secrets masked."""
    from runtime.settings_table import setting_rows

    for row in setting_rows(attached_settings(data)):
        say(f"{row.name}={row.value}")
