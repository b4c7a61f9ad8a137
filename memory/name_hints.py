"""Hints about names of fields that Varve does not have: the field that was probably meant. Pure."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Final

_OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "author": ("speaker",),
    "body": ("text",),
    "chatid": ("session",),
    "conversation": ("session",),
    "conversationid": ("session",),
    "createdat": ("event_time",),
    "date": ("event_time",),
    "enddate": ("until",),
    "from": ("since", "speaker"),
    "k": ("limit",),
    "maxresults": ("limit",),
    "memory": ("content",),
    "message": ("text",),
    "n": ("limit",),
    "q": ("query",),
    "question": ("query",),
    "runid": ("session",),
    "sender": ("speaker",),
    "sentat": ("event_time",),
    "startdate": ("since",),
    "text": ("content", "query"),
    "threadid": ("session",),
    "threshold": ("min_confidence",),
    "time": ("event_time",),
    "timeout": ("deadline_ms",),
    "timestamp": ("event_time",),
    "to": ("until",),
    "topk": ("limit",),
    "ts": ("event_time",),
    "tz": ("time_zone",),
    "username": ("speaker",),
}
"""Names in lower case without underscores that other services give to Varve's fields."""
_OTHER_VALUES: Final[Mapping[str, str]] = {
    "ai": "assistant",
    "bot": "assistant",
    "developer": "system",
    "function": "tool",
    "human": "user",
    "model": "assistant",
}
"""Values in lower case that other services have in place of Varve's."""
_LONGEST: Final = 80
_LEAST_ALIKE: Final = 0.7
"""Between "sesion" and "schema_version", which are 0.63 alike, and "user_id" and "user", which are 0.8 alike."""


def meant_name(unknown: str, known: Collection[str], given: Collection[str] = ()) -> str | None:
    """The known name that an unknown one probably stands for: another service's name for it, another spelling, or a typing error.

    Args:
        unknown: The name that was given.
        known: The names that are possible there.
        given: The names that were given: a field that was given was not meant by another name.
    """
    if len(unknown) > _LONGEST:
        return None
    plain = _plain(unknown)
    for name in _OTHER_NAMES.get(plain, ()):
        if name in known:
            return None if name in given else name
    by_plain = {_plain(each): each for each in known}
    near = get_close_matches(plain, by_plain, n=1, cutoff=_LEAST_ALIKE)
    return by_plain[near[0]] if near and by_plain[near[0]] not in given else None


def with_meant_name(unknown: str, known: Collection[str], given: Collection[str] = ()) -> str:
    """An unknown name, followed by the known one that it probably stands for.

    Args:
        unknown: The name that was given.
        known: The names that are possible there.
        given: The names that were given: a field that was given was not meant by another name.
    """
    meant = meant_name(unknown, known, given)
    return unknown if meant is None else f"{unknown} (did you mean {meant!r}?)"


def meant_value(unknown: str, known: Collection[str]) -> str | None:
    """The known value that an unknown one probably stands for: another service's, or a typing error.

    Args:
        unknown: The value that was given.
        known: The values that are possible there.
    """
    other = _OTHER_VALUES.get(unknown.lower()[:_LONGEST])
    return other if other in known else meant_name(unknown, known)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
