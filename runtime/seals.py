"""Seals prove which records of the ``messages`` topic Varve itself produced; applications may write to that topic, too.

The record header ``varve-seal`` is ``v1:<basis>:<time>:<partition>:<code>``. The code is an HMAC-SHA256, with a key that only Varve's
processes can derive, of the parts before it, the record's key, its value, and every header with a reserved name.

Headers with reserved names (``varve-...``) describe a record: that it is a command, that it was forwarded, its original position. They are
trusted only with a valid seal.
"""

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, Self, cast

from memory.signatures import SIGNATURE, Signature, derive_key
from runtime.kafka.producer import OutgoingRecord
from runtime.settings import SigningSettings
from runtime.tracing import PRODUCED_AT, Headers

SEAL: Final = "varve-seal"
"""Header of a record of ``messages`` that Varve produced."""

FORGED_HEADER: Final = "forged_header"
UNSIGNED: Final = "unsigned"
BAD_SIGNATURE: Final = "bad_signature"
"""Reasons of dead letters whose origin is not proven."""

Basis = Literal["own", "redriven", "unproven"]
"""Scope of a seal. ``own``: the whole record. ``redriven``: the reserved headers, and that the signature was made in time.
``unproven``: only the reserved headers."""

_RESERVED: Final = "varve-"
_OPEN_TO_ALL: Final = frozenset({SIGNATURE, PRODUCED_AT})
_FORM: Final = re.compile(rb"(v1:(own|redriven|unproven):([0-9]{1,15}):([0-9]{1,9}|-)):([0-9a-f]{64})")
_CACHED_KEYS: Final = 4096


@dataclass(frozen=True, slots=True)
class Seal:
    """A valid seal."""

    basis: Basis
    sealed_ms: int
    """Time of sealing, in milliseconds since the epoch."""


def is_reserved(name: str) -> bool:
    """Whether the name is reserved for Varve's headers."""
    return name.startswith(_RESERVED) and name not in _OPEN_TO_ALL


def without_reserved(headers: Headers) -> Headers:
    """The headers that an application may write."""
    return tuple(header for header in headers if not is_reserved(header[0]))


class Keyring:
    """The keys of an installation, all derived from its master secret."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = [secret.encode() for secret in secrets]
        self._seal_keys = [derive_key(secret, "seal", "v1") for secret in self._secrets]
        self._message_keys = lru_cache(maxsize=_CACHED_KEYS)(self._derive_message_keys)

    @classmethod
    def of(cls, settings: SigningSettings) -> Self | None:
        """The keyring of the settings; None if there is no master secret."""
        if settings.secret is None:
            return None
        return cls(each.get_secret_value() for each in (settings.secret, *settings.previous_secrets))

    def message_key(self, tenant: str, key_id: str) -> bytes:
        """The signing key of a tenant's producers."""
        return self._message_keys(tenant, key_id)[0]

    def is_right(self, signature: Signature, value: bytes, tenant: str) -> bool:
        """Whether the signature of the value is valid for the tenant's key.

        Args:
            signature: The signature, which names the key.
            value: The record's value.
            tenant: The tenant in the value.
        """
        return any(signature.is_right(value, key) for key in self._message_keys(tenant, signature.key_id))

    def sealed(self, record: OutgoingRecord, *, now_ms: int, basis: Basis = "own") -> OutgoingRecord:
        """The record with a new seal, which replaces an existing one.

        Args:
            record: A record for ``messages``. If it names a partition, the seal is valid only there.
            now_ms: The time, in milliseconds since the epoch.
            basis: Scope of the seal.
        """
        headers = tuple(header for header in record.headers if header[0] != SEAL)
        partition = "-" if record.partition is None else str(record.partition)
        words = f"v1:{basis}:{now_ms}:{partition}".encode()
        code = _code(self._seal_keys[0], words, record.key, record.value, headers)
        return replace(record, headers=(*headers, (SEAL, b"%b:%b" % (words, code))))

    def read_seal(self, *, key: bytes | None, value: bytes | None, headers: Headers, partition: int) -> Seal | None:
        """The seal of a record of ``messages``; None unless it has exactly one seal, valid for the partition.

        Args:
            key: The record's key.
            value: The record's value.
            headers: The record's headers, in order.
            partition: The record's partition.
        """
        seals = [content for name, content in headers if name == SEAL]
        match = _FORM.fullmatch(seals[0] or b"") if len(seals) == 1 else None
        if match is None or match[4] not in (b"-", b"%d" % partition):
            return None
        if not any(hmac.compare_digest(match[5], _code(each, match[1], key, value, headers)) for each in self._seal_keys):
            return None
        return Seal(cast(Basis, match[2].decode()), int(match[3]))

    def _derive_message_keys(self, tenant: str, key_id: str) -> tuple[bytes, ...]:
        return tuple(derive_key(secret, "message", "v1", tenant, key_id) for secret in self._secrets)


def _code(seal_key: bytes, words: bytes, key: bytes | None, value: bytes | None, headers: Headers) -> bytes:
    reserved = [part for name, content in headers if is_reserved(name) and name != SEAL for part in (name.encode(), content or b"")]
    # Each part has a length prefix, so different records give different bytes.
    parts = b"".join(b"%d:%b" % (len(part), part) for part in (b"varve-seal", words, key or b"", *reserved))
    return hmac.digest(seal_key, b"%b\n%b" % (parts, value or b""), "sha256").hex().encode()
