"""Signatures of messages: an application that produces to Kafka directly proves the tenant of its messages. Pure.

The record header ``varve-signature`` is ``v1:<key id>:<time>:<code>``: the time of signing in milliseconds since 1970, and the
HMAC-SHA256 (RFC 2104), in hexadecimal, of ``varve-signature:v1:<key id>:<time>``, a line feed, and the bytes of the record's value.

Only the value is signed; it contains tenant, user, session and id. A record's key only selects a partition, a topic's name may have a
prefix, and headers from applications are not trusted.
"""

import hmac
import re
from dataclasses import dataclass
from typing import Final, Self

SIGNATURE: Final = "varve-signature"
"""Header with the producer's signature of a message."""

KEY_ID_PATTERN: Final = r"[A-Za-z0-9._-]{1,64}"

_FORM: Final = re.compile(rb"v1:(" + KEY_ID_PATTERN.encode() + rb"):([0-9]{1,15}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Signature:
    """A parsed signature, not verified yet."""

    key_id: str
    signed_ms: int
    """Time of signing by the signer's clock, in milliseconds since the epoch."""
    code: bytes
    """The HMAC in hexadecimal."""

    @classmethod
    def parse(cls, header: bytes) -> Self | None:
        """Parses the header's value; None if it is not a signature."""
        match = _FORM.fullmatch(header)
        return None if match is None else cls(match[1].decode(), int(match[2]), match[3])

    def is_right(self, value: bytes, key: bytes) -> bool:
        """Whether the signature is valid for the value and the key."""
        return hmac.compare_digest(self.code, _code(value, self.key_id, self.signed_ms, key))


def sign(value: bytes, *, key_id: str, key: bytes, now_ms: int) -> tuple[str, bytes]:
    """The header of a signed message.

    Args:
        value: The record's value, exactly as produced.
        key_id: The name of the tenant's signing key.
        key: The key's 32 bytes (``varve tenants signing-key`` prints them in hexadecimal).
        now_ms: The time, in milliseconds since the epoch.

    Returns:
        The header's name and value.
    """
    return SIGNATURE, b"v1:%b:%d:%b" % (key_id.encode(), now_ms, _code(value, key_id, now_ms, key))


def derive_key(secret: bytes, *purpose: str) -> bytes:
    """A key of 32 bytes for one purpose: HKDF-SHA256 (RFC 5869), with the salt ``varve``."""
    pseudo_random = hmac.digest(b"varve", secret, "sha256")
    # Each word has a length prefix, so different purposes give different bytes.
    info = b"".join(b"%d:%b" % (len(word.encode()), word.encode()) for word in purpose)
    return hmac.digest(pseudo_random, info + b"\x01", "sha256")


def _code(value: bytes, key_id: str, signed_ms: int, key: bytes) -> bytes:
    return hmac.digest(key, b"varve-signature:v1:%b:%d\n" % (key_id.encode(), signed_ms) + value, "sha256").hex().encode()
