"""A record to produce."""

from dataclasses import dataclass
from typing import Final

from runtime.tracing import Headers

_LENGTH_BYTES: Final = 5
"""Maximum size of a length field."""
_FRAME_BYTES: Final = 61 + 21 + 3 * _LENGTH_BYTES
"""Maximum overhead of a batch with one record, without key, value and headers (message format of KIP-98)."""


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """A record to produce."""

    topic: str
    """The topic's name on the broker, with prefix."""
    key: bytes | None
    """None: no key, as in some foreign records; such a record needs a partition."""
    value: bytes | None
    """The value; None: a tombstone."""
    headers: Headers = ()
    partition: int | None = None
    """Default: the partition of the key, by :func:`memory.keys.partition_of`."""

    @property
    def size(self) -> int:
        """Maximum size of a batch with only this record, uncompressed, with headers, in bytes."""
        # A foreign record's header may have no value.
        headers = sum(2 * _LENGTH_BYTES + len(name.encode()) + len(value or b"") for name, value in self.headers)
        return _FRAME_BYTES + len(self.key or b"") + len(self.value or b"") + headers
