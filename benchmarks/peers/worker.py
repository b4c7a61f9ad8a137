"""``python -m benchmarks.peers.worker SYSTEM FOLDER``: measures one system, in its own Python environment.

The process reads a :class:`Job` as a line of JSON from its standard input. Before each phase it writes the phase's name to its standard
output and waits for a line, so that the command can read the counters of all processes in between. The last line is the result.
"""

import asyncio
import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from benchmarks.peers.interface import Found, MemorySystem, Query, Turn

CALLERS: Final = {"1 caller": 1, "10 callers": 10}
_WARM_UP: Final = 20
_PROGRAMS: Final = "installation"
"""The folder into which Hindsight's PostgreSQL unpacks its programs: they are not data."""
_SYSTEMS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "varve": ("varve_system", {}),
    "mem0": ("mem0_system", {}),
    "mem0-bm25": ("mem0_system", {"keywords": True}),
    "hindsight": ("hindsight_system", {}),
    "edge": ("edge_system", {}),
}


@dataclass(frozen=True, slots=True)
class Job:
    """The data of a measurement."""

    turns: list[Turn]
    queries: list[Query]
    """Half of them are asked by one caller, half by ten: so none is asked twice, and no cache answers it."""

    def to_json(self) -> str:
        """The job as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Job":
        """Reads :meth:`to_json`."""
        fields = json.loads(text)
        return cls([Turn(**each) for each in fields["turns"]], [Query(**each) for each in fields["queries"]])


async def measure(system: MemorySystem, job: Job, announce: Callable[[str], None]) -> dict[str, Any]:
    """Adds all messages, and asks all questions.

    Args:
        system: A system without data.
        job: The data.
        announce: Called before each phase but the first.
    """
    announce("add")
    add_s = await system.add(job.turns)
    announce("warm up")
    users = sorted({each.user for each in job.turns})
    for number in range(_WARM_UP):
        await system.search(Query(users[number % len(users)], f"what was said of matter {number}?"))
    found: dict[int, list[Found]] = {}
    passes = {}
    for part, (phase, callers) in enumerate(CALLERS.items()):
        announce(phase)
        passes[phase] = await _ask(system, job.queries, range(part, len(job.queries), len(CALLERS)), callers, found)
    announce("end")
    return {"add_s": add_s, **passes, "found": [[asdict(each) for each in found[index]] for index in range(len(job.queries))]}


async def _ask(
    system: MemorySystem, queries: Sequence[Query], indices: Sequence[int], callers: int, found: dict[int, list[Found]]
) -> dict[str, Any]:
    """Asks some of the questions, each caller one after another; adds the results to ``found``."""
    waiting: Iterator[int] = iter(indices)
    seconds: list[float] = []

    async def call() -> None:
        for index in waiting:
            started = time.perf_counter()
            found[index] = await system.search(queries[index])
            seconds.append(time.perf_counter() - started)

    started = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(callers)))
    return {"seconds": seconds, "elapsed_s": time.perf_counter() - started}


def disk_bytes(folder: Path) -> int:
    """Bytes that a folder's data takes on the disk."""
    taken = 0
    for path, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if each != _PROGRAMS]
        for name in files:
            try:
                taken += os.lstat(Path(path, name)).st_blocks * 512
            except FileNotFoundError:
                continue  # a server deleted it meanwhile
    return taken


async def _run(name: str, folder: Path, job: Job, announce: Callable[[str], None]) -> dict[str, Any]:
    announce("start")
    started = time.monotonic()
    module, options = _SYSTEMS[name]
    imported = importlib.import_module(f"benchmarks.peers.{module}")
    running: Callable[[Path], AbstractAsyncContextManager[MemorySystem]] = partial(imported.running, **options)
    async with running(folder) as system:
        start_s, empty = time.monotonic() - started, disk_bytes(folder)
        measured = await measure(system, job, announce)
        disk = disk_bytes(folder)
    versions = {each: version(each) for each in imported.PACKAGES}
    return {"versions": versions, "start_s": start_s, "disk_bytes_empty": empty, "disk_bytes": disk, **measured}


def main() -> None:
    """Measures, and writes the result."""
    # What the libraries print goes to standard error.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def announce(phase: str) -> None:
        print(json.dumps({"phase": phase}), file=output, flush=True)
        sys.stdin.readline()

    job = Job.from_json(sys.stdin.readline())
    result = asyncio.run(_run(sys.argv[1], Path(sys.argv[2]), job, announce))
    print(json.dumps({"result": result}), file=output, flush=True)


if __name__ == "__main__":
    main()
