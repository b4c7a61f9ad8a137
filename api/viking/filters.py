"""VikingDB's filters: an object whose conditions are joined by AND; a list of values means any of them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from varve_client import Memory

from api.viking.errors import FilterError
from api.viking.owners import MessageOwner
from memory.records.limits import is_recordable_time
from memory.texts.text import quoted

MAX_VALUES: Final = 64
"""Most values of one field. A search is one recall for each user."""

EVENT_TYPES: Final = frozenset({"event_v1", "sys_event_v1"})
"""VikingDB's built-in type of events: in Varve every type of event."""
PROFILE_TYPES: Final = frozenset({"profile_v1", "sys_profile_v1"})
"""VikingDB's built-in type of profiles: in Varve every type of entity."""

SEARCH_FIELDS: Final = ("user_id", "assistant_id", "group_id", "session_id", "memory_type", "start_time", "end_time")
PROFILE_FIELDS: Final = ("user_id", "assistant_id", "group_id", "memory_type", "primary_key", "start_time", "end_time")
ALL_FIELDS: Final = (*SEARCH_FIELDS, "primary_key")
DELETE_FIELDS: Final = ("user_id", "assistant_id", "group_id", "event_type", "start_time", "end_time")
_REASONS: Final = {
    "profile_date": "Varve keeps one profile and its history: GET /v1/entities/{type}/{key}?as_of= reads it at an earlier time",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Memories by kind and type, as one request of Varve's API takes them."""

    kinds: tuple[str, ...]
    types: tuple[str, ...] = ()
    """Empty: every type of these kinds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """A parsed filter. Empty tuples accept any value."""

    users: tuple[str, ...] = ()
    assistants: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    keys: tuple[Mapping[str, str], ...] = ()
    """For each primary key, the values of its fields."""
    since: datetime | None = None
    until: datetime | None = None
    """Exclusive."""

    @property
    def asked_users(self) -> tuple[str | None, ...]:
        """The users whose memories to request from Varve, one request each. None: all users."""
        # The events of an assistant may belong to any user.
        return self.users or (None,)

    @property
    def checks_results(self) -> bool:
        """Whether Varve's API cannot apply all conditions, so that :meth:`accepts` rejects some of its results."""
        return bool(self.assistants or self.groups or self.keys)

    def selections(self, kinds: Collection[str]) -> tuple[Selection, ...]:
        """The memories of the filter's types.

        Args:
            kinds: The kinds that the request is about: ``event``, ``entity`` or both.

        Raises:
            FilterError: If a built-in type is of another kind.
        """
        if not self.types:
            return (Selection(kinds=(*kinds,)),)
        whole: list[str] = []
        for kind, names, call in (("event", EVENT_TYPES, "search_event_memory"), ("entity", PROFILE_TYPES, "search_profile_memory")):
            named = names & {*self.types}
            if named and kind not in kinds:
                raise FilterError(f"filter.memory_type: {min(named)} is not of this call; use {call}")
            whole += [kind] if named else []
        others = tuple(each for each in self.types if each not in EVENT_TYPES | PROFILE_TYPES)
        single = tuple(kind for kind in kinds if kind not in whole)
        found = [Selection(kinds=(*whole,))] if whole else []
        return (*found, *([Selection(kinds=single, types=others)] if single and others else []))

    def accepts(self, memory: Memory) -> bool:
        """Whether the conditions that Varve's API does not apply accept a memory."""
        owner = MessageOwner.of(memory.user, memory.evidence)
        return (
            _any_of(self.users, [memory.user] if memory.user is not None else [])
            and _any_of(self.assistants, owner.assistants)
            and _any_of(self.groups, owner.groups)
            and _any_of(self.sessions, [] if memory.session is None else [memory.session])
            and (not self.keys or any(_has_key(memory, each) for each in self.keys))
        )


def parse_filter(fields: Any, *, allowed: Collection[str]) -> SearchFilter:
    """Reads a filter. It must name a user or an assistant, so a missing filter is never taken for "everything".

    Args:
        fields: The filter.
        allowed: The fields that the call takes.

    Raises:
        FilterError: If it is invalid; names the field.
    """
    if not isinstance(fields, dict):
        raise FilterError(f"filter: expected an object, found {quoted(fields)}")
    fields = {field: value for field, value in fields.items() if value is not None}
    for each in fields:
        if each not in allowed:
            reason = _REASONS.get(each, f"unknown field; expected one of {', '.join(allowed)}")
            raise FilterError(f"filter.{each}: {reason}")
    values = {each: _values(fields[each], f"filter.{each}") for each in fields if each not in ("start_time", "end_time")}
    users, assistants = values.get("user_id", ()), values.get("assistant_id", ())
    if not users and not assistants:
        raise FilterError("filter: user_id or assistant_id is required")
    since, until = (_time(fields.get(each), f"filter.{each}") for each in ("start_time", "end_time"))
    if since is not None and until is not None and since > until:
        raise FilterError("filter: start_time is after end_time")
    return SearchFilter(
        users=users,
        assistants=assistants,
        groups=values.get("group_id", ()),
        sessions=values.get("session_id", ()),
        types=values.get("memory_type", ()) or values.get("event_type", ()),
        keys=tuple(parse_primary_key(each, "filter.primary_key") for each in values.get("primary_key", ())),
        since=since,
        until=None if until is None else until + timedelta(milliseconds=1),
    )


def parse_primary_key(text: str, name: str = "primary_key") -> dict[str, str]:
    """Reads a key such as ``kb_id=1&kb_type=image``.

    Args:
        text: The key. A value may contain ``=``; neither names nor values may contain ``&``.
        name: Its name in errors.

    Raises:
        FilterError: If a part has no ``=``, or a name is missing or repeated.
    """
    key: dict[str, str] = {}
    for part in text.split("&"):
        field, equals, value = part.partition("=")
        if not equals or not field or field in key:
            raise FilterError(f"{name}: expected name=value, joined by &, each name once; found {quoted(text)}")
        key[field] = value
    return key


def _values(value: Any, name: str) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) and each for each in values):
        raise FilterError(f"{name}: expected a text or a list of texts, found {quoted(value)}")
    if not 0 < len(values) <= MAX_VALUES:
        raise FilterError(f"{name}: expected 1 to {MAX_VALUES} values, found {len(values)}")
    return tuple(dict.fromkeys(values))


def _time(value: Any, name: str) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise FilterError(f"{name}: expected milliseconds since 1970, found {quoted(value)}")
    return time_of(value, name, FilterError)


def time_of(milliseconds: int, name: str, error: type[ValueError]) -> datetime:
    """The time of a number of milliseconds since 1970.

    Args:
        milliseconds: The number.
        name: Its name in the error.
        error: The error to raise if no record may have this time.
    """
    try:
        found = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError) as reason:
        raise error(f"{name}: {milliseconds} is no time in milliseconds since 1970") from reason
    if not is_recordable_time(found):
        raise error(f"{name}: {milliseconds} is no time in milliseconds since 1970")
    return found


def _any_of(wanted: Collection[str], found: Collection[str]) -> bool:
    return not wanted or any(each in wanted for each in found)


def _has_key(memory: Memory, key: Mapping[str, str]) -> bool:
    return all(field in memory.properties and str(memory.properties[field]) == value for field, value in key.items())
