"""Windows to extract from without an LLM."""

from datetime import timedelta

from memory.records import Window
from tests.extraction import windows


def window_of(*texts: str, **fields: object) -> Window:
    """Messages of one minute, by Mara."""
    return windows.window_of(*texts, user="mara", interval=timedelta(), **fields)
