"""A worker dies at the step that its failpoint file names, at the visit that it names, and once."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos.failpoints import BATCH_FAILPOINTS, TAKE_OVER_FAILPOINTS, FailpointFile

WORK = """
import asyncio, sys
from pathlib import Path
from runtime.kafka import transactional
from runtime.kafka.transactional import TransactionalProducer
from streams.engine.tasks.batch_runner import BatchRunner
from streams.engine.keyed.keyed_task import KeyedTask
from streams.engine.tasks.partition_task import PartitionTask
from streams.engine.tasks.checkpointer import Checkpointer
from aiokafka import AIOKafkaProducer
from tests.chaos.failpoints import FailpointFile, install

async def step(*args): pass
for owner, name in [
    (TransactionalProducer, "start"), (Checkpointer, "initialize"), (TransactionalProducer, "commit"),
    (transactional, "_send_batches"), (AIOKafkaProducer, "send_offsets_to_transaction"), (AIOKafkaProducer, "commit_transaction"),
    (BatchRunner, "_commit"), (KeyedTask, "_commit"), (PartitionTask, "_commit_position"),
]:
    getattr(owner, name)  # each step is still called so in the product
    setattr(owner, name, step)
async def idle(self): await TransactionalProducer.commit(None)
PartitionTask._commit_position = idle
install(FailpointFile(Path(sys.argv[1])))

async def batch():
    await TransactionalProducer.start(None)
    await Checkpointer.initialize(None)
    await PartitionTask._commit_position(None)
    for _ in range(2):
        await transactional._send_batches()
        await AIOKafkaProducer.send_offsets_to_transaction(None)
        await AIOKafkaProducer.commit_transaction(None)
        await TransactionalProducer.commit(None)
        await BatchRunner._commit(None)
        print("done", flush=True)
asyncio.run(batch())
"""


def test_a_failpoint_counts_its_visits_and_is_used_up(tmp_path: Path) -> None:
    failpoints = FailpointFile(tmp_path / "worker.failpoint")
    assert not failpoints.visit("sent")
    failpoints.set("sent", visit=2)
    assert [failpoints.visit(failpoint) for failpoint in ("commit", "sent", "sent", "sent")] == [False, False, True, False]


def test_a_cleared_failpoint_kills_no_process(tmp_path: Path) -> None:
    failpoints = FailpointFile(tmp_path / "worker.failpoint")
    failpoints.set("sent", visit=1)
    failpoints.clear()
    assert not failpoints.visit("sent")


@pytest.mark.parametrize("failpoint", [*TAKE_OVER_FAILPOINTS, *BATCH_FAILPOINTS])
def test_a_process_is_killed_at_its_failpoint(failpoint: str, tmp_path: Path) -> None:
    path = tmp_path / "worker.failpoint"
    in_takeover = failpoint in TAKE_OVER_FAILPOINTS
    FailpointFile(path).set(failpoint, visit=1 if in_takeover else 2)
    ended = subprocess.run([sys.executable, "-c", WORK, str(path)], capture_output=True, text=True, check=False)
    assert ended.returncode == -9, ended.stderr
    assert ended.stdout.count("done") == (0 if in_takeover else 1), "a position that is committed alone is no batch"
