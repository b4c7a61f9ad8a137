"""A tenant's requirements for signatures of its messages. Pure.

Keys are not stored here: they are derived from the master secret, the tenant and the key's id (:class:`runtime.seals.Keyring`). Times are
append times of the log, so that a replay gives the same result for a message.
"""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints, model_validator

from memory.signatures import KEY_ID_PATTERN

KeyId = Annotated[str, StringConstraints(pattern=f"^{KEY_ID_PATTERN}$")]


class SigningKey(BaseModel):
    """A signing key of a tenant's producers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: KeyId
    until: AwareDatetime | None = None
    """The key is not accepted for messages appended from this time on. Default: it is valid."""


class SigningPolicy(BaseModel):
    """A tenant's requirements for messages that are produced to Kafka in its name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    required_since: AwareDatetime | None = None
    """Messages appended from this time on have to be signed. Default: no signatures are required."""
    keys: tuple[SigningKey, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> "SigningPolicy":
        ids = [key.id for key in self.keys]
        if len(set(ids)) != len(ids):
            raise ValueError(f"its signing keys have duplicate ids ({', '.join(ids)})")
        return self

    def is_required(self, appended_ms: int) -> bool:
        """Whether a message appended to the log at the given time has to be signed."""
        return self.required_since is not None and appended_ms >= self.required_since.timestamp() * 1000

    def accepts(self, key_id: str, appended_ms: int) -> bool:
        """Whether a key is accepted for a message appended to the log at the given time."""
        return any(key.id == key_id and (key.until is None or appended_ms < key.until.timestamp() * 1000) for key in self.keys)

    def with_key(self, key_id: str) -> "SigningPolicy":
        """The policy with an additional key; a retired key becomes valid again."""
        others = tuple(key for key in self.keys if key.id != key_id)
        return self.model_copy(update={"keys": (*others, SigningKey(id=key_id))})

    def without_key(self, key_id: str, until: datetime) -> "SigningPolicy":
        """The policy with a key retired. One that is retired already keeps its time: what it signed since stays refused.

        Raises:
            ValueError: If it has no such key.
        """
        if all(key.id != key_id for key in self.keys):
            raise ValueError(f"there is no signing key {key_id!r}; there are: {', '.join(key.id for key in self.keys) or 'none'}")
        retired = until.astimezone(UTC)
        keys = tuple(key if key.id != key_id or key.until is not None else SigningKey(id=key.id, until=retired) for key in self.keys)
        return self.model_copy(update={"keys": keys})

    def required_from(self, since: datetime | None) -> "SigningPolicy":
        """The policy that requires signatures from a time on; None: no signatures are required."""
        return self.model_copy(update={"required_since": since})
