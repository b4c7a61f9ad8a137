"""`varve apply`, killed at any moment, has changed all of its tenants or none, and a new process knows the same as all others."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from control import ControlFollower, read_audit
from runtime.kafka import create_topics
from runtime.settings import ControlSettings, Settings
from tests.control.killed_apply import MOMENTS, NOT_YET
from tests.control_log import following
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration

DEADLINE_S = 60.0
TENANTS = [f"tenant-{number}" for number in range(200)]


async def test_a_killed_apply_leaves_one_version(make_settings: Callable[..., Settings], tmp_path: Path) -> None:
    settings = make_settings(kafka=one_broker(partitions=3), control=ControlSettings(lease_s=2.0))
    await create_topics(settings)
    assert await _apply(settings, ("varve", "apply", "-f"), weight=1) == 0
    version = 1
    async with following(settings) as follower:
        assert _weights(follower) == {1.0}
        for moment in MOMENTS:
            killed = await _apply(settings, ("tests.control.killed_apply", moment), weight=version + 1)
            assert killed == -signal.SIGKILL
            expected = version if moment in NOT_YET else version + 1
            async with following(settings) as restarted:
                assert _weights(restarted) == {expected}, moment
                await follower.wait_for(restarted.state.position, timeout_s=DEADLINE_S)
                assert _weights(follower) == {expected}, moment
            version += 1
            assert await _apply(settings, ("varve", "apply", "-f"), weight=version) == 0, "started again, it ends"
            await follower.wait_for(0, timeout_s=DEADLINE_S)
            await _until_known(follower, version)
    check, _ = await read_audit(settings)
    assert check.problems == []
    assert check.changes == version, "each version once, whatever became of its writer"


async def _apply(settings: Settings, command: tuple[str, ...], *, weight: int) -> int | None:
    path = settings.data / f"{weight}.yaml"
    path.write_text(yaml.safe_dump({"tenants": [{"id": name, "schema": "companion", "weight": weight} for name in TENANTS]}))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *command, str(path)),
        env={
            **os.environ,
            "VARVE_DATA": str(settings.data),
            "VARVE_KAFKA__BOOTSTRAP": settings.kafka.bootstrap,
            "VARVE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
            "VARVE_CONTROL__LEASE_S": "0.1",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    async with asyncio.timeout(DEADLINE_S):
        return await process.wait()


async def _until_known(follower: ControlFollower, version: int) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while _weights(follower) != {version}:
            await follower.wait_for(follower.state.position + 1, timeout_s=DEADLINE_S)


def _weights(follower: ControlFollower) -> set[float]:
    return {tenant.weight for tenant in follower.state.tenants.values()}
