"""Errors that the clients raise."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from varve_client.models import SentMessage


class VarveClientError(Exception):
    """Base of this package's errors."""


class InvalidArgumentError(VarveClientError, ValueError):
    """An address, a key, a name, an id or a limit is not valid. Nothing was sent."""


class UnusableClientError(VarveClientError, RuntimeError):
    """The client is closed, or its HTTP client belongs to another process. Nothing was sent."""


class ServiceUnreachableError(VarveClientError):
    """The service could not be reached, or the connection broke before its response was complete."""


class ServiceProblemError(VarveClientError):
    """The service refused a request, and repeating it did not help.

    Args:
        message: One sentence for people.
        status: The HTTP status.
        kind: The last part of the problem's type, such as ``not-found``; empty if the response was no problem document.
        detail: What was wrong, and what to do.
        trace_id: The id under which the service logged the request, if it says so.
        members: All members of the problem document.
    """

    def __init__(self, message: str, *, status: int, kind: str, detail: str, trace_id: str | None, members: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.trace_id = trace_id
        self.members = dict(members)


class MessagesRefusedError(VarveClientError):
    """The service accepted some messages and refused others. The accepted ones are durable.

    Args:
        message: One sentence for people.
        refused: For each refused message its ``index`` in the sequence that was sent, ``status`` and ``problem``.
        sent: The accepted messages.
    """

    def __init__(self, message: str, *, refused: list[dict[str, Any]], sent: "Sequence[SentMessage]") -> None:
        super().__init__(message)
        self.refused = refused
        self.sent = list(sent)
