"""``varve config``: the settings in force."""

import typer

from varve.cli.context import DataOption, settings_in_reach


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(config)


def config(data: DataOption = None) -> None:
    """Print the settings in force as environment variables, secrets masked."""
    from runtime.settings_table import setting_rows

    for row in setting_rows(settings_in_reach(data)):
        typer.echo(f"{row.name}={row.value}")
