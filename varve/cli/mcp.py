"""``varve mcp``: an MCP server on the standard streams."""

from typing import Annotated, Final

import typer

from runtime.interruption import run
from varve.cli.options import DataOption, attached_settings

app = typer.Typer()

_GRACE_S: Final = 0.5
"""After a signal. Only the client's next line ends the thread that waits for it, and there is nothing to clean up."""


@app.command()
def mcp(
    user: Annotated[
        str | None, typer.Option(help="User for requests that name none. Default: the user to whom the key is bound.", metavar="USER")
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Session for messages that name none. Default: one session per user.", metavar="SESSION")
    ] = None,
    data: DataOption = None,
) -> None:
    """Serve the memory of a running service to an MCP client that starts this command."""
    from runtime.errors import ExtraMissingError

    try:
        from api.mcp.stdio import serve_stdio
    except ModuleNotFoundError as error:
        raise ExtraMissingError("`varve mcp`", "mcp") from error
    from varve.service_client import service_client

    settings = attached_settings(data)

    async def serve() -> None:
        async with service_client(settings, max_attempts=settings.client.max_attempts) as varve:
            assert settings.client.api_key is not None, "service_client requires it"
            await serve_stdio(varve, api_key=settings.client.api_key.get_secret_value(), user=user, session=session)

    run(serve(), grace_s=lambda: _GRACE_S)
