"""The process that owns a shard continues to flush after a failed flush, and exits if no flush succeeds."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from runtime import background
from runtime.background import BackgroundWorkError
from runtime.resilience import Backoff, RestartPolicy
from stores.edge import owner as owner_module
from stores.edge.owner import Owner
from tests.streams.harness import until


class Shard:
    """A shard of which only flushes are asked; the first ones fail as the engine's do on a full disk."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.flushes = 0

    def flush(self) -> None:
        self.flushes += 1
        if self.flushes <= self.failures:
            raise Exception("no space left on device")


class NoCompaction:
    async def run(self) -> None:
        await asyncio.Event().wait()


def owner_of(shard: Shard, path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    monkeypatch.setattr(owner_module, "FLUSH_INTERVAL_S", 0.001)
    monkeypatch.setattr(
        background, "RESTARTS", RestartPolicy(backoff=Backoff(initial_interval_s=0.001, maximum_interval_s=0.001), reset_after_s=60.0)
    )
    owner = Owner(shard=cast(Any, shard), path=path, compactor=cast(Any, NoCompaction()))
    owner._dirty = True
    return owner


async def test_changes_of_a_failed_flush_are_flushed_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shard, stopping = Shard(failures=2), asyncio.Event()
    serving = asyncio.create_task(owner_of(shard, tmp_path / "edge.sock", monkeypatch).serve(stopping))
    await until(lambda: shard.flushes == 3)
    stopping.set()
    await serving


async def test_an_owner_that_cannot_flush_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = Shard(failures=10**9)
    async with asyncio.timeout(60):
        with pytest.raises(BackgroundWorkError, match="flush failed 20 times in a row"):
            await owner_of(shard, tmp_path / "edge.sock", monkeypatch).serve(asyncio.Event())
    assert not (tmp_path / "edge.sock").exists()
