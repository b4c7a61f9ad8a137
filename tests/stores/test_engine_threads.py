"""A shard is searched in the thread that asks: idle threads that wake for each call cost a busy machine as much as the search."""

import os
import sys
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path

import orjson
import pytest

from stores.edge.shard import Shard
from tests.stores.factories import prepared_shard

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the names of threads are read from Linux")


def threads() -> dict[str, str]:
    """The names of this process's threads, by their numbers."""
    found = {}
    for task in os.listdir("/proc/self/task"):
        with suppress(OSError):  # it has ended since
            found[task] = Path(f"/proc/self/task/{task}/comm").read_text().strip()
    return found


def search_threads_since(before: Mapping[str, str]) -> int:
    """How many threads for searches the engine has begun. Each begins under its parent's name, and gives itself its own."""
    deadline = time.monotonic() + 10
    while not (names := [name for task, name in threads().items() if task not in before]) or not all(map(is_search_thread, names)):
        assert time.monotonic() < deadline, f"the threads begun are named {names}"
    return len(names)


def is_search_thread(name: str) -> bool:
    return name.startswith("edge-search")


def test_a_new_shard_has_one_search_thread(tmp_path: Path) -> None:
    before = threads()
    with closing(prepared_shard(tmp_path)):
        assert search_threads_since(before) == 1


def test_a_shard_of_an_older_version_gets_one(tmp_path: Path) -> None:
    prepared_shard(tmp_path).close()
    file = tmp_path / "shard" / "edge_config.json"
    written = orjson.loads(file.read_bytes())
    del written["max_search_threads"]
    file.write_bytes(orjson.dumps(written))
    before = threads()
    with closing(Shard(tmp_path)):
        assert search_threads_since(before) == 1
        assert orjson.loads(file.read_bytes())["wal_options"] == written["wal_options"]
