"""A record to produce."""

from dataclasses import dataclass
from typing import Final

from runtime.tracing import Headers

_LENGTH_BYTES: Final = 5
"""A length before its bytes, at most."""
_FRAME_BYTES: Final = 61 + 21 + 3 * _LENGTH_BYTES
"""What a batch and its one record take beside key, value and headers, at most: KIP-98's message format."""


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """A record to produce."""

    topic: str
    """The name on the broker, with prefix."""
    key: bytes | None
    """None: none, as a foreign producer may have left it; such a record needs a partition."""
    value: bytes | None
    """None: a tombstone."""
    headers: Headers = ()
    partition: int | None = None
    """None: where :func:`memory.keys.partition_of` puts the key."""

    @property
    def size(self) -> int:
        """The bytes that it takes at most in a batch of its own, headers counted, not compressed."""
        # A foreign record's header may have no value.
        headers = sum(2 * _LENGTH_BYTES + len(name.encode()) + len(value or b"") for name, value in self.headers)
        return _FRAME_BYTES + len(self.key or b"") + len(self.value or b"") + headers
