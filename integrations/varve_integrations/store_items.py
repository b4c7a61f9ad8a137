"""Items of a key-value store as stated events of the service: pure functions, without any framework.

A put sends a message with a tool call named :data:`ITEM_TYPE`. A tool call with the name of an event type states an event of that type, and
its arguments are the event's properties. So the tenant's schema needs that event type: :data:`SCHEMA` is a schema with nothing else.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any, Final
from uuid import uuid4

SCHEMA: Final[Mapping[str, Any]] = json.loads(files(__package__).joinpath("store_schema.json").read_text("utf-8"))
ITEM_TYPE: Final = "store_item"

_PIECE: Final = 1900
"""Characters of one text of a property: the service shortens texts of more than 2,000."""
_MOST_PIECES: Final = 200
"""Most texts of a property that is a list: the service's limit."""
LONGEST_VALUE: Final = _PIECE * _MOST_PIECES
LONGEST_TEXT: Final = _PIECE
_BREAK: Final = "\t"
"""JSON never contains it: it is escaped in strings."""
_LIKE_BINARY: Final = re.compile(r"data:|[\w+/\-]{50}", re.IGNORECASE | re.ASCII)
"""Characters after which a break keeps the service from taking the text for binary data, which it replaces by a placeholder."""


class ItemTooLargeError(ValueError):
    """An item does not fit into an event."""


@dataclass(frozen=True, slots=True)
class Address:
    """The namespace and the key of an item."""

    namespace: tuple[str, ...]
    key: str

    @property
    def text(self) -> str:
        """The address as one text."""
        return json.dumps([*self.namespace, self.key])

    @classmethod
    def of_text(cls, text: str) -> "Address":
        """Reads the text."""
        *namespace, key = json.loads(text)
        return cls(tuple(namespace), key)

    def session(self, user: str) -> str:
        """The session of the item's messages. An item has its own session, so that one request finds all its versions.

        Args:
            user: The user to whom the item belongs.
        """
        digest = hashlib.sha256(json.dumps([user, self.text]).encode()).hexdigest()
        return f"store/{digest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem:
    """One version of an item."""

    address: Address
    user: str
    value: Mapping[str, Any]
    version: str
    """The id of its message. Later versions of an item sort after earlier ones."""
    created_at: datetime
    updated_at: datetime
    index: tuple[str, ...] | None = None
    """Paths of the fields by which a query finds it; empty: no query finds it. None: those of the store."""
    ttl_minutes: float | None = None
    expires_at: datetime | None = None

    @property
    def is_searchable(self) -> bool:
        """Whether a query may find it."""
        return self.index is None or bool(self.index)

    @property
    def session(self) -> str:
        """The session of its messages."""
        return self.address.session(self.user)

    def is_alive(self, now: datetime) -> bool:
        """Whether it is not expired."""
        return self.expires_at is None or now < self.expires_at

    def message(self, text: str) -> dict[str, Any]:
        """The message that stores it.

        Args:
            text: The text by which a query finds it.

        Raises:
            ItemTooLargeError: If the address, the value or the index is too long.
            TypeError: If the value is not JSON.
            ValueError: If the value has a number that JSON does not have.
        """
        address, value = self.address.text, _packed(json.dumps(self.value, allow_nan=False))
        index = json.dumps(self.index)
        limits = (("namespace and key", address, LONGEST_TEXT), ("value", value, LONGEST_VALUE), ("index", index, LONGEST_TEXT))
        for name, given, longest in limits:
            if len(given) > longest:
                raise ItemTooLargeError(f"{name}: {len(given)} characters as JSON, expected at most {longest}; store a reference instead")
        arguments = {
            "address": address,
            "version": self.version,
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
            "value": [value[start : start + _PIECE] for start in range(0, len(value), _PIECE)],
            **({} if self.index is None else {"index": index}),
            **({} if self.ttl_minutes is None else {"ttl_minutes": repr(self.ttl_minutes)}),
            **({} if self.expires_at is None else {"expires_at": self.expires_at.isoformat()}),
        }
        return {
            "id": self.version,
            "user": self.user,
            "session": self.session,
            "role": "tool",
            "text": text,
            "event_time": time_of_version(self.version).isoformat(),
            "tool_call": {"name": ITEM_TYPE, "arguments": arguments, "success": True},
        }

    @classmethod
    def of_properties(cls, properties: Mapping[str, Any], user: str) -> "StoredItem | None":
        """Reads the properties of an event, or the arguments of a message's tool call; None if they are not those of an item.

        Args:
            properties: The properties.
            user: The user of the event.
        """
        try:
            index, expires_at, ttl = (properties.get(name) for name in ("index", "expires_at", "ttl_minutes"))
            return cls(
                address=Address.of_text(properties["address"]),
                user=user,
                value=json.loads("".join(properties["value"]).replace(_BREAK, "")),
                version=properties["version"],
                created_at=datetime.fromisoformat(properties["created_at"]),
                updated_at=datetime.fromisoformat(properties["updated_at"]),
                index=None if index is None else tuple(json.loads(index)),
                ttl_minutes=None if ttl is None else float(ttl),
                expires_at=None if expires_at is None else datetime.fromisoformat(expires_at),
            )
        except (KeyError, ValueError, TypeError):
            return None

    @classmethod
    def of_message(cls, message: Mapping[str, Any]) -> "StoredItem | None":
        """Reads a message of the service; None if it is not that of an item."""
        call = message.get("tool_call") or {}
        arguments = call.get("arguments")
        if call.get("name") != ITEM_TYPE or not isinstance(arguments, Mapping):
            return None
        return cls.of_properties(arguments, str(message.get("user")))


def expiry(now: datetime, ttl_minutes: float | None) -> datetime | None:
    """The end of a lifetime that begins now. None: it does not end."""
    return None if ttl_minutes is None else now + timedelta(minutes=ttl_minutes)


def new_version(now: datetime, after: Sequence[str]) -> str:
    """A version that sorts after others, also if a clock was set back.

    Args:
        now: The time.
        after: The versions that exist.
    """
    time = max([now, *(time_of_version(each) + timedelta(microseconds=1) for each in after)])
    return f"{time.astimezone(UTC).isoformat(timespec='microseconds')}_{uuid4().hex}"


def time_of_version(version: str) -> datetime:
    """The time of a version."""
    return datetime.fromisoformat(version.partition("_")[0])


def newest(items: Sequence[StoredItem]) -> dict[Address, StoredItem]:
    """The newest version of each item."""
    found: dict[Address, StoredItem] = {}
    for item in items:
        known = found.get(item.address)
        if known is None or item.version > known.version:
            found[item.address] = item
    return found


def _packed(text: str) -> str:
    return _LIKE_BINARY.sub(lambda found: found.group() + _BREAK, text)
