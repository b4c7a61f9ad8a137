"""API keys of tenants and keys of operators: secrets, stored as their SHA-256."""

import hashlib
import secrets
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from control.document_base import Label
from memory.records.base import Value
from memory.records.message import Id

Scope = Literal["ingest", "recall", "correct", "operate", "erase"]


SCOPES: Final[tuple[Scope, ...]] = ("ingest", "recall", "correct", "operate", "erase")


DEFAULT_SCOPES: Final[tuple[Scope, ...]] = ("ingest", "recall", "correct", "operate")
"""The scopes of a key for which none are named. An erasure cannot be undone, so ``erase`` must be named."""


Role = Literal["viewer", "operator", "admin"]


ROLES: Final[tuple[Role, ...]] = ("viewer", "operator", "admin")
"""Operators' roles; each includes the previous ones: read, handle dead letters, change the control log."""


KeyHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


KeyId = Annotated[str, StringConstraints(pattern=r"^[0-9a-z]{4,32}$")]


class Key(Value):
    """A secret key, stored as its SHA-256. Keys have 256 random bits, so the hash cannot be inverted."""

    id: KeyId
    """Identifies the key in commands and messages."""
    hash: KeyHash
    label: Label = ""
    created: AwareDatetime
    expires: AwareDatetime | None = None
    """Expiry time. Default: never."""

    def is_expired(self, now: datetime) -> bool:
        """Whether the key has expired."""
        return self.expires is not None and self.expires <= now


class ApiKey(Key):
    """A key for a tenant's memory."""

    scopes: tuple[Scope, ...] = Field(default=DEFAULT_SCOPES, min_length=1)
    user: Id | None = None
    """The only user that the key may access. Default: all users."""


class OperatorKey(Key):
    """A key for administration; it gives no access to tenants' memories."""

    role: Role = "admin"

    def may(self, role: Role) -> bool:
        """Whether the key's role includes another one."""
        return ROLES.index(self.role) >= ROLES.index(role)


def hash_key(key: str) -> str:
    """The SHA-256 of a key, in hexadecimal."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def new_api_key() -> str:
    """A new API key for a tenant."""
    return f"vk_{secrets.token_urlsafe(32)}"


def new_operator_key() -> str:
    """A new operator's key."""
    return f"va_{secrets.token_urlsafe(32)}"


def key_id_of(key_hash: str) -> str:
    """The id of a key: the beginning of its hash."""
    return key_hash[:12]
