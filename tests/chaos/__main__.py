"""``python -m tests.chaos``: runs the whole suite and writes its report.

Exits with 1 if a run has lost, doubled, disordered or falsified anything.
"""

import argparse
import asyncio
import logging
import secrets
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable
from pathlib import Path

import orjson

from tests.chaos.cluster import running_cluster
from tests.chaos.faults import FAULTS
from tests.chaos.rebuilt import rebuilt
from tests.chaos.run import Outcome, run_fault, tenant_of
from tests.chaos.verdict import Verdict

_FAULTS_OF_A_CLUSTER = 5
"""A rebuild takes up all that a cluster has ever been told: with every fault it would take longer."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Breaks Varve under load, and counts what it loses.")
    parser.add_argument("--report", type=Path, default=Path("build/reports/chaos.json"))
    parser.add_argument("--seed", type=int, default=None, help="drawn and printed where not given")
    parser.add_argument("--faults", nargs="+", choices=sorted(FAULTS), default=list(FAULTS), metavar="NAME", help=", ".join(FAULTS))
    parser.add_argument("--keep", action="store_true", help="keep all data and logs, as after a failure")
    given = parser.parse_args()
    seed = secrets.randbelow(2**31) if given.seed is None else given.seed
    folder = Path(tempfile.mkdtemp(prefix="varve-chaos-"))
    print(f"seed {seed}, data and logs in {folder}", flush=True)
    outcomes = asyncio.run(_run(folder, given.faults, seed))
    given.report.parent.mkdir(parents=True, exist_ok=True)
    given.report.write_bytes(orjson.dumps({"seed": seed, "runs": [each.line() for each in outcomes]}, option=orjson.OPT_INDENT_2))
    passed = all(each.verdict.passed for each in outcomes)
    if passed and not given.keep:
        shutil.rmtree(folder)
    sys.exit(0 if passed else 1)


async def _run(folder: Path, names: list[str], seed: int) -> list[Outcome]:
    """Runs fault after fault, and rebuilds behind each; behind a few, or one that did damage, the next begins on a cluster of its own."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # a broker that is killed is no news here
    outcomes: list[Outcome] = []
    left = list(names)
    while left:
        own = folder / str(len(outcomes))
        own.mkdir()
        unharmed = True
        batch, left = left[:_FAULTS_OF_A_CLUSTER], left[_FAULTS_OF_A_CLUSTER:]
        async with running_cluster(own, seed=seed) as cluster:
            while batch and unharmed:
                fault = FAULTS[batch.pop(0)]
                outcomes.append(_told(await _survived(run_fault(cluster, fault, seed=seed), fault.name, seed)))
                unharmed = outcomes[-1].verdict.passed
                if unharmed:
                    again = rebuilt(cluster, [tenant_of(fault, seed)], seed=seed, behind=fault.name)
                    outcomes.append(_told(await _survived(again, fault.name, seed)))
                    unharmed = outcomes[-1].verdict.passed
        left = batch + left
    return outcomes


async def _survived(run: Awaitable[Outcome], name: str, seed: int) -> Outcome:
    """A run's outcome, also where it broke off: what stalls is a fault of the product, and no reason to lose the report."""
    started = time.monotonic()
    try:
        return await run
    except Exception as error:
        traceback.print_exc()
        return Outcome(name, seed, Verdict(problems=[f"broke off: {error!r}"]), time.monotonic() - started)


def _told(outcome: Outcome) -> Outcome:
    print(orjson.dumps(outcome.line()).decode(), flush=True)
    return outcome


if __name__ == "__main__":
    main()
