"""Garbage collection in long-running processes; each test in a separate process, since it changes the whole interpreter."""

import subprocess
import sys

_LOADING = """
import gc
from runtime.garbage import collect_seldom, loading
try:
    with loading():
        assert not gc.isenabled()
        loaded = [[] for _ in range(5000)]
        raise KeyError
except KeyError:
    assert gc.isenabled()
assert gc.get_freeze_count() > 5000
"""
_SELDOM = """
import gc
from runtime.garbage import collect_seldom
middle = gc.get_threshold()[1]
collect_seldom(middle_collections=7)
assert gc.get_threshold() == (10_000, middle, 7)
class Knot: pass
ends = []
def tie():
    knot = Knot()
    knot.itself = knot
    weakref.finalize(knot, ends.append, 1)
import weakref
for _ in range(12_000):
    tie()
assert ends
"""


def test_loading_collects_no_garbage_and_freezes_loaded_objects() -> None:
    subprocess.run([sys.executable, "-c", _LOADING], check=True)


def test_cycles_are_still_collected() -> None:
    subprocess.run([sys.executable, "-c", _SELDOM], check=True)
