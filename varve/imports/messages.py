"""The messages that an import makes of an export, and what it leaves out. Pure."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

import orjson

from memory.messages.message_parts import json_type
from memory.records.limits import EARLIEST_TIME, LATEST_TIME, is_recordable_time
from varve.errors import ImportFileError, UnreadableTimeError
from varve.imports.files import ExportFile, Item

NO_TEXT: Final = "no text"
NO_TIME: Final = "no time"
UNREADABLE_TIME: Final = "a time that cannot be read"

_MOST_SECONDS: Final = 20_000_000_000
"""A greater number counts milliseconds."""

DateOrder = Literal["day-first", "month-first", "year-first"]
DATE_ORDERS: Final[tuple[DateOrder, ...]] = get_args(DateOrder)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Items that are not imported."""

    reason: str
    count: int = 1
    problem: str | None = None
    """The error of the item, with its place. Default: none."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something of an imported message that Varve does not keep up."""

    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """Statements of the caller about an export."""

    user: str | None = None
    """The user of messages that name none. In chats of several people, the one user to whose memory all messages belong."""
    session: str | None = None
    """The session of messages that name none."""
    time_zone: str = "UTC"
    """IANA name of the time zone of times without one."""
    date_order: DateOrder | None = None
    """The order of the numbers of a date. Default: follows from the dates of the file."""
    start: datetime | None = None
    """The time of the first message without a time, with a zone. Each further one is a second later."""

    def parts(self) -> tuple[str | None, ...]:
        """The options as texts: imports with others are other imports."""
        return self.user, self.session, self.time_zone, self.date_order, None if self.start is None else self.start.isoformat()


Found = dict[str, Any] | Skipped | Remark
"""A message, items that are left out, or a remark about the message before."""
Read = Callable[[Item, ImportOptions], Iterator[Found]]
ReadFile = Callable[[ExportFile, ImportOptions], Iterator[Found]]


def said(messages: list[dict[str, Any]], options: ImportOptions, item: Item) -> Iterator[Found]:
    """The messages with names, times and ids; without those that have no text or no time."""
    for each in messages:
        text = each.get("text")
        if not isinstance(text, str) or not text.strip():
            yield Skipped(NO_TEXT)
            continue
        try:
            time = time_of(each.get("event_time"), item)
        except UnreadableTimeError as error:
            yield unreadable_time(error)
            continue
        if time is None:
            yield Skipped(NO_TIME)
            continue
        defaults = {"user": options.user, "session": options.session}
        message = named({**defaults, **{name: value for name, value in each.items() if value is not None}}, item)
        yield {**message, "event_time": time, "id": each.get("id") or content_id(message, time)}


def named(message: dict[str, Any], item: Item) -> dict[str, Any]:
    """Returns a message that names a user and a session.

    Raises:
        ImportFileError: If it does not, or a name is no text.
    """
    for name in ("user", "session"):
        if not message.get(name):
            raise ImportFileError(f"{item.place} names no {name}: give --{name} NAME")
        if not isinstance(message[name], str):
            raise ImportFileError(f"{item.place}: its {name} is {json_type(message[name])}, and must be a string")
    return message


def unreadable_time(error: UnreadableTimeError) -> Skipped:
    """A message that is left out, because its time cannot be read: one such message must not keep the others of the file out."""
    return Skipped(UNREADABLE_TIME, problem=str(error))


def another_form(what: str, item: Item) -> ImportFileError:
    """The error for an item that is not what the format says."""
    kind = json_type(item.value)
    fields = f" with {', '.join(sorted(map(str, item.value))[:8])}" if isinstance(item.value, Mapping) else ""
    return ImportFileError(f"{item.place} is not {what}, but {kind}{fields}; is --format right?")


def time_of(value: Any, item: Item) -> str | None:
    """A time in ISO 8601; None if there is none. A time without a zone is UTC, as the services export it. Numbers as in the HTTP API.

    Raises:
        UnreadableTimeError: If it is in no known form.
    """
    if value is None or value == "":
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value / 1000 if abs(value) > _MOST_SECONDS else value, UTC)
        else:
            found = datetime.fromisoformat(value)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise UnreadableTimeError(f"{item.place}: {value!r} is no time: expected ISO 8601, or (milli)seconds since 1970") from error
    return recordable(found if found.tzinfo is not None else found.replace(tzinfo=UTC), item).isoformat()


def recordable(time: datetime, item: Item) -> datetime:
    """Returns an (aware) time that the service accepts.

    Raises:
        UnreadableTimeError: If it is too near the ends of the calendar.
    """
    if not is_recordable_time(time):
        years = f"{EARLIEST_TIME.year} to {LATEST_TIME.year - 1}"
        raise UnreadableTimeError(f"{item.place}: {time.isoformat()} is not in the years {years}")
    return time


def content_id(message: Mapping[str, Any], time: str) -> str:
    """An id for a message without one: the same content has the same id, so that a repeated import stores it once."""
    content = [message["user"], message["session"], message.get("role"), message.get("speaker"), message["text"], time]
    return f"import-{hashlib.sha256(orjson.dumps(content)).hexdigest()[:32]}"
