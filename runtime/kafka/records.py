"""A record to produce."""

from dataclasses import dataclass

from runtime.tracing import Headers


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
        """The bytes of key and value."""
        return len(self.key or b"") + len(self.value or b"")
