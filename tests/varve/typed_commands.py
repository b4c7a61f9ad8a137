"""Commands as they are typed, in this process."""

from typing import Final

from typer.testing import CliRunner, Result

from runtime.settings import Settings
from tests.process_variables import process_variables
from varve.cli.application import app

LEASE_S: Final = "0.2"
"""A change of the control log is settled after it; the default would make each command wait for half a minute."""


class TypedCommands:
    """Runs commands with the settings of a test.

    Args:
        settings: The settings.
        first: The first words of each command.
        variables: Further environment variables.
    """

    def __init__(self, settings: Settings, *first: str, **variables: str) -> None:
        self._first = first
        self._environment = process_variables(settings) | {"VARVE_CONTROL__LEASE_S": LEASE_S} | variables

    def __call__(self, *arguments: str, exit_code: int = 0, **variables: str | None) -> str:
        """The output of a command that ends with an exit code, or the error that it raises."""
        result = self.result(*arguments, **variables)
        assert result.exit_code == exit_code, result.output
        return result.stdout

    def result(self, *arguments: str, **variables: str | None) -> Result:
        """The result of a command with any exit code, or the error that it raises. A variable that is None is not set."""
        result = CliRunner().invoke(app, (*self._first, *arguments), env={**self._environment, **variables})
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result
