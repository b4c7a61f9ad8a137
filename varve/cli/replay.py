"""``varve replay``: process a stage's records again, from an earlier offset."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.interruption import run
from varve.cli.embedded import EmbeddedOption, refuse_to_follow, settings_of
from varve.cli.options import DataOption, DespiteErasuresOption, FollowOption, StageArgument, attached_settings, follow, parse_time
from varve.output import say

if TYPE_CHECKING:
    from runtime.settings import Settings
    from streams.operations.replay import ReplayStart


app = typer.Typer()


@app.command()
def replay(
    stage: StageArgument,
    from_time: Annotated[
        datetime | None,
        typer.Option(parser=parse_time, help="Start with records produced at this time (ISO 8601). Default: the beginning."),
    ] = None,
    from_offset: Annotated[int | None, typer.Option(min=0, help="Start at this offset.")] = None,
    partition: Annotated[int | None, typer.Option(min=0, help="Only this partition.")] = None,
    generation: Annotated[
        str | None,
        typer.Option(help="For `extraction`: do not reset it, but build this generation next to the live one, until SIGTERM."),
    ] = None,
    tenant: Annotated[
        list[str] | None,
        typer.Option(help="Tenant of the generation; may be repeated. Default: all tenants that have it and are not live on it."),
    ] = None,
    until_caught_up: FollowOption = False,
    despite_erasures: DespiteErasuresOption = False,
    data: DataOption = None,
    embedded: EmbeddedOption = False,
) -> None:
    """Reset a stage to process records again, under the same ids. Stop its workers before and start them afterwards."""
    refuse_to_follow(embedded, until_caught_up)
    if tenant and generation is None:
        raise typer.BadParameter("a stage is reset for all tenants; use --tenant only with --generation")
    if generation is not None:
        if stage != "extraction" or from_offset is not None or partition is not None:
            raise typer.BadParameter("only `extraction` writes a generation: from the beginning, from a time, or from its last position")
        if embedded:
            raise typer.BadParameter("a generation is written next to the live one: start `varve dev`, and run this without --embedded")
        if until_caught_up:
            raise typer.BadParameter("a worker that writes a generation runs until SIGTERM; `varve generations switch` shows its progress")
        from control.generations.names import generation_named

        _write_generation(attached_settings(data), generation_named(generation), from_time, tenant or [])
        return
    from streams.operations.replay import ReplayStart

    try:
        start = ReplayStart(time=from_time, offset=from_offset, partition=partition)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    run(_set_back(stage, start, data, embedded=embedded, until_caught_up=until_caught_up, despite_erasures=despite_erasures))


async def _set_back(
    stage: str, start: "ReplayStart", data: Path | None, *, embedded: bool, until_caught_up: bool, despite_erasures: bool
) -> None:
    from streams.operations.replay import replay as set_back

    async with settings_of(data, embedded) as settings:
        moved = await set_back(settings, stage, start, despite_erasures=despite_erasures, notice=typer.echo)
        typer.echo(
            f"start the workers of {stage}: they continue from there"
            if moved
            else f"{stage} has not reached that position: nothing to reset"
        )
        if moved and until_caught_up:
            await follow(settings)


def _write_generation(settings: "Settings", generation: str, since: datetime | None, named: list[str]) -> None:
    from control import Draft, read_control
    from control.generations.starting import set_start, tenants_to_write
    from streams.run import run_stage

    tenants = tenants_to_write(Draft(run(read_control(settings))), generation, named=named)
    say(f"writing generation {generation or 'the first'} of {', '.join(tenants)}")
    run(set_start(settings, generation, since=since))
    run_stage("extraction", settings, generation=generation, only=frozenset(tenants))
