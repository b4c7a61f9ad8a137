"""The measure itself, on a system in this process, and the counters of a worker's processes."""

import os
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.interface import Found, Query, Turn, by_session
from benchmarks.peers.processes import MarkedProcesses, PeakMemory, marked
from benchmarks.peers.worker import Job, disk_bytes, measure
from tests.varve.varve_process import wait_until

MEGABYTE = 1_000_000
TURNS = [Turn(f"m{number}", "user", f"s{number // 2}", "user", "Ann", f"text {number}", "2024-01-01T00:00:00+00:00") for number in range(6)]


class RememberingSystem:
    """Finds the message with the same number as the question, and counts the searches that run at the same time."""

    def __init__(self) -> None:
        self.turns: dict[str, Turn] = {}
        self.asked: Counter[str] = Counter()

    async def add(self, turns: Sequence[Turn]) -> float:
        self.turns |= {each.text.removeprefix("text "): each for each in turns}
        return 0.5

    async def search(self, query: Query) -> list[Found]:
        self.asked[query.text] += 1
        turn = self.turns.get(query.text.removeprefix("question "))
        return [Found((turn.id,), turn.text)] if turn else []


async def test_each_question_is_asked_once_and_keeps_its_place() -> None:
    system, phases = RememberingSystem(), ["start"]
    queries = [Query("user", f"question {number}") for number in range(6)]
    result = await measure(system, Job(TURNS, queries), phases.append)
    assert [found[0]["turn_ids"] for found in result["found"]] == [(f"m{number}",) for number in range(6)]
    assert {each: system.asked[each.text] for each in queries} == dict.fromkeys(queries, 1)
    assert (len(result["1 caller"]["seconds"]), len(result["10 callers"]["seconds"])) == (3, 3)
    assert phases == ["start", "add", "warm up", "1 caller", "10 callers", "end"]
    assert result["add_s"] == 0.5


def test_sessions_keep_the_order_of_their_messages() -> None:
    mixed = [TURNS[0], TURNS[2], TURNS[1], TURNS[3]]
    assert [[each.id for each in session] for session in by_session(mixed)] == [["m0", "m1"], ["m2", "m3"]]


def test_disk_counts_data_but_no_programs(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "file").write_bytes(b"x" * MEGABYTE)
    (tmp_path / "installation").mkdir()
    (tmp_path / "installation" / "program").write_bytes(b"x" * MEGABYTE)
    assert MEGABYTE <= disk_bytes(tmp_path) < 1.5 * MEGABYTE


def test_descendants_are_counted_and_stopped() -> None:
    mark = uuid.uuid4().hex
    processes = MarkedProcesses(mark)
    child = "import time; held = bytearray(b'x' * 50_000_000); time.sleep(600)"
    # The child's environment has no mark, as that of a server that overwrites it.
    parent = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}], env={{}}); time.sleep(600)"
    worker = subprocess.Popen([sys.executable, "-c", parent], env=marked(mark, os.environ))
    try:
        with PeakMemory(processes) as memory:
            wait_until(lambda: memory.bytes > 50_000_000, seconds=30, failure=lambda: memory.bytes)
        assert processes.cpu_s() > 0
    finally:
        processes.stop()
        worker.wait(timeout=10)
    assert processes.memory_bytes() == 0
