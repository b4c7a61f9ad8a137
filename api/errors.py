"""Errors of the query service that are not responses to requests."""

from memory.errors import VarveError


class ExtraMissingError(VarveError):
    """The packages of an extra are not installed; the message names the command that installs them.

    Args:
        wanted_by: The setting or command that needs the extra.
        extra: The extra's name.
    """

    def __init__(self, wanted_by: str, extra: str) -> None:
        super().__init__(f"{wanted_by} needs the extra `{extra}`: pip install 'varve-server[{extra}]'")
