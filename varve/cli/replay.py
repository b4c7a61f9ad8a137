"""``varve replay``: a stage again from an earlier place."""

import asyncio
from datetime import datetime
from typing import Annotated

import typer

from varve.cli.context import DataOption, settings_in_reach
from varve.cli.moments import moment


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(replay)


def replay(
    stage: Annotated[str, typer.Argument(help="sessions, extraction, events, entities or index.")],
    from_time: Annotated[
        datetime | None, typer.Option(parser=moment, help="Records produced at this time or later (ISO 8601); the beginning if not given.")
    ] = None,
    from_offset: Annotated[int | None, typer.Option(min=0, help="Records from this offset on.")] = None,
    partition: Annotated[int | None, typer.Option(min=0, help="Only this partition.")] = None,
    data: DataOption = None,
) -> None:
    """Set a stage back, to run again into the same ids; its workers have to be stopped, and carry it out once started again."""
    from streams.replay import ReplayStart
    from streams.replay import replay as set_back

    try:
        start = ReplayStart(time=from_time, offset=from_offset, partition=partition)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    moved = asyncio.run(set_back(settings_in_reach(data), stage, start, notice=typer.echo))
    typer.echo(f"start the workers of {stage}: they go on from there" if moved else f"{stage} has not come that far: nothing to set back")
