"""``varve config``: the effective settings."""

import typer

from varve.cli.options import DataOption, attached_settings
from varve.output import say

app = typer.Typer()


@app.command()
def config(data: DataOption = None) -> None:
    """Print the effective settings as environment variables, secrets masked."""
    from runtime.settings_table import setting_rows

    for row in setting_rows(attached_settings(data)):
        say(f"{row.name}={row.value}")
