"""The caller of a request and its rights. ``api/auth/authentication.py`` finds them by the request's credential."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.problems import ProblemError
from control.access_keys import Scope, hash_key
from control.tenants import Tenant
from memory.records import Memory
from stores.port import TenantScope


@dataclass(frozen=True, slots=True)
class KeyHash:
    """Refers to an API key or an operator's key without containing it, for sessions of the console."""

    value: str
    """The SHA-256 of the key, in hexadecimal."""

    @classmethod
    def of(cls, key: str) -> "KeyHash":
        """The reference to a key."""
        return cls(hash_key(key))


@dataclass(frozen=True, slots=True)
class Credential:
    """The rights of an API key, or of an identity provider's token."""

    id: str
    """Identifies the key, or the token's subject, in histories and messages."""
    scopes: tuple[Scope, ...]
    user: str | None = None
    """The only user whose memories are accessible. None: all users of the tenant."""
    label: str = ""
    expires: datetime | None = None
    is_token: bool = False
    """Whether it is a token of the identity provider."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request, and its credential."""

    tenant: Tenant
    key: Credential

    @property
    def scope(self) -> TenantScope:
        """The memories that the key may read."""
        return TenantScope(self.tenant.id, self.key.user)

    def user_of(self, asked: str | None) -> str | None:
        """The user of a request: the key's user if the key is bound to one, else the requested one.

        Raises:
            ProblemError: If the request names another user than the key's.
        """
        if self.key.user is None or asked == self.key.user:
            return asked
        if asked is None:
            return self.key.user
        raise forbidden("this API key is bound to another user")

    def message(self, item: Any) -> Any:
        """A message of a batch, with the key's user if it names none.

        Raises:
            ProblemError: If it names another user than the key's.
        """
        if self.key.user is None or not isinstance(item, dict):
            return item
        user = item.get("user")
        return {**item, "user": self.user_of(user if isinstance(user, str) else None if user is None else repr(user))}

    def may_see(self, memory: Memory) -> bool:
        """Whether a memory is one of the key's user."""
        return self.key.user is None or memory.user == self.key.user

    def require_every_user(self) -> None:
        """Rejects keys that are bound to a user.

        Raises:
            ProblemError: If the key is bound to a user.
        """
        if self.key.user is not None:
            raise forbidden("this request needs an API key that is not bound to a user")


def is_token(credential: str) -> bool:
    """Whether a credential has the form of a JSON Web Token. API keys never have it: they contain no dot."""
    return credential.count(".") == 2


def forbidden(detail: str) -> ProblemError:
    """The problem of a credential without the right to a request."""
    return ProblemError(403, "forbidden", detail)
