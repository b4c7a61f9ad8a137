"""What goes wrong on the top floor: one sentence each, for the person at the command line."""

from memory.errors import VarveError


class TopFloorError(VarveError):
    """Base of this package's errors."""


class MissingPartError(TopFloorError):
    """A part of the embedded stack is not on this machine; says which command brings it."""


class FetchError(TopFloorError):
    """The parts of the embedded stack cannot be fetched, or are not what they should be."""


class PortInUseError(TopFloorError):
    """Another program listens on a port that was asked for."""


class DiskFullError(TopFloorError):
    """A process found no space left under the data folder."""


class AccessDeniedError(TopFloorError):
    """A process may not read or write under the data folder."""


class StartError(TopFloorError):
    """A process ended, or never became ready, while it was started."""


class FolderInUseError(TopFloorError):
    """Another ``varve dev`` works on the data folder."""


class SettingsError(TopFloorError):
    """The settings cannot be used; names the variable."""


class ConversationError(TopFloorError):
    """A file of messages has another form than it should; says where."""


class ServiceError(TopFloorError):
    """The query service refused a request, or cannot be reached."""


class StalledError(TopFloorError):
    """A stage does not get on with what lies in its topic."""
