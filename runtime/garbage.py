"""Garbage collection in long-running processes: seldom, and never of what they have loaded.

Most objects are freed when they are no longer referenced; the collector only finds cycles. While modules load, each of its runs looks at
all that is loaded so far and finds next to nothing.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_YOUNG_OBJECTS: Final = 10_000
"""New objects between two young collections, each of which then takes less than a millisecond. With the default of 700, several
collections run for each recall or batch of records and find nothing."""


@contextmanager
def loading() -> Iterator[None]:
    """Runs a block that loads modules and data, without collections. Later collections ignore all objects of the process up to its end."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def collect_seldom(*, middle_collections: int = 10) -> None:
    """Sets the intervals of a process that handles records or requests.

    Args:
        middle_collections: Number of middle collections between two full ones.
    """
    _, middle, _ = gc.get_threshold()
    gc.set_threshold(_YOUNG_OBJECTS, middle, middle_collections)
