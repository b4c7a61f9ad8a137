"""Ids of recalls. An id shows for whom it was made, so that feedback on an unknown recall is refused without a lookup.

An id is a UUID of version 8: random bits, and a checksum of them with the tenant and the user. It finds mistakes and is no secret.
"""

import hashlib
import secrets
import uuid
from typing import Final

from memory.keys import join_parts

_RANDOM_BYTES: Final = 10
_CHECK_BYTES: Final = 6
_VERSION, _VARIANT = 0x80, 0x80
"""Of RFC 9562, in the bytes 6 and 8."""


def new_recall_id(tenant: str, user: str | None) -> str:
    """An id for a recall.

    Args:
        tenant: The tenant of the memories that are recalled.
        user: Their user. None: all users.
    """
    noise = bytearray(secrets.token_bytes(_RANDOM_BYTES))
    noise[6] = noise[6] & 0x0F | _VERSION
    noise[8] = noise[8] & 0x3F | _VARIANT
    return str(uuid.UUID(bytes=bytes(noise) + _check(bytes(noise), tenant, user)))


def is_recall_of(recall_id: str, tenant: str, user: str | None) -> bool:
    """Whether an id is of a recall of this tenant and user.

    Args:
        recall_id: Any text.
        tenant: The tenant.
        user: The user. None: a recall of all users.
    """
    try:
        content = uuid.UUID(recall_id).bytes
    except ValueError:
        return False
    return content[_RANDOM_BYTES:] == _check(content[:_RANDOM_BYTES], tenant, user)


def _check(noise: bytes, tenant: str, user: str | None) -> bytes:
    owner = join_parts(tenant) if user is None else join_parts(tenant, user)
    return hashlib.blake2b(owner, digest_size=_CHECK_BYTES, salt=noise).digest()
