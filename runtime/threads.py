"""Threads of the libraries that compute."""

import os
from typing import Final

_OPENBLAS_THREADS: Final = "OPENBLAS_NUM_THREADS"


def compute_in_one_thread() -> None:
    """Lets NumPy multiply matrices in the calling thread; call it before NumPy is imported. A value that the operator sets stays.

    Varve's matrices are small. With a thread per core, a product waits until the other cores are free, although they work for other
    processes.
    """
    os.environ.setdefault(_OPENBLAS_THREADS, "1")
