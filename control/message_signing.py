"""Whether a tenant's messages have to be signed, and by which keys. Pure.

No key stands here: each follows from the master secret, the tenant and the key's id (:class:`runtime.seals.Keyring`). Times are those of
the log, so that a replay judges a message as it was judged at first.
"""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints, model_validator

from memory.signatures import KEY_ID_PATTERN

KeyId = Annotated[str, StringConstraints(pattern=f"^{KEY_ID_PATTERN}$")]


class SigningKey(BaseModel):
    """One key that a tenant's producers sign by."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: KeyId
    until: AwareDatetime | None = None
    """Messages appended to the log from then on may not be signed by it any more; None: it holds."""


class SigningPolicy(BaseModel):
    """What a tenant demands of the messages that are produced to Kafka in its name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    required_since: AwareDatetime | None = None
    """Messages appended to the log from then on have to be signed; None: they need not be."""
    keys: tuple[SigningKey, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> "SigningPolicy":
        ids = [key.id for key in self.keys]
        if len(set(ids)) != len(ids):
            raise ValueError(f"an id is there twice among its signing keys ({', '.join(ids)})")
        return self

    def is_required(self, appended_ms: int) -> bool:
        """Whether a message appended to the log at that time has to be signed."""
        return self.required_since is not None and appended_ms >= self.required_since.timestamp() * 1000

    def accepts(self, key_id: str, appended_ms: int) -> bool:
        """Whether a message appended to the log at that time may be signed by a key."""
        return any(key.id == key_id and (key.until is None or appended_ms < key.until.timestamp() * 1000) for key in self.keys)

    def with_key(self, key_id: str) -> "SigningPolicy":
        """The policy with one more key, beside those that it has; one that was retired holds again."""
        others = tuple(key for key in self.keys if key.id != key_id)
        return self.model_copy(update={"keys": (*others, SigningKey(id=key_id))})

    def without_key(self, key_id: str, until: datetime) -> "SigningPolicy":
        """The policy with a key retired.

        Raises:
            ValueError: If it has no such key.
        """
        if all(key.id != key_id for key in self.keys):
            raise ValueError(f"there is no signing key {key_id!r}; there are: {', '.join(key.id for key in self.keys) or 'none'}")
        keys = tuple(SigningKey(id=key.id, until=until.astimezone(UTC)) if key.id == key_id else key for key in self.keys)
        return self.model_copy(update={"keys": keys})

    def required_from(self, since: datetime | None) -> "SigningPolicy":
        """The policy under which messages have to be signed from a time on; None: they need not be."""
        return self.model_copy(update={"required_since": since})
