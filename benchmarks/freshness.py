"""``python -m benchmarks.freshness``: time from the end of a message's window until a recall finds it, on the whole embedded stack."""

import asyncio
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psutil
from varve_client import AsyncVarveClient

from benchmarks.processes import POLL_S
from benchmarks.reports import benchmark_parser, p50, p95, write_report
from varve.embedded.lifecycle import temporary_stack
from varve.service_client import service_client

_TIMEOUT_S: Final = 30.0
_PAUSE_S: Final = 0.01
"""Pause between two recalls that look for the message."""
_WARM_UP: Final = 3
"""Messages of the warm-up, which are not counted."""


async def freshness(folder: Path, *, messages: int) -> dict[str, Any]:
    """Sends one message after another, closes its window, and recalls until the index has it.

    Returns:
        Milliseconds from the flush's answer to the first recall whose results cite the message, and the machine's load, one minute's
        mean, before and after.
    """
    load_before = psutil.getloadavg()[0]
    async with temporary_stack(folder) as running, service_client(running.settings) as service:
        waits = await freshness_of(service, messages=messages)
    return {
        "messages": messages,
        "freshness_p50_ms": p50(waits, 1),
        "freshness_p95_ms": p95(waits, 1),
        "longest_ms": round(max(waits)),
        "load_before": round(load_before, 2),
        "load_after": round(psutil.getloadavg()[0], 2),
    }


async def freshness_of(service: AsyncVarveClient, *, messages: int) -> list[float]:
    """Milliseconds from the answer of each message's flush to the first recall that cites it. A few run first, as a warm-up.

    Args:
        service: The client of an idle stack.
        messages: Number of measured messages.
    """
    return [await _wait_ms(service, number) for number in range(_WARM_UP + messages)][_WARM_UP:]


async def _wait_ms(service: AsyncVarveClient, number: int) -> float:
    identifier = f"m{number:04d}"
    await service.send(
        [
            {
                "user": f"user-{number}",
                "session": f"session-{number}",
                "id": identifier,
                "role": "user",
                "text": f"My sister Hannah moved to house number {number} in Oslo last week, and I promised to visit her in May.",
                "event_time": datetime.now(UTC).isoformat(),
            }
        ]
    )
    # The machine is idle: the time of a window is measured, not the sending.
    await asyncio.sleep(POLL_S)
    await service.flush(f"session-{number}")
    flushed = time.monotonic()
    while time.monotonic() - flushed < _TIMEOUT_S:
        results = (await service.recall(f"Where did Hannah move? {number}", user=f"user-{number}")).results
        if any(identifier in str(evidence) for result in results for evidence in result.evidence):
            return (time.monotonic() - flushed) * 1000
        await asyncio.sleep(_PAUSE_S)
    raise TimeoutError(f"message {identifier} is not recalled {_TIMEOUT_S:g} s after its window closed")


def main() -> None:
    """Measures, prints and writes the report."""
    parser = benchmark_parser("freshness", __doc__)
    parser.add_argument("--messages", type=int, default=60, help="number of measured messages")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="varve-bench-") as folder:
        write_report(arguments.report, asyncio.run(freshness(Path(folder), messages=arguments.messages)))


if __name__ == "__main__":
    main()
