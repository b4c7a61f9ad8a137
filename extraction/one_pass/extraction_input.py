"""The input of an extraction."""

from dataclasses import dataclass

from extraction.echo_filter import is_echo
from memory.records import Window
from memory.schema import MemorySchema


@dataclass(frozen=True, slots=True)
class ExtractionInput:
    """A window, its schema, and the hashes of recalled contents."""

    window: Window
    schema: MemorySchema
    recalled_hashes: frozenset[str] = frozenset()

    def echo_indices(self) -> frozenset[int]:
        """Indices of the window's messages that hold nothing but what a recall returned."""
        messages = enumerate(self.window.messages)
        return frozenset(index for index, message in messages if is_echo(message, self.recalled_hashes))
