"""``python -m tests.chaos``: runs the whole suite and writes its report.

Exits with 1 if a run has lost, duplicated, reordered or changed anything.
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
from tests.chaos.qdrant_server import BINARY, QdrantServer
from tests.chaos.rebuild import run_rebuild
from tests.chaos.run import Outcome, run_fault, tenant_of
from tests.chaos.verdict import Verdict

_FAULTS_PER_CLUSTER = 5
"""A rebuild reprocesses the whole log of its cluster: each fault makes it longer."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Breaks Varve under load, and counts what it loses.")
    parser.add_argument("--report", type=Path, default=Path("build/reports/chaos.json"))
    parser.add_argument("--seed", type=int, default=None, help="drawn and printed where not given")
    parser.add_argument("--faults", nargs="+", choices=sorted(FAULTS), default=list(FAULTS), metavar="NAME", help=", ".join(FAULTS))
    parser.add_argument("--keep", action="store_true", help="keep all data and logs, as after a failure")
    parser.add_argument("--no-rebuild", action="store_true", help="rebuild nothing after the faults: faster, and proves less")
    arguments = parser.parse_args()
    seed = secrets.randbelow(2**31) if arguments.seed is None else arguments.seed
    folder = Path(tempfile.mkdtemp(prefix="varve-chaos-"))
    print(f"seed {seed}, data and logs in {folder}", flush=True)
    skipped = [name for name in arguments.faults if FAULTS[name].shape.store_nodes > 1 and not QdrantServer.is_named()]
    if skipped:
        print(f"skipped, since {BINARY} names no Qdrant server: {', '.join(skipped)}", flush=True)
    faults = [name for name in arguments.faults if name not in skipped]
    outcomes = asyncio.run(_run(folder, faults, seed, rebuilds=not arguments.no_rebuild))
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    report = {"seed": seed, "runs": [each.as_json() for each in outcomes], "skipped": skipped}
    arguments.report.write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))
    passed = sum(each.verdict.passed for each in outcomes)
    is_kept = arguments.keep or passed < len(outcomes)
    if not is_kept:
        shutil.rmtree(folder)
    kept = f"; data and logs are in {folder}" if is_kept else ""
    print(f"{passed} of {len(outcomes)} runs passed: {arguments.report}{kept}")
    sys.exit(0 if passed == len(outcomes) else 1)


async def _run(folder: Path, names: list[str], seed: int, *, rebuilds: bool) -> list[Outcome]:
    """Runs fault after fault, a rebuild after each if wanted. After a few, or one that did damage, the next gets a new cluster."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # a killed broker is expected here
    outcomes: list[Outcome] = []
    pending = [FAULTS[name] for name in names]
    while pending:
        cluster_folder = folder / str(len(outcomes))
        cluster_folder.mkdir()
        shape, is_intact, begun = pending[0].shape, True, 0
        async with running_cluster(cluster_folder, seed=seed, shape=shape) as cluster:
            while pending and is_intact and begun < _FAULTS_PER_CLUSTER and pending[0].shape is shape:
                fault, begun = pending.pop(0), begun + 1
                outcomes.append(_printed(await _outcome_of(run_fault(cluster, fault, seed=seed), fault.name, seed)))
                is_intact = outcomes[-1].verdict.passed
                if is_intact and rebuilds:
                    tenants, is_killed = [tenant_of(fault, seed)], fault.kills_rebuild
                    rebuild = run_rebuild(cluster, tenants, seed=seed, after_fault=fault.name, is_killed=is_killed)
                    outcomes.append(_printed(await _outcome_of(rebuild, fault.name, seed)))
                    is_intact = outcomes[-1].verdict.passed
                is_intact &= not fault.spoils_log
    return outcomes


async def _outcome_of(run: Awaitable[Outcome], name: str, seed: int) -> Outcome:
    """A run's outcome, also where it raised: a stall is a defect to report, not a reason to lose the report."""
    started = time.monotonic()
    try:
        # In a separate task: in Python 3.11, a task whose TaskGroup failed looks cancelled to `pause`, which the next run waits by.
        return await asyncio.ensure_future(run)
    except Exception as error:
        traceback.print_exc()
        return Outcome(name, seed, Verdict(problems=[f"broke off: {error!r}"]), time.monotonic() - started)


def _printed(outcome: Outcome) -> Outcome:
    print(orjson.dumps(outcome.as_json()).decode(), flush=True)
    return outcome


if __name__ == "__main__":
    main()
