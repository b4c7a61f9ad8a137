"""``python -m benchmarks.reads``: one tenant's recalls while another floods the service, and recalls by number of callers.

The service, the Edge store, Kafka and Redis are real processes. Writes ``build/reports/reads.json``: of the quiet tenant, which sends one
recall after another, p50 and p95 without and with the flood in turns, and ``p95_ratio`` of the two; of the flood (callers in a process of
their own that ask for 1,000 results each, one after another, and ignore ``Retry-After``), the numbers of answered and rejected recalls; and
recalls per second with few and with many callers of one tenant.
"""

import argparse
import asyncio
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from benchmarks.callers import Caller, Service, callers_apart, latencies, statuses
from benchmarks.reports import benchmark_parser, write_report
from benchmarks.service import running_service

_QUIET: Final = "tenant-0"
_FLOOD: Final = "tenant-1"
_FLOOD_LIMIT: Final = 1000
_PAUSE_S: Final = 0.05
"""Pause between two recalls of the quiet tenant."""


async def fairness(service: Service, *, callers: int, seconds: float, rounds: int) -> dict[str, object]:
    """The quiet tenant's latency without and with the flood, in turns."""
    quiet: dict[bool, list[Caller]] = {False: [], True: []}
    floods: list[dict[str, object]] = []
    for number in range(rounds * 2):
        is_flooded = number % 2 == 1
        asker = Caller(service, _QUIET, f"quiet{number}", user="user-2")
        quiet[is_flooded].append(asker)
        async with AsyncExitStack() as resources:
            if is_flooded:
                flood = callers_apart(service, _FLOOD, callers=callers, limit=_FLOOD_LIMIT)
                floods.append(await resources.enter_async_context(flood))
            await asker.run(time.monotonic() + seconds, pause_s=_PAUSE_S)
    alone, flooded = (latencies([s for caller in quiet[key] for s in caller.seconds]) for key in (False, True))
    return {
        "p95_ratio": round(flooded["p95_ms"] / alone["p95_ms"], 2),
        "p50_ratio": round(flooded["p50_ms"] / alone["p50_ms"], 2),
        "without_flood": alone,
        "with_flood": flooded,
        "quiet_statuses": statuses([*quiet[False], *quiet[True]]),
        "floods": floods,
        "callers": callers,
    }


async def throughput(service: Service, *, callers: int, seconds: float) -> dict[str, object]:
    """Recalls per second of one tenant, whose callers each send one recall after another."""
    until = time.monotonic() + seconds
    asking = [Caller(service, _FLOOD, f"many{callers}-{each}", user="user-3") for each in range(callers)]
    await asyncio.gather(*(each.run(until) for each in asking))
    answered = [s for caller in asking for s in caller.seconds]
    return {"per_second": round(len(answered) / seconds, 1), **latencies(answered), "statuses": statuses(asking)}


async def run(arguments: argparse.Namespace) -> dict[str, object]:
    """Runs both benchmarks on one service."""
    with tempfile.TemporaryDirectory(prefix="varve-") as folder:
        async with running_service(Path(folder), points=arguments.points) as service:
            await throughput(service, callers=4, seconds=3)  # a warm-up
            by_callers = {str(n): await throughput(service, callers=n, seconds=arguments.seconds) for n in arguments.callers}
            return {
                "fairness": await fairness(service, callers=arguments.flood, seconds=arguments.seconds, rounds=arguments.rounds),
                "by_callers": by_callers,
                "points": arguments.points,
            }


def main() -> None:
    """Measures, prints and writes the report."""
    parser = benchmark_parser("reads", __doc__)
    parser.add_argument("--points", type=int, default=2000, help="memories of each tenant")
    parser.add_argument("--flood", type=int, default=100, help="callers of the flood")
    parser.add_argument("--callers", type=int, nargs="*", default=[16, 64], help="numbers of callers whose recalls per second are measured")
    parser.add_argument("--seconds", type=float, default=8.0, help="length of each turn")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of turns without and with the flood")
    arguments = parser.parse_args()
    write_report(arguments.report, asyncio.run(run(arguments)))


if __name__ == "__main__":
    main()
