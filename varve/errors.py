"""Errors of the command line, the supervisor and the embedded stack; each message is one sentence."""

from memory.errors import VarveError


class CommandError(VarveError):
    """Base of this package's errors."""


class MissingPartError(CommandError):
    """A part of the embedded stack is not installed; the message names the command that installs it."""


class FetchError(CommandError):
    """A download of the embedded stack failed, or has an unexpected hash."""


class PortInUseError(CommandError):
    """Another process listens on the requested port."""


class OutputError(CommandError):
    """Not all output could be written, or there is no input to ask on."""


class DiskFullError(CommandError):
    """A process found no space left under the data folder."""


class AccessDeniedError(CommandError):
    """A process may not read or write under the data folder."""


class StartError(CommandError):
    """A process ended during its start, or did not become ready in time."""


class FolderInUseError(CommandError):
    """Another ``varve dev`` uses the data folder."""


class SettingsError(CommandError):
    """A setting is invalid; the message names the variable."""


class ConversationError(CommandError):
    """A file of messages cannot be read, or has an unknown form; the message says where."""


class ImportFileError(CommandError):
    """An export of another service cannot be read, or has another form; the message says where."""


class UnreadableTimeError(ImportFileError):
    """A message of an export has a time in no known form; the message says where."""


class UsersMissingError(CommandError):
    """A command on users was given none, or their file cannot be read."""


class ServiceError(CommandError):
    """The command line has no API key for the query service."""


class StalledError(CommandError):
    """A stage has lag and makes no progress."""
