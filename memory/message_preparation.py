"""Reading of a message from the log, and its preparation for a window. Pure.

The record in the log stays as it was sent. Windows contain the prepared message: in Varve's own form, without the markup that the tenant's
source uses, and with its time in the user's time zone.
"""

from typing import Final, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, Field

from memory.errors import MalformedRecordError
from memory.markup import Markup, without_markup
from memory.message_shapes import is_native, message_of
from memory.records.message import Message, TimeZoneName
from memory.times import in_zone


class MessageSettings(BaseModel):
    """A tenant's settings for messages."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    time_zone: TimeZoneName | None = None
    """Time zone of messages that name none. Default: the UTC offset of each ``event_time``."""
    unescape: tuple[Markup, ...] = Field(default=(), max_length=2)
    """Markup that is removed from texts before windows are formed: ``html``, ``slack``. Default: none."""


NO_SETTINGS: Final = MessageSettings()


class LoggedMessage(NamedTuple):
    """A message as its record states it."""

    message: Message
    is_native: bool
    """Whether the record has Varve's own form, so that its bytes can be used as they are."""


def read_message(raw: bytes) -> LoggedMessage:
    """Reads a message of any accepted shape from its record.

    Raises:
        UnsupportedVersionError: If its major version is newer than this code's.
        MalformedRecordError: If the bytes are no message, or the message states nothing; names the field.
    """
    try:
        fields = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise MalformedRecordError(f"Message: not JSON in UTF-8: {error}") from error
    return LoggedMessage(message_of(fields), isinstance(fields, dict) and is_native(fields))


def prepared(raw: bytes, logged: LoggedMessage, settings: MessageSettings, *, identity: str) -> tuple[Message, bytes]:
    """A message as windows contain it, and its bytes.

    Args:
        raw: The record in the log.
        logged: The message in it.
        settings: The tenant's settings.
        identity: The message's id.

    Returns:
        The record's own bytes, if there is nothing to change.

    Raises:
        MalformedRecordError: If JSON cannot contain the value of a field.
    """
    message = logged.message
    changes: dict[str, object] = {}
    if message.id is None:
        changes["id"] = identity
    text = without_markup(message.text, settings.unescape) if settings.unescape else message.text
    if text != message.text and text.strip():
        changes["text"] = text
    zone = message.time_zone or settings.time_zone
    if zone is not None:
        local = in_zone(message.event_time, zone)
        if local.utcoffset() != message.event_time.utcoffset():
            changes["event_time"] = local
    if not changes:
        return message, raw if logged.is_native else message.to_json()
    message = message.model_copy(update=changes)
    return message, message.to_json()
