"""The settings that a command works with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from varve.errors import SettingsError

if TYPE_CHECKING:
    from runtime.settings import Settings

DataOption = Annotated[Path | None, typer.Option("--data", help="Folder for all local state; VARVE_DATA, or .varve, where not given.")]


def own_settings(data: Path | None = None) -> "Settings":
    """The settings of the environment and the ``.env`` file.

    Args:
        data: The data folder, where the command line gives one.

    Raises:
        SettingsError: If a variable has a value that it cannot have.
    """
    from pydantic import ValidationError

    from memory.records.base import problems_of
    from runtime.settings import Settings

    try:
        return Settings() if data is None else Settings(data=data)
    except ValidationError as error:
        raise SettingsError(f"the settings are wrong: {problems_of(error)}; see docs/settings.md") from error


def settings_in_reach(data: Path | None = None) -> "Settings":
    """The same, pointed at the stack that runs on the data folder, if one does, wherever nothing else was set.

    Raises:
        SettingsError: If a variable has a value that it cannot have.
    """
    from varve.embedded.stack_file import StackFile

    settings = own_settings(data)
    note = StackFile.find(settings.data)
    return settings if note is None else note.apply_to(settings)
