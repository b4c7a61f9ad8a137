"""A short selection of the chaos suite; ``make chaos`` runs all of it."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.chaos.cluster import running_cluster
from tests.chaos.faults import SELECTION
from tests.chaos.rebuild import run_rebuild
from tests.chaos.run import Outcome, run_fault, tenant_of

pytestmark = [pytest.mark.integration, pytest.mark.chaos, pytest.mark.timeout(1500)]


@pytest.fixture
def folder() -> Iterator[Path]:
    # pytest's folders may be longer than a Unix socket's path can be.
    made = Path(tempfile.mkdtemp(prefix="varve-chaos-"))
    yield made
    shutil.rmtree(made)


async def test_no_fault_loses_repeats_or_changes_anything(folder: Path) -> None:
    seed = int(os.environ.get("VARVE_TEST_SEED") or secrets.randbelow(2**31))
    print(f"seed {seed}: VARVE_TEST_SEED={seed} repeats its draws")
    async with running_cluster(folder, seed=seed) as cluster:
        for fault in SELECTION:
            outcome = await run_fault(cluster, fault, seed=seed)
            _require_passed(outcome)
        outcome = await run_rebuild(cluster, [tenant_of(fault, seed) for fault in SELECTION], seed=seed, after_fault="selection")
        _require_passed(outcome)


def _require_passed(outcome: Outcome) -> None:
    """Fails with the whole outcome, which pytest would shorten."""
    if not outcome.verdict.passed:
        pytest.fail(orjson.dumps(outcome.as_json(), option=orjson.OPT_INDENT_2).decode(), pytrace=False)
