"""The processes of a worker: all that inherit a mark in their environment, and their descendants, also those that outlive their parents."""

import threading
from collections.abc import Mapping
from typing import Final

import psutil

MARK: Final = "VARVE_BENCHMARK_PEER"
_SAMPLE_S: Final = 1.0
_STOP_S: Final = 10.0


class MarkedProcesses:
    """Counters of all processes with a mark, also of those that have ended. Two threads may use one object.

    Args:
        mark: The value of :data:`MARK` in their environment.
    """

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._lock = threading.Lock()
        self._known: dict[int, psutil.Process] = {}
        self._others: set[int] = set()
        self._cpu_s: dict[psutil.Process, float] = {}

    def cpu_s(self) -> float:
        """Seconds of computing time so far, all processes together."""
        for process in self._running():
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            with self._lock:
                self._cpu_s[process] = times.user + times.system
        with self._lock:
            return sum(self._cpu_s.values())

    def memory_bytes(self) -> int:
        """Resident memory of all processes. A page that several of them share counts once."""
        taken = 0
        for process in self._running():
            try:
                taken += process.memory_full_info().pss
            except psutil.Error:
                continue
        return taken

    def stop(self) -> None:
        """Ends processes that the worker left."""
        left = self._running()
        for process in left:
            try:
                process.terminate()
            except psutil.Error:
                continue
        for process in psutil.wait_procs(left, timeout=_STOP_S)[1]:
            process.kill()

    def _running(self) -> list[psutil.Process]:
        """All processes with the mark. A server may overwrite its environment, so a child of such a process is one, too."""
        with self._lock:
            return self._find()

    def _find(self) -> list[psutil.Process]:
        alive = {each.pid: each for each in psutil.process_iter()}
        self._known = {pid: each for pid, each in self._known.items() if alive.get(pid) == each}
        self._others &= alive.keys()
        for pid, process in sorted(alive.items()):
            if pid not in self._known and pid not in self._others:
                try:
                    is_marked = process.ppid() in self._known or process.environ().get(MARK) == self._mark
                except psutil.Error:
                    continue
                if is_marked:
                    self._known[pid] = process
                else:
                    self._others.add(pid)
        return list(self._known.values())


class PeakMemory:
    """The largest resident memory of processes during a block, read each second.

    Args:
        processes: The processes. Their computing time is read as often, so that a process that ends is counted.
    """

    def __init__(self, processes: MarkedProcesses) -> None:
        self._processes = processes
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self.bytes = 0

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._ended.wait(_SAMPLE_S):
            self.bytes = max(self.bytes, self._processes.memory_bytes())
            self._processes.cpu_s()


def marked(mark: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a worker."""
    return {**environment, MARK: mark}
