"""The errors of the command line and of what it runs: one sentence each."""

from memory.errors import VarveError


class CommandError(VarveError):
    """Base of this package's errors."""


class MissingPartError(CommandError):
    """Something that the embedded stack needs is not on this machine; says which command brings it."""


class FetchError(CommandError):
    """A download of the embedded stack failed, or has another hash than expected."""


class PortInUseError(CommandError):
    """Another process listens on the requested port."""


class DiskFullError(CommandError):
    """A process found no space left under the data folder."""


class AccessDeniedError(CommandError):
    """A process may not read or write under the data folder."""


class StartError(CommandError):
    """A process ended, or never became ready, while it was started."""


class FolderInUseError(CommandError):
    """Another ``varve dev`` works on the data folder."""


class SettingsError(CommandError):
    """The settings cannot be used; names the variable."""


class ConversationError(CommandError):
    """A file of messages cannot be read, or has an unknown form; says where."""


class UsersMissingError(CommandError):
    """A command on users was told of none, or their file cannot be read."""


class ServiceError(CommandError):
    """The command line has no API key for the query service."""


class StalledError(CommandError):
    """A stage has lag and commits nothing."""
