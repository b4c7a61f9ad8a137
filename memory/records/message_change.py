"""Changes of earlier messages: records of the ``messages`` log, and the retractions that follow from them in the extractions log."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from memory.records.base import Record
from memory.records.limits import Time
from memory.records.message import Name

CHANGE_COMMANDS = frozenset({"edit", "delete", "hide", "show"})
"""Values of the field ``command`` that make a record of the ``messages`` log a :class:`MessageChange`."""


_OF_MESSAGES = frozenset({"event_time", "text", "content"})
"""A record with an unknown command and one of these is a message that has a field named ``command``."""


class MessageChange(Record):
    """A change of an earlier message of the same session. Its key is that of the message, so it is applied after the message.

    ``edit`` replaces the text, ``delete`` removes it. ``hide`` and ``show`` only decide whether the session's newest messages show it.
    """

    command: Literal["edit", "delete", "hide", "show"]
    tenant: Name
    user: Name
    """The user of the message."""
    session: Name
    id: Name
    """The id of the message."""
    text: str | None = None
    """The new text, for an edit. It must not be blank."""
    edited_at: Time | None = None
    """Time of the edit at its source. Default: the time at which the log received it."""
    request: Name | None = None
    """Name under which the query service waits for the outcome. Without it, a change of an unknown message becomes a dead letter."""

    @model_validator(mode="after")
    def _text_fits(self) -> Self:
        if self.command == "edit" and not (self.text or "").strip():
            raise ValueError("text: an edit needs a text that is not blank; use the command 'delete' to remove the message")
        if self.command != "edit" and self.text is not None:
            raise ValueError(f"text: only an edit has a text, not the command {self.command!r}")
        return self


def is_message_change(fields: Any) -> bool:
    """Whether the parsed value of a record of the ``messages`` log is a change rather than a message.

    So is a record with an unknown command and no content: its producer needs to know the commands, not the fields of a message.
    """
    if not isinstance(fields, dict) or "command" not in fields:
        return False
    command = fields["command"]
    return (isinstance(command, str) and command in CHANGE_COMMANDS) or fields.keys().isdisjoint(_OF_MESSAGES)


class MessageRetraction(Record):
    """A record of the extractions log: results of one window that are based on changed messages do not count any more.

    It takes effect before the window is extracted again, also if that extraction fails.
    """

    tenant: Name
    user: Name
    window_id: str
    revision: int = Field(ge=1)
    """The revision of the window that has the change. Extractions of earlier revisions keep no result that is based on the messages."""
    message_ids: list[Name] = Field(min_length=1)
    is_erasure: bool = False
    """Whether the messages are those of an erased user. Then corrections of results that are based on them are removed as well, and the
    erasure removes earlier extractions of the window from the log."""
