"""What several commands share: the option ``--data``, times, notices, and the settings to work with."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from varve.errors import SettingsError
from varve.output import say

if TYPE_CHECKING:
    from runtime.settings import Settings

DataOption = Annotated[Path | None, typer.Option("--data", help="Folder for all local state; VARVE_DATA, or .varve, where not given.")]


def parse_time(text: str | datetime) -> datetime:
    """Parses an ISO 8601 time; one without a zone is UTC.

    Raises:
        typer.BadParameter: If it is no such time.
    """
    if isinstance(text, datetime):
        return text
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no ISO 8601 time, such as 2024-05-01T12:00:00Z") from error
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def print_notice(line: str) -> None:
    """Prints a line about what happens, to standard error."""
    say(f"varve: {line}", err=True)


def load_settings(data: Path | None = None) -> "Settings":
    """Loads the settings of the environment and the ``.env`` file.

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


def attached_settings(data: Path | None = None) -> "Settings":
    """Loads the settings and, where a stack runs on the data folder, takes its addresses for those that were not given.

    Raises:
        SettingsError: If a variable has a value that it cannot have.
    """
    from varve.embedded.stack_file import StackFile

    settings = load_settings(data)
    stack = StackFile.find(settings.data)
    return settings if stack is None else stack.apply_to(settings)
