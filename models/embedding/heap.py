"""Lets the C library's heap keep what a pass of the model frees: the next pass needs as much again."""

import ctypes
from typing import Final

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_KEPT_BYTES: Final = 32 * 1024 * 1024
"""At most so much that is free stays with the process at the end of each heap. A pass of 512 tokens needs some 10 MiB."""
_LARGEST_BLOCK: Final = 8 * 1024 * 1024
"""A larger block comes from the system by itself, and goes back when it is freed. The largest of a pass has 3 MiB."""


def keep_freed_memory() -> None:
    """Keeps freed memory in this process; does nothing unless the C library is glibc.

    By default glibc returns most of it to the system: each pass then requested it again, and the system cleared it page by page, which
    took a third of the pass's computing time.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "gnu_get_libc_version"):
        library.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGEST_BLOCK)
