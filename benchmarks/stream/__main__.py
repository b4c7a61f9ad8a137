"""``python -m benchmarks.stream``: the stages on a real broker: throughput, flat cost and memory, fairness, recovery time, scaling."""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from benchmarks.processes import broker_and_redis
from benchmarks.reports import benchmark_parser, write_report
from benchmarks.stream.fairness import fairness
from benchmarks.stream.history import history
from benchmarks.stream.hot_key import hot_key
from benchmarks.stream.memory import memory
from benchmarks.stream.ratios import ratios
from benchmarks.stream.recovery import recovery
from benchmarks.stream.scaling import scaling
from runtime.settings import Settings

Benchmark = Callable[[Settings, Path, argparse.Namespace], Awaitable[dict[str, object]]]

BENCHMARKS: Final[dict[str, Benchmark]] = {
    "ratios": lambda settings, folder, arguments: ratios(
        settings, folder, count=arguments.records, keys=arguments.keys, rounds=arguments.rounds
    ),
    "history": lambda settings, folder, arguments: history(
        settings, folder, users=arguments.users, lengths=arguments.lengths, measured=arguments.measured_messages
    ),
    "memory": lambda settings, folder, arguments: memory(settings, folder, count=arguments.memory_messages, open_sessions=arguments.keys),
    "fairness": lambda settings, folder, arguments: fairness(
        settings, folder, seconds=arguments.fairness_seconds, rate=arguments.fairness_rate, backlog=arguments.fairness_backlog
    ),
    "hot": lambda settings, folder, arguments: hot_key(settings, folder, records=arguments.hot_records),
    "recovery": lambda settings, folder, arguments: recovery(settings, folder, keys=arguments.open_keys),
    "scaling": lambda settings, folder, arguments: scaling(
        settings, folder, workers=arguments.workers, records=arguments.records, window_count=arguments.scaling_windows
    ),
}


async def run(arguments: argparse.Namespace) -> dict[str, object]:
    """Runs the chosen benchmarks, each on its own broker.

    Returns:
        The results of ``ratios``, and those of the others under their names.
    """
    results: dict[str, object] = {}
    for name in arguments.only:
        async with AsyncExitStack() as resources:
            folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="varve-bench-")))
            settings = (await resources.enter_async_context(broker_and_redis(folder))).settings
            result = await BENCHMARKS[name](settings, folder, arguments)
        results.update(result if name == "ratios" else {name: result})
        print(json.dumps({name: result}), flush=True)
    return results


def parse_arguments() -> argparse.Namespace:
    """Parses the command line."""
    parser = benchmark_parser("stream", __doc__)
    parser.add_argument("--only", type=_names, default=list(BENCHMARKS), help=f"comma-separated subset of {','.join(BENCHMARKS)}")
    parser.add_argument("--records", type=int, default=60_000, help="ratios, scaling: records per run")
    parser.add_argument("--keys", type=int, default=500, help="ratios, memory: number of sessions or entities")
    parser.add_argument("--rounds", type=int, default=3, help="ratios: measurements of each; the medians count")
    parser.add_argument("--users", type=int, default=16, help="history: number of users")
    parser.add_argument("--lengths", type=_numbers, default=[100, 1000, 10_000], help="history: lengths, in messages per user")
    parser.add_argument("--measured-messages", type=int, default=200, help="history: measured messages per user")
    parser.add_argument("--memory-messages", type=int, default=1_000_000, help="memory: total number of messages")
    parser.add_argument("--fairness-seconds", type=float, default=90.0, help="fairness: duration of the load")
    parser.add_argument("--fairness-rate", type=float, default=0.25, help="fairness: windows per second of each small tenant")
    parser.add_argument("--fairness-backlog", type=int, default=2000, help="fairness: windows of the large tenant, queued first")
    parser.add_argument("--hot-records", type=int, default=20_000, help="hot: records of the hot key")
    parser.add_argument("--open-keys", type=int, default=100_000, help="recovery: sessions with an open window")
    parser.add_argument("--workers", type=_numbers, default=[1, 2, 4], help="scaling: numbers of workers of a stage")
    parser.add_argument("--scaling-windows", type=int, default=1000, help="scaling: windows for the extraction with a model")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in BENCHMARKS]:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    return names


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def main() -> None:
    """Measures, prints and writes the report."""
    arguments = parse_arguments()
    write_report(arguments.report, asyncio.run(run(arguments)))


if __name__ == "__main__":
    main()
