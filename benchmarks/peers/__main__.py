"""``python -m benchmarks.peers --data FOLDER``: Varve, mem0, Hindsight and a plain search on LoCoMo, one system after the other.

`make bench-peers` installs the other systems first, each in its own environment.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

from benchmarks.peers.conversations import Corpus, locomo_file, read_corpus
from benchmarks.peers.embedding import SharedModel
from benchmarks.peers.evidence import Result, quality
from benchmarks.peers.interface import Turn
from benchmarks.peers.processes import MarkedProcesses, PeakMemory, marked
from benchmarks.peers.report import median_of_rounds, speed, table
from benchmarks.peers.worker import Job
from benchmarks.reports import benchmark_parser

_ROOT: Final = Path(__file__).parents[2]
_LOGS: Final = Path("build/peers")
_BATCH: Final = 32
_ERROR_CHARACTERS: Final = 500


@dataclass(frozen=True, slots=True)
class Peer:
    """A system that can be measured."""

    title: str
    python: Path
    """The interpreter of its environment."""


_MEM0: Final = _ROOT / ".venv-peer-mem0/bin/python"
PEERS: Final = {
    "varve": Peer("Varve", Path(sys.executable)),
    "mem0": Peer("mem0", _MEM0),
    "mem0-bm25": Peer("mem0 with BM25", _MEM0),
    "hindsight": Peer("Hindsight", _ROOT / ".venv-peer-hindsight/bin/python"),
    "edge": Peer("plain search", Path(sys.executable)),
}


class WorkerError(Exception):
    """A worker failed."""


def measured(name: str, corpus: Corpus, *, embedded_per_second: float) -> dict[str, Any]:
    """Starts a system, measures it and stops it.

    Args:
        name: One of :data:`PEERS`.
        corpus: The data.
        embedded_per_second: Messages that the embedding model alone embeds in a second.

    Raises:
        WorkerError: If the system fails, with the end of what it printed.
    """
    load = psutil.getloadavg()[0]
    mark = uuid.uuid4().hex
    processes = MarkedProcesses(mark)
    _LOGS.mkdir(parents=True, exist_ok=True)
    log = _LOGS / f"{name}.log"
    with tempfile.TemporaryDirectory(prefix="varve-peer-") as folder, log.open("w") as errors:
        worker = subprocess.Popen(
            [PEERS[name].python, "-m", "benchmarks.peers.worker", name, folder],
            cwd=_ROOT,
            env=marked(mark, {**os.environ, "PYTHONPATH": str(_ROOT)}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            with PeakMemory(processes) as memory:
                result, cpu_s = _follow(worker, Job(corpus.turns, corpus.queries), processes)
        finally:
            worker.terminate()
            worker.wait()
            processes.stop()
    if result is None:
        raise WorkerError(log.read_text().strip()[-_ERROR_CHARACTERS:] or f"the worker ended with {worker.returncode}")
    results = [[Result(found["turn_ids"], found["text"]) for found in of_question] for of_question in result["found"]]
    return {
        **speed(result, cpu_s, messages=len(corpus.turns), peak_bytes=memory.bytes, embedded_per_second=embedded_per_second),
        **quality(results, corpus.gold),
        "versions": result["versions"],
        "load_before": round(load, 2),
    }


def _follow(worker: "subprocess.Popen[str]", job: Job, processes: MarkedProcesses) -> tuple[dict[str, Any] | None, dict[str, float]]:
    """Sends the job and reads the counters at the begin of each phase; returns the result, None if the worker fails."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    cpu_s: dict[str, float] = {}
    try:
        print(job.to_json(), file=worker.stdin, flush=True)
        for line in worker.stdout:
            message = json.loads(line)
            if "result" in message:
                return message["result"], cpu_s
            cpu_s[message["phase"]] = processes.cpu_s()
            print(file=worker.stdin, flush=True)
    except BrokenPipeError:
        pass
    return None, cpu_s


