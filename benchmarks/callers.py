"""Clients of a running service, each of which sends one recall after another.

``python -m benchmarks.callers`` runs some in a separate process, so that their work on large responses delays no measurement.
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp

from benchmarks.reports import p50, p95
from runtime.settings import Settings

PERSONS: Final = ("Ann", "Melanie", "Priya", "Tom")


@dataclass(frozen=True, slots=True)
class Service:
    """A running service, and its tenants' keys."""

    url: str
    keys: dict[str, str]
    pids: Mapping[str, int] = field(default_factory=dict)
    """Process ids by name: the service and its servers."""
    health_url: str = ""
    """Address of the service's health page, which has the metrics."""
    settings: Settings = field(default_factory=Settings)
    """The settings with the addresses of its servers."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Time that writing the tenants (``control``) and starting the service (``service``) took."""


def question(caller: str, number: int, *, names_persons: bool = False) -> str:
    """A new question: its embedding is in no cache.

    Args:
        caller: The caller's name.
        number: Number of the question, from 1.
        names_persons: Whether every second one asks about a person, so that it is compared in the first person, too.
    """
    about = f"w{number} and w{number * 7 % 1000}"
    if not names_persons or number % 2:
        return f"what does {caller} say of {about}"
    return f"what does {PERSONS[number // 2 % len(PERSONS)]} say to {caller} of {about}"


class Caller:
    """One client with one connection, which sends one recall after another.

    Args:
        service: The service.
        tenant: The tenant.
        name: Part of its questions.
        names_persons: Whether every second question names a person.
        fields: Further fields of its recalls.
    """

    def __init__(self, service: Service, tenant: str, name: str, *, names_persons: bool = False, **fields: object) -> None:
        self._service = service
        self._tenant = tenant
        self._name = name
        self._names_persons = names_persons
        self._fields = fields
        self.seconds: list[float] = []
        """Latencies of the answered recalls."""
        self.statuses: Counter[int] = Counter()

    async def run(self, until: float, *, pause_s: float = 0.0) -> None:
        """Sends recalls.

        Args:
            until: When to stop, by ``time.monotonic``.
            pause_s: Pause between two recalls, in seconds.
        """
        headers = {"Authorization": f"Bearer {self._service.keys[self._tenant]}"}
        async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=1)) as http:
            number = 0
            while time.monotonic() < until:
                number += 1
                started = time.perf_counter()
                query = question(f"{self._name}{until:.0f}", number, names_persons=self._names_persons)
                async with http.post(f"{self._service.url}/v1/recall", json={"query": query, **self._fields}) as response:
                    await response.read()
                self.statuses[response.status] += 1
                if response.status == 200:
                    self.seconds.append(time.perf_counter() - started)
                await asyncio.sleep(pause_s)


@asynccontextmanager
async def callers_apart(service: Service, tenant: str, *, callers: int, limit: int) -> AsyncIterator[dict[str, Any]]:
    """Runs callers in a separate process during the block, which begins when they start.

    Yields:
        An object that has ``statuses`` and ``latencies`` when the block ends.

    Raises:
        RuntimeError: If the process failed.
    """
    words = [sys.executable, "-m", "benchmarks.callers", service.url, service.keys[tenant], str(callers), str(limit)]
    process = await asyncio.create_subprocess_exec(*words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    answers: dict[str, Any] = {}
    try:
        await process.stdout.readline()
        yield answers
    finally:
        # The end of its standard input ends the process.
        output, _ = await process.communicate(b"")
    if process.returncode:
        raise RuntimeError(f"the callers' process ended with {process.returncode}")
    answers |= json.loads(output)


def statuses(callers: Sequence[Caller]) -> dict[int, int]:
    """Number of responses by status."""
    return dict(sum((caller.statuses for caller in callers), Counter()))


def latencies(seconds: Sequence[float]) -> dict[str, float]:
    """The number of latencies, and their p50 and p95 in milliseconds; without any, only the number."""
    if not seconds:
        return {"recalls": len(seconds)}
    milliseconds = [each * 1000 for each in seconds]
    return {"recalls": len(seconds), "p50_ms": p50(milliseconds, 1), "p95_ms": p95(milliseconds, 1)}


async def _run(arguments: argparse.Namespace) -> dict[str, object]:
    service = Service(arguments.url, {"": arguments.key})
    asking = [Caller(service, "", f"apart{each}", limit=arguments.limit) for each in range(arguments.callers)]
    tasks = [asyncio.create_task(each.run(float("inf"))) for each in asking]
    print("asking", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    failed = [each for each in outcomes if isinstance(each, Exception)]
    if failed:
        raise failed[0]
    return {"statuses": statuses(asking), "latencies": latencies([s for caller in asking for s in caller.seconds])}


def main() -> None:
    """Runs the callers, and prints the statuses and latencies."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.callers", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("key")
    parser.add_argument("callers", type=int)
    parser.add_argument("limit", type=int)
    print(json.dumps(asyncio.run(_run(parser.parse_args()))))


if __name__ == "__main__":
    main()
