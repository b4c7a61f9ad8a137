"""mem0's four ids of a memory's owner (user, agent, app, run) as Varve's user and session."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote

from memory.ids import user_digest

ID_FIELDS: Final = ("user_id", "agent_id", "app_id", "run_id")
_TYPES: Final = dict(zip(ID_FIELDS, ("user", "agent", "app", "run"), strict=True))
_PREFIX: Final = "mem0"


class OwnerError(ValueError):
    """An id has another type, or is reserved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The ids under which mem0 stores a memory. At least one of them is set.

    The user of the memory in Varve is ``user_id``; without it, the first other id with its type, as in ``agent:planner``. The session
    contains all four ids, so that messages of different owners never share a window; of the id that is the user it has a digest.
    """

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None

    @classmethod
    def of(cls, *sources: Mapping[str, Any]) -> "Owner | None":
        """The owner whose ids are in one of several objects, the first of which wins; None if there is none.

        Raises:
            OwnerError: If an id is no text, or a ``user_id`` could be that of an agent, an app or a run.
        """
        ids = {name: _first(name, sources) for name in ID_FIELDS}
        return cls(**ids) if any(ids.values()) else None

    @classmethod
    def of_memory(cls, user: str | None, session: str | None) -> "Owner":
        """The owner of a stored memory. One that another API stored has only a user and a run: its session.

        Anybody may choose a session's name, so it says nothing about a memory of another user.
        """
        prefix, *parts = (session or "").split("/")
        if user and prefix == _PREFIX and len(parts) == len(ID_FIELDS) and any(parts):
            ids = {name: unquote(part) or None for name, part in zip(ID_FIELDS, parts, strict=True)}
            owning = next(name for name in ID_FIELDS if ids[name])
            named = cls(**{**ids, owning: user if owning == "user_id" else user.removeprefix(f"{_TYPES[owning]}:")})
            if (named.user, named.session) == (user, session):
                return named
        kind, _, name = (user or "").partition(":")
        field = {each: field for field, each in _TYPES.items()}.get(kind)
        if name and field is not None and field != "user_id":
            return cls(**{field: name})
        return cls(user_id=user, run_id=session)

    @property
    def user(self) -> str:
        """The user in Varve."""
        name = self._owning
        return varve_user(name, getattr(self, name))

    @property
    def session(self) -> str:
        """The session in Varve."""
        ids = {name: quote(getattr(self, name) or "", safe="") for name in ID_FIELDS}
        return "/".join((_PREFIX, *(ids | {self._owning: user_digest(self.user)}).values()))

    @property
    def _owning(self) -> str:
        """The field of the id that is the user in Varve."""
        return next(name for name in ID_FIELDS if getattr(self, name) is not None)

    def fields(self) -> dict[str, str | None]:
        """The ids as mem0 returns them."""
        return {name: getattr(self, name) for name in ID_FIELDS}


def varve_user(field: str, value: str) -> str:
    """The user in Varve whose memories have an id and no ``user_id``.

    Args:
        field: One of :data:`ID_FIELDS`.
        value: The id.
    """
    return value if field == "user_id" else f"{_TYPES[field]}:{value}"


def entity_of(user: str) -> tuple[str, str]:
    """mem0's type and name of a user in Varve."""
    kind, _, name = user.partition(":")
    return (kind, name) if name and kind in ("agent", "app", "run") else ("user", user)


def user_of_entity(entity_type: str, name: str) -> str | None:
    """The user in Varve of mem0's entity; None if mem0 has no such type."""
    field = {kind: field for field, kind in _TYPES.items()}.get(entity_type)
    return None if field is None else varve_user(field, name)


def _first(name: str, sources: tuple[Mapping[str, Any], ...]) -> str | None:
    for source in sources:
        value = source.get(name)
        if value in (None, ""):
            continue
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise OwnerError(f"{name}: expected a text, found {type(value).__name__}")
        if name == "user_id" and entity_of(str(value))[0] != "user":
            raise OwnerError(f"user_id: must not begin with agent:, app: or run:, which stand for the users of other ids; found {value}")
        return str(value)
    return None
