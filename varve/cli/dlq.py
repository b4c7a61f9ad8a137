"""``varve dlq``: what could not be processed, listed, shown, driven again, put away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from varve.cli.context import DataOption, settings_in_reach
from varve.cli.moments import moment

if TYPE_CHECKING:
    from runtime.dead_letters import DeadLetterBox, Driven, Letter, Opened, Place, Selection, State

app = typer.Typer(help="Dead letters: what could not be processed.", no_args_is_help=True)

TenantOption = Annotated[str | None, typer.Option(help="Only this tenant's.")]
StageOption = Annotated[str | None, typer.Option(help="Only those that this stage refused.")]
ReasonOption = Annotated[str | None, typer.Option(help="Only those refused for this reason.")]
SinceOption = Annotated[datetime | None, typer.Option(parser=moment, help="Only those given up at this time or later (ISO 8601).")]
UntilOption = Annotated[datetime | None, typer.Option(parser=moment, help="Only those given up before this time (ISO 8601).")]
AtOption = Annotated[list[str] | None, typer.Option(help="Only the one at this place, partition/offset; may be repeated.")]
AllOption = Annotated[bool, typer.Option("--all", help="Needed where nothing else narrows the choice.")]


@app.command("list")
def list_letters(
    tenant: TenantOption = None,
    stage: StageOption = None,
    reason: ReasonOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    settled: Annotated[bool, typer.Option("--settled", help="Also those that were driven again or superseded.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line.")] = False,
    data: DataOption = None,
) -> None:
    """List dead letters, oldest first."""
    selection = _selection(tenant, stage, reason, since, until, states=["open", "redriven", "superseded"] if settled else ["open"])
    letters = asyncio.run(_letters(selection, data))
    if as_json:
        for letter in letters:
            typer.echo(orjson.dumps(letter.as_json()))
        return
    for letter in letters:
        story = letter.metadata
        typer.echo(
            f"{letter.place}\t{letter.state}\t{story.last_time:%Y-%m-%d %H:%M:%S}\t{story.tenant or '-'}\t{story.stage}\t{story.reason}"
            f"\t{' '.join(story.detail.split())[:120]}"
        )
    typer.echo(f"{len(letters)} dead letters", err=True)


@app.command("show")
def show(place: Annotated[str, typer.Argument(help="partition/offset, as `varve dlq list` names it.")], data: DataOption = None) -> None:
    """Show one dead letter with its content and headers, as JSON."""
    from runtime.dead_letters import Place

    try:
        parsed = Place.parse(place)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    opened = asyncio.run(_opened(parsed, data))
    typer.echo(orjson.dumps(opened.as_json(), option=orjson.OPT_INDENT_2))


@app.command("redrive")
def redrive(
    tenant: TenantOption = None,
    stage: StageOption = None,
    reason: ReasonOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    at: AtOption = None,
    everything: AllOption = False,
    again: Annotated[bool, typer.Option("--again", help="Also those that were driven before: harmless.")] = False,
    data: DataOption = None,
) -> None:
    """Send dead letters to their stages again, each with the identity it had: driving one twice changes nothing."""
    selection = _selection(tenant, stage, reason, since, until, at=at, states=["open", "redriven"] if again else ["open"])
    _require_narrow(selection, everything)
    driven = asyncio.run(_redriven(selection, data))
    typer.echo(f"{driven.redriven} driven again, {driven.superseded} superseded by a newer value, {len(driven.refused)} refused")
    for line in driven.refused:
        typer.echo(line, err=True)


@app.command("purge")
def purge(
    tenant: TenantOption = None,
    stage: StageOption = None,
    reason: ReasonOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    at: AtOption = None,
    everything: AllOption = False,
    settled: Annotated[bool, typer.Option("--settled", help="Also those that were driven again or superseded.")] = False,
    data: DataOption = None,
) -> None:
    """Put dead letters away for good: they are not shown and not driven any more."""
    states: list[State] = ["open", "redriven", "superseded"] if settled else ["open"]
    selection = _selection(tenant, stage, reason, since, until, at=at, states=states)
    _require_narrow(selection, everything)
    typer.echo(f"{asyncio.run(_purged(selection, data))} purged")


def _selection(
    tenant: str | None,
    stage: str | None,
    reason: str | None,
    since: datetime | None,
    until: datetime | None,
    *,
    states: "list[State]",
    at: list[str] | None = None,
) -> "Selection":
    from runtime.dead_letters import Place, Selection

    try:
        places = frozenset(map(Place.parse, at or ()))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--at") from error
    return Selection(tenant=tenant, stage=stage, reason=reason, since=since, until=until, places=places, states=frozenset(states))


def _require_narrow(selection: "Selection", everything: bool) -> None:
    if not (selection.narrows or everything):
        raise typer.BadParameter("name a tenant, stage, reason, time or place, or say --all")


async def _letters(selection: "Selection", data: Path | None) -> "list[Letter]":
    async with _box(data) as box:
        return await box.letters(selection)


async def _opened(place: "Place", data: Path | None) -> "Opened":
    async with _box(data) as box:
        return await box.open(place)


async def _redriven(selection: "Selection", data: Path | None) -> "Driven":
    async with _box(data) as box:
        return await box.redrive(selection)


async def _purged(selection: "Selection", data: Path | None) -> int:
    async with _box(data) as box:
        return await box.purge(selection)


@asynccontextmanager
async def _box(data: Path | None) -> "AsyncIterator[DeadLetterBox]":
    from runtime.clocks import SystemClock
    from runtime.dead_letters import DeadLetterBox
    from runtime.kafka import Producer

    settings = settings_in_reach(data)
    async with Producer(kafka=settings.kafka) as producer:
        yield DeadLetterBox(settings=settings, producer=producer, clock=SystemClock())
