"""``varve dlq``: list, show, redrive and purge dead letters."""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import DataOption, attached_settings, parse_time
from varve.output import say, say_json

if TYPE_CHECKING:
    from memory.positions import LogPosition
    from runtime.dead_letters import DeadLetterBox, DeadLetterSelection, DeadLetterState
    from runtime.settings import Settings

_Result = TypeVar("_Result")

app = typer.Typer(help="Dead letters, the records that could not be processed: list, show, redrive, purge.", no_args_is_help=True)

TenantOption = Annotated[str | None, typer.Option(help="Only this tenant.")]
StageOption = Annotated[str | None, typer.Option(help="Only dead letters of this stage.")]
ReasonOption = Annotated[str | None, typer.Option(help="Only dead letters with this reason.")]
SinceOption = Annotated[
    datetime | None, typer.Option(parser=parse_time, help="Only dead letters written at this time or later (ISO 8601).")
]
UntilOption = Annotated[datetime | None, typer.Option(parser=parse_time, help="Only dead letters written before this time (ISO 8601).")]
AtOption = Annotated[list[str] | None, typer.Option(help="Only the dead letter at partition/offset; may be repeated.")]
AllOption = Annotated[bool, typer.Option("--all", help="Select all; required if no other option selects.")]


@app.command("list")
def list_letters(
    tenant: TenantOption = None,
    stage: StageOption = None,
    reason: ReasonOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    settled: Annotated[bool, typer.Option("--settled", help="Also dead letters that were redriven or superseded.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
    data: DataOption = None,
) -> None:
    """List dead letters, oldest first; and their numbers by stage, reason and tenant, on standard error."""
    settings = attached_settings(data)
    states: list[DeadLetterState] = ["open", "redriven", "superseded"] if settled else ["open"]
    selection = _selection(settings, tenant, stage, reason, since, until, states=states)
    letters = run(_with_box(settings, lambda box: box.letters(selection)))
    if as_json:
        for letter in letters:
            say_json(letter.as_json())
        return
    for letter in letters:
        metadata = letter.metadata
        given_up = f"{metadata.last_time:%Y-%m-%d %H:%M:%S}"
        source = (metadata.tenant or "-", metadata.stage, metadata.reason, metadata.detail)
        say("\t".join((letter.position.within_topic, letter.state, given_up, *(" ".join(each.split())[:120] for each in source))))
    groups = Counter((each.metadata.stage, each.metadata.reason, each.metadata.tenant or "-") for each in letters)
    for (of_stage, of_reason, of_tenant), count in groups.most_common():
        say(f"{count} of {of_stage}: {of_reason}, tenant {of_tenant}", err=True)
    say(f"{counted(len(letters), 'dead letter')}", err=True)


@app.command("show")
def show(position: Annotated[str, typer.Argument(help="partition/offset, as `varve dlq list` names it.")], data: DataOption = None) -> None:
    """Show one dead letter with its content and headers, as JSON."""
    settings = attached_settings(data)
    place = _position(settings, position)
    letter = run(_with_box(settings, lambda box: box.open(place)))
    say_json(letter.as_json(), indent=True)


@app.command("redrive")
def redrive(
    tenant: TenantOption = None,
    stage: StageOption = None,
    reason: ReasonOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    at: AtOption = None,
    everything: AllOption = False,
    again: Annotated[bool, typer.Option("--again", help="Also dead letters that were redriven before.")] = False,
    vouch: Annotated[
        bool,
        typer.Option("--vouch", help="Trust these messages: accept them without a signature and with an expired seal."),
    ] = False,
    data: DataOption = None,
) -> None:
    """Send dead letters back to their stages under their original identity. Redriving one twice has no further effect."""
    settings = attached_settings(data)
    states: list[DeadLetterState] = ["open", "redriven"] if again else ["open"]
    selection = _selection(settings, tenant, stage, reason, since, until, at=at, states=states)
    _require_narrow(selection, everything=everything)
    result = run(_with_box(settings, lambda box: box.redrive(selection, is_vouched=vouch)))
    say(f"{result.redriven} redriven, {result.superseded} superseded by a newer value, {len(result.refused)} refused")
    for line in result.refused:
        say(line, err=True)
    _require_found(selection, result.redriven + result.superseded + len(result.refused))


@app.command("purge")
def purge(
    tenant: TenantOption = None,
    stage: StageOption = None,
    reason: ReasonOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    at: AtOption = None,
    everything: AllOption = False,
    settled: Annotated[bool, typer.Option("--settled", help="Also dead letters that were redriven or superseded.")] = False,
    data: DataOption = None,
) -> None:
    """Purge dead letters permanently: they are no longer listed or redriven."""
    settings = attached_settings(data)
    states: list[DeadLetterState] = ["open", "redriven", "superseded"] if settled else ["open"]
    selection = _selection(settings, tenant, stage, reason, since, until, at=at, states=states)
    _require_narrow(selection, everything=everything)
    purged = run(_with_box(settings, lambda box: box.purge(selection)))
    say(f"{purged} purged")
    _require_found(selection, purged)


def _selection(
    settings: "Settings",
    tenant: str | None,
    stage: str | None,
    reason: str | None,
    since: datetime | None,
    until: datetime | None,
    *,
    states: "list[DeadLetterState]",
    at: list[str] | None = None,
) -> "DeadLetterSelection":
    from runtime.dead_letters import DeadLetterSelection

    return DeadLetterSelection(
        tenant=tenant,
        stage=stage,
        reason=reason,
        since=since,
        until=until,
        positions=frozenset(_position(settings, each, option="--at") for each in at or ()),
        states=frozenset(states),
    )


def _position(settings: "Settings", text: str, *, option: str | None = None) -> "LogPosition":
    from memory.errors import PositionFormatError
    from memory.positions import LogPosition
    from memory.topics import DEAD_LETTERS

    try:
        return LogPosition.parse_within(settings.topic(DEAD_LETTERS.name), text)
    except PositionFormatError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def _require_narrow(selection: "DeadLetterSelection", *, everything: bool) -> None:
    if not (selection.narrows or everything):
        raise typer.BadParameter("give a tenant, stage, reason, time or position, or --all")


def _require_found(selection: "DeadLetterSelection", found: int) -> None:
    """Exits with 1 if a given position has no such letter: it was mistyped, or the letter is settled."""
    missing = len(selection.positions) - found
    if missing > 0:
        say(f"no such dead letter at {missing} of the places that --at names: `varve dlq list --settled` shows all there are", err=True)
        raise typer.Exit(1)


async def _with_box(settings: "Settings", use: "Callable[[DeadLetterBox], Awaitable[_Result]]") -> _Result:
    from runtime.clocks import SystemClock
    from runtime.dead_letters import DeadLetterBox
    from runtime.kafka import Producer

    async with Producer(kafka=settings.kafka) as producer:
        return await use(DeadLetterBox(settings=settings, producer=producer, clock=SystemClock()))