def embedding_alone(turns: Sequence[Turn]) -> dict[str, float]:
    """Messages that the embedding model alone embeds in a second, in one process and in batches, and the computing time of each."""
    model = SharedModel()
    texts = [each.with_speaker for each in turns]
    model.embed([f"warm-up {number}" for number in range(_BATCH)])
    started, cpu_before = time.monotonic(), time.process_time()
    for start in range(0, len(texts), _BATCH):
        model.embed(texts[start : start + _BATCH])
    elapsed_s, cpu_s = time.monotonic() - started, time.process_time() - cpu_before
    return {"per_second": round(len(texts) / elapsed_s, 1), "cpu_ms_per_message": round(cpu_s / len(texts) * 1000, 2)}


def compared(names: Sequence[str], corpus: Corpus, *, rounds: int) -> Iterator[dict[str, Any]]:
    """Measures systems, each alone, and yields the report after each round.

    Args:
        names: Of :data:`PEERS`, in the order of measuring.
        corpus: The data.
        rounds: How often each system is measured, in turn; the report has the medians.
    """
    embedding: list[dict[str, float]] = []
    by_name: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    errors: dict[str, str] = {}
    for number in range(rounds):
        embedding.append(embedding_alone(corpus.turns))
        for name in names:
            if name in errors:
                continue
            if not PEERS[name].python.exists():
                errors[name] = f"{PEERS[name].python} is missing: run `make bench-peers`"
                continue
            print(f"round {number + 1}: {PEERS[name].title}", file=sys.stderr, flush=True)
            try:
                by_name[name].append(measured(name, corpus, embedded_per_second=embedding[-1]["per_second"]))
            except WorkerError as error:
                errors[name] = str(error)
        yield {
            "data": {
                "file": corpus.file,
                "conversations": corpus.conversations,
                "messages": len(corpus.turns),
                "questions": len(corpus.queries),
                "answerable": sum(map(bool, corpus.gold)),
            },
            "machine": {
                "cores": os.cpu_count(),
                "memory_gb": round(psutil.virtual_memory().total / 1e9),
                "python": platform.python_version(),
            },
            "rounds": number + 1,
            "embedding_alone": median_of_rounds(embedding),
            "systems": {
                PEERS[name].title: {"error": errors[name]} if name in errors else median_of_rounds(by_name[name]) for name in names
            },
            "each_round": {PEERS[name].title: by_name[name] for name in names},
        }


def main() -> None:
    """Measures, prints the table and writes the report."""
    parser = benchmark_parser("peers", __doc__)
    parser.add_argument("--data", type=Path, help="LoCoMo's file, or the folder that has it")
    parser.add_argument("--conversations", type=int, default=2, help="maximum number of conversations")
    parser.add_argument("--questions", type=int, help="maximum number of questions of each conversation. Default: all")
    parser.add_argument("--systems", nargs="+", choices=[*PEERS], default=[*PEERS], help="the systems to measure")
    parser.add_argument("--rounds", type=int, default=1, help="how often each system is measured; the table has medians")
    arguments = parser.parse_args()
    file = None if arguments.data is None else locomo_file(arguments.data)
    if file is None:
        place = "no --data was given" if arguments.data is None else f"there is no locomo*.json at {arguments.data}"
        print(f'skipped: {place}. Download LoCoMo (locomo10.json) and name its folder: make bench-peers PEERS_ARGS="--data FOLDER"')
        return
    corpus = read_corpus(file, conversations=arguments.conversations, questions=arguments.questions)
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    for report in compared(arguments.systems, corpus, rounds=arguments.rounds):
        arguments.report.write_text(json.dumps(report, indent=2) + "\n")
        print(f"{json.dumps(report['data'])}, rounds: {report['rounds']}, the embedding alone: {json.dumps(report['embedding_alone'])}")
        print(table(report["systems"]), flush=True)


if __name__ == "__main__":
    main()
