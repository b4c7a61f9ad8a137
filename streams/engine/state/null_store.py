"""Table of a stage that keeps no state."""

from collections.abc import Iterator

from streams.engine.state.partition_state import StateChange
from streams.errors import StreamError


class NullStore:
    """Codec and rows of a stage without a table: reads find nothing, writes fail."""

    def encode(self, state: None) -> bytes:
        """Returns no bytes."""
        return b""

    def decode(self, raw: bytes) -> None:
        """Returns None."""

    def read(self, key: bytes) -> bytes | None:
        """Returns None."""
        return None

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        """Yields nothing."""
        return iter(())

    def scan_from(self, key: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yields nothing."""
        return iter(())

    def write(self, rows: list[StateChange], changelog_offset: int) -> None:
        """Refuses: there is no table.

        Raises:
            StreamError: The handler changed state.
        """
        raise StreamError(f"this stage keeps no state, but its handler changed {len(rows)} rows")
