"""Signatures of messages: by them an application that produces to Kafka itself proves whose messages they are. Pure.

The record header ``varve-signature`` reads ``v1:<key id>:<time>:<code>``: the time of signing in milliseconds since 1970, and the
HMAC-SHA256 (RFC 2104), in hexadecimal, of ``varve-signature:v1:<key id>:<time>``, a line feed, and the record's value as its bytes are.

The value alone is signed. It names tenant, user, session and id. A record's key only chooses a partition, and a topic's name may have a
prefix; headers say nothing that is believed of an application.
"""

import hmac
import re
from dataclasses import dataclass
from typing import Final, Self

SIGNATURE: Final = "varve-signature"
"""Header of a message that its producer has signed."""

KEY_ID_PATTERN: Final = r"[A-Za-z0-9._-]{1,64}"

_FORM: Final = re.compile(rb"v1:(" + KEY_ID_PATTERN.encode() + rb"):([0-9]{1,15}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Signature:
    """What a signature says. It is not checked yet."""

    key_id: str
    signed_ms: int
    """When it was signed, by the signer's clock, in milliseconds since the epoch."""
    code: bytes
    """In hexadecimal, as it is written."""

    @classmethod
    def parse(cls, header: bytes) -> Self | None:
        """Reads the header's value; None where it is no signature."""
        match = _FORM.fullmatch(header)
        return None if match is None else cls(match[1].decode(), int(match[2]), match[3])

    def is_right(self, value: bytes, key: bytes) -> bool:
        """Whether the holder of the key has signed this value."""
        return hmac.compare_digest(self.code, _code(value, self.key_id, self.signed_ms, key))


def sign(value: bytes, *, key_id: str, key: bytes, now_ms: int) -> tuple[str, bytes]:
    """The header of a signed message.

    Args:
        value: The record's value, byte for byte as it is produced.
        key_id: The name of the tenant's signing key.
        key: The key's 32 bytes (``varve tenants signing-key`` prints them in hexadecimal).
        now_ms: The time, in milliseconds since the epoch.

    Returns:
        The header's name and value.
    """
    return SIGNATURE, b"v1:%b:%d:%b" % (key_id.encode(), now_ms, _code(value, key_id, now_ms, key))


def derive_key(secret: bytes, *purpose: str) -> bytes:
    """A key of 32 bytes for one purpose: HKDF-SHA256 (RFC 5869), with the salt ``varve``.

    Args:
        secret: The master secret.
        *purpose: What the key is for; another purpose gives a key that tells nothing about this one.
    """
    pseudo_random = hmac.digest(b"varve", secret, "sha256")
    # Lengths before the words: no two purposes give the same bytes.
    info = b"".join(b"%d:%b" % (len(word.encode()), word.encode()) for word in purpose)
    return hmac.digest(pseudo_random, info + b"\x01", "sha256")


def _code(value: bytes, key_id: str, signed_ms: int, key: bytes) -> bytes:
    return hmac.digest(key, b"varve-signature:v1:%b:%d\n" % (key_id.encode(), signed_ms) + value, "sha256").hex().encode()
