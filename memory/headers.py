"""Names of record headers that more than one floor reads or writes."""

from typing import Final

KIND: Final = "varve-kind"
"""Header of records that are no messages: its value says what they are."""

COMMAND: Final = b"command"
"""A :class:`memory.records.SessionCommand` in the messages log."""

ORIGIN: Final = "varve-origin"
"""Header of a forwarded or redriven record: where it first lay, ``topic/partition/offset``. It is the record's identity."""
