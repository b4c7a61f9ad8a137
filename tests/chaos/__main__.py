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
from pathlib import Path

import orjson

from tests.chaos.cluster import running_cluster
from tests.chaos.faults import FAULTS
from tests.chaos.rebuilt import rebuilt
from tests.chaos.run import Outcome, run_fault, tenant_of


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Breaks Varve under load, and counts what it loses.")
    parser.add_argument("--report", type=Path, default=Path("build/reports/chaos.json"))
    parser.add_argument("--seed", type=int, default=None, help="drawn and printed where not given")
    parser.add_argument("--faults", nargs="+", choices=sorted(FAULTS), default=list(FAULTS), metavar="NAME", help=", ".join(FAULTS))
    parser.add_argument("--keep", action="store_true", help="keep all data and logs")
    given = parser.parse_args()
    seed = secrets.randbelow(2**31) if given.seed is None else given.seed
    folder = Path(tempfile.mkdtemp(prefix="varve-chaos-"))
    print(f"seed {seed}, data and logs in {folder}", flush=True)
    outcomes = asyncio.run(_run(folder, given.faults, seed))
    given.report.parent.mkdir(parents=True, exist_ok=True)
    given.report.write_bytes(orjson.dumps({"seed": seed, "runs": [each.line() for each in outcomes]}, option=orjson.OPT_INDENT_2))
    if not given.keep:
        shutil.rmtree(folder)
    sys.exit(0 if all(each.verdict.passed for each in outcomes) else 1)


async def _run(folder: Path, names: list[str], seed: int) -> list[Outcome]:
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # a broker that is killed is no news here
    outcomes = []
    async with running_cluster(folder, seed=seed) as cluster:
        print("all is up", flush=True)
        for name in names:
            outcomes.append(await run_fault(cluster, FAULTS[name], seed=seed))
            print(orjson.dumps(outcomes[-1].line()).decode(), flush=True)
        outcomes.append(await rebuilt(cluster, [tenant_of(FAULTS[name], seed) for name in names], seed=seed))
        print(orjson.dumps(outcomes[-1].line()).decode(), flush=True)
    return outcomes


if __name__ == "__main__":
    main()
