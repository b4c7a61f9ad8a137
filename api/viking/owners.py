"""VikingDB's ids of assistants and groups. Varve has no such fields: the ids of messages contain them, and memories name their messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from api.viking.errors import VikingError

_PREFIX: Final = "viking"
_PARTS: Final = 4
_LONGEST_ID: Final = 256
"""Characters of a message's id."""
_HANDLE: Final = "message"
OF_ASSISTANT: Final = "assistant:"
"""Beginning of the user to whom the events of an assistant without a user belong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The ids under which VikingDB stores an event."""

    user_id: str | None = None
    assistant_id: str | None = None
    group_id: str | None = None

    @property
    def user(self) -> str:
        """The user in Varve. An event without a user belongs to its assistant.

        Raises:
            VikingError: If there is neither.
        """
        if self.user_id is not None:
            return self.user_id
        if self.assistant_id is None:
            raise VikingError(
                "user_id or assistant_id is required; in add_session they are metadata.default_user_id and default_assistant_id"
            )
        return user_of_assistant(self.assistant_id)

    def message_id(self, name: str) -> str:
        """The id of a message with these ids.

        Args:
            name: Distinguishes the message from others of its session.

        Raises:
            VikingError: If the ids are too long.
        """
        parts = (_PREFIX, self.assistant_id or "", self.group_id or "", name)
        joined = "/".join(quote(part, safe="") for part in parts)
        if len(joined) > _LONGEST_ID:
            raise VikingError(
                f"assistant_id and group_id: too long; the id of a message, which contains both, has {_LONGEST_ID} characters"
            )
        return joined


@dataclass(frozen=True, slots=True)
class MessageOwner:
    """The assistants and groups of a memory."""

    assistants: tuple[str, ...]
    groups: tuple[str, ...]

    @classmethod
    def of(cls, user: str | None, evidence: Sequence[str]) -> "MessageOwner":
        """The assistants and groups in the ids of a memory's messages. Messages of other APIs have none.

        Args:
            user: The user of the memory.
            evidence: The ids of its messages.
        """
        assistants: dict[str, None] = {}
        groups: dict[str, None] = {}
        if user is not None and user.startswith(OF_ASSISTANT):
            assistants[user.removeprefix(OF_ASSISTANT)] = None
        for message_id in evidence:
            prefix, *parts = message_id.split("/")
            if prefix == _PREFIX and len(parts) == _PARTS - 1:
                assistant, group, _ = map(unquote, parts)
                assistants.update({assistant: None} if assistant else {})
                groups.update({group: None} if group else {})
        return cls((*assistants,), (*groups,))


@dataclass(frozen=True, slots=True)
class MessageHandle:
    """The ``event_id`` of an added event: it names the message, since the events that are extracted from it have their own ids."""

    user: str
    session: str
    message_id: str

    def __str__(self) -> str:
        return "/".join((_HANDLE, *(quote(part, safe="") for part in (self.user, self.session, self.message_id))))

    @classmethod
    def of(cls, event_id: str) -> "MessageHandle | None":
        """The message that an ``event_id`` names; None if it is the id of a memory."""
        kind, *parts = event_id.split("/")
        return cls(*map(unquote, parts)) if kind == _HANDLE and len(parts) == _PARTS - 1 else None


def user_of_assistant(assistant_id: str) -> str:
    """The user in Varve of an assistant's own events."""
    return f"{OF_ASSISTANT}{assistant_id}"


def user_ids(user: str | None) -> list[str]:
    """The ``user_id`` of a memory as VikingDB returns it."""
    return [] if user is None or user.startswith(OF_ASSISTANT) else [user]


def is_of_assistant(user: str | None) -> bool:
    """Whether a user in Varve is that of an assistant's own events."""
    return user is not None and user.startswith(OF_ASSISTANT)
