"""Reads the settings for a command, and explains wrong ones by the variables that set them."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource, InitSettingsSource
from pydantic_settings import SettingsError as ValueParsingError

from memory.validation_problems import problems_of
from runtime.settings import Settings
from varve.errors import SettingsError
from varve.output import say
from varve.setting_names import ineffective_variables, unreadable_variables

_printed: Final[set[str]] = set()
"""Notices about variables, which are printed once, however often a command reads the settings."""


def read_settings(data: Path | None) -> Settings:
    """Reads the settings, and prints a notice for each variable that has no effect.

    Args:
        data: The data folder from the command line, if any.

    Raises:
        SettingsError: If a variable has an invalid value.
    """
    # The sources are passed, so that the notices are about the same reading of the file as the settings.
    given: dict[str, Any] = {} if data is None else {"data": data}
    file = DotEnvSettingsSource(Settings)
    sources = (InitSettingsSource(Settings, given), EnvSettingsSource(Settings), file)
    variables = {**{name.upper(): value for name, value in file.env_vars.items()}, **os.environ}
    _print_once(ineffective_variables(variables))
    try:
        return Settings(_build_sources=(sources, given))
    except ValueParsingError as error:
        named = ", ".join(unreadable_variables(variables))
        raise SettingsError(f"the settings are wrong: {named or error}: the value must be JSON; see docs/reference/settings.md") from error
    except ValidationError as error:
        setters = _setters_of([each["loc"] for each in error.errors()], variables)
        named = f" (set by {', '.join(setters)})" if setters else ""
        raise SettingsError(f"the settings are wrong: {problems_of(error)}{named}; see docs/reference/settings.md") from error


def _print_once(notices: Iterable[str]) -> None:
    for each in notices:
        if each not in _printed:
            _printed.add(each)
            say(f"varve: {each}", err=True)


def _setters_of(paths: Sequence[Sequence[int | str]], variables: Mapping[str, Any]) -> list[str]:
    """The variables that set the fields at some paths of the settings, or their groups."""
    names = {name.upper(): name for name in variables}
    found: dict[str, None] = {}
    for path in paths:
        for length in range(len(path), 0, -1):
            name = f"VARVE_{'__'.join(str(part) for part in path[:length])}".upper()
            if name in names:
                found[names[name]] = None
                break
    return list(found)
