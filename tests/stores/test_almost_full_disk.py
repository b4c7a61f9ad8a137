"""A shard on an almost full disk: it refuses writes before the kernel would kill its process, and answers reads."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from stores.edge.__main__ import _open
from stores.edge.shard import Shard
from stores.errors import OwnershipError, StoreUnavailableError
from stores.filters import MemoryFilter
from stores.points import tombstone_payload
from stores.port import TenantScope
from tests.stores.factories import NOON, at, memory, prepared_shard, put_in_shard

ACME = MemoryFilter.everything(TenantScope("acme"))
NOTE = memory("note")

FreeSpace = Callable[[int], None]


class _Usage(NamedTuple):
    free: int


@pytest.fixture
def leave(monkeypatch: pytest.MonkeyPatch) -> FreeSpace:
    """Sets the free space of the disk, in bytes."""
    return lambda free: monkeypatch.setattr(shutil, "disk_usage", lambda _: _Usage(free=free))


def test_writes_wait_while_reads_continue(tmp_path: Path, leave: FreeSpace) -> None:
    shard = prepared_shard(tmp_path)
    put_in_shard(shard, NOTE)
    leave(63_000_000)
    writes: tuple[Callable[[], None], ...] = (
        lambda: put_in_shard(shard, memory("another note")),
        lambda: shard.delete(ACME, {NOTE.id: tombstone_payload(at(1), NOON)}),
        lambda: shard.set_checkpoint(at(1)),
    )
    for write in writes:
        with pytest.raises(StoreUnavailableError, match="63 MB free, but writing to the shard needs 64 MB: free some space"):
            write()
    assert shard.count(ACME) == 1

    leave(65_000_000)
    put_in_shard(shard, memory("another note"))
    assert shard.count(ACME) == 2
    shard.close()


def test_a_new_shard_needs_space(tmp_path: Path, leave: FreeSpace) -> None:
    leave(63_000_000)
    with pytest.raises(StoreUnavailableError, match="writing to the shard needs 64 MB"):
        prepared_shard(tmp_path)


def test_an_opening_asks_for_space_not_deletion(tmp_path: Path, leave: FreeSpace) -> None:
    prepared_shard(tmp_path).close()
    leave(1_000_000)
    with pytest.raises(OwnershipError, match=r"1 MB free, but opening the shard needs 16 MB: free some space$"):
        _open(tmp_path)
    leave(17_000_000)
    Shard(tmp_path).close()


def test_a_compaction_stops_when_others_fill_the_disk(tmp_path: Path, leave: FreeSpace) -> None:
    shard = prepared_shard(tmp_path)
    for number in range(30):
        put_in_shard(shard, memory(f"note {number}"))
    steps = shard.compaction()
    for _ in range(20):
        next(steps)
    leave(1_000_000)
    with pytest.raises(StoreUnavailableError, match="1 MB free"):
        for _ in steps:
            pass
    assert [each.name for each in tmp_path.glob("shard*")] == ["shard"]
    assert shard.count(ACME) == 30
    shard.close()
