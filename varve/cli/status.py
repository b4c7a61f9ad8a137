"""``varve status``: how far each stage has come."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from varve.cli.context import DataOption, settings_in_reach


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(status)


def status(
    over: Annotated[float, typer.Option(min=0.1, help="Seconds between the two readings that the rates come from.")] = 1.0,
    data: DataOption = None,
) -> None:
    """Show each stage's lag, rate and errors."""
    asyncio.run(_status(over, data))


async def _status(over: float, data: Path | None) -> None:
    from rich.console import Console

    from varve.cli.status_table import stage_table
    from varve.embedded.stack_file import StackFile
    from varve.supervisor.stage_status import StageStatusReader

    settings = settings_in_reach(data)
    note = StackFile.find(settings.data)
    async with StageStatusReader(settings=settings, probes=note.probes if note else {}) as reader:
        await reader.read()
        await asyncio.sleep(over)
        Console().print(stage_table(await reader.read(), parts=[]))
