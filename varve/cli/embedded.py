"""The option ``--embedded``: a command on the servers of a stopped ``varve dev`` stack, whose stages have to be stopped for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from varve.cli.options import attached_settings, load_settings, print_notice

if TYPE_CHECKING:
    from runtime.settings import Settings

EmbeddedOption = Annotated[
    bool, typer.Option("--embedded", help="Start the servers of the stopped `varve dev` stack on the data folder while the command runs.")
]


def refuse_to_follow(embedded: bool, until_caught_up: bool) -> None:
    """Refuses ``--embedded`` with ``--follow``.

    Raises:
        typer.BadParameter: If both are given.
    """
    if embedded and until_caught_up:
        raise typer.BadParameter("the servers of --embedded stop with this command: start `varve dev`, which shows how far the stages are")


@asynccontextmanager
async def settings_of(data: Path | None, embedded: bool) -> AsyncIterator["Settings"]:
    """The settings to work with, for the length of a block.

    Args:
        data: The data folder, where the command line gives one.
        embedded: Whether the folder's servers are started for it.

    Raises:
        VarveError: If the settings are wrong, or a server cannot be started; in one sentence.
    """
    if not embedded:
        yield attached_settings(data)
        return
    from varve.embedded.lifecycle import running_servers

    async with running_servers(load_settings(data), notice=print_notice) as settings:
        yield settings
