"""``varve messages``: edits or deletes one message."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.interruption import run
from varve.cli.options import DataOption, attached_settings
from varve.output import say

if TYPE_CHECKING:
    from varve_client import AsyncVarveClient, ChangedMessage

app = typer.Typer(help="Single messages: edit, delete.", no_args_is_help=True)

SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="The message's session.")]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The message's id.")]
UserOption = Annotated[str | None, typer.Option(help="The message's user. Default: the user of the API key.")]


@app.command("edit")
def edit(
    session: SessionArgument,
    message_id: IdArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The new text.")],
    user: UserOption = None,
    data: DataOption = None,
) -> None:
    """Replace the text of a message; what was extracted from the old text is retracted."""
    run(_change(data, lambda service: service.edit_message(session, message_id, text, user=user)))


@app.command("delete")
def delete(session: SessionArgument, message_id: IdArgument, user: UserOption = None, data: DataOption = None) -> None:
    """Delete a message, and everything that was extracted from it."""
    run(_change(data, lambda service: service.delete_message(session, message_id, user=user)))


async def _change(data: Path | None, change: "Callable[[AsyncVarveClient], Awaitable[ChangedMessage]]") -> None:
    from varve.service_client import service_client

    async with service_client(attached_settings(data)) as service:
        changed = await change(service)
    say(f"message {changed.id}: {changed.outcome}")
