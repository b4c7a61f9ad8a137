"""``python -m benchmarks.stream``: the speed of the stages on a real broker, as shares of a baseline of the same run."""

import argparse
import asyncio
import json
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.stack import broker_and_redis
from benchmarks.stream.ratios import ratios


async def run(*, count: int, keys: int, rounds: int) -> dict[str, object]:
    """Measures."""
    async with AsyncExitStack() as resources:
        folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="varve-bench-")))
        settings = await resources.enter_async_context(broker_and_redis(folder))
        return await ratios(settings, folder, count=count, keys=keys, rounds=rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stream", description=__doc__)
    parser.add_argument("--report", type=Path, default=Path("build/reports/stream.json"))
    parser.add_argument("--records", type=int, default=60_000, help="records of each run")
    parser.add_argument("--keys", type=int, default=500, help="sessions, or entities")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; the medians are compared")
    arguments = parser.parse_args()
    results = json.dumps(asyncio.run(run(count=arguments.records, keys=arguments.keys, rounds=arguments.rounds)), indent=2)
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    arguments.report.write_text(results + "\n")
    print(results)
