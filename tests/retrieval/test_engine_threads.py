"""A shard is searched in the thread that asks: idle threads that wake for each call cost a busy machine as much as the search."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import orjson
import pytest

from retrieval.stores.edge.shard import Shard
from tests.retrieval.factories import prepared_shard

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the names of threads are read from Linux")


def search_threads() -> set[str]:
    return {f"{name}-{task}" for task, name in _threads() if name.startswith("edge-search")}


def _threads() -> Iterator[tuple[str, str]]:
    for task in os.listdir("/proc/self/task"):
        with suppress(OSError):  # it has ended since
            yield task, Path(f"/proc/self/task/{task}/comm").read_text().strip()


def test_a_new_shard_has_one_search_thread(tmp_path: Path) -> None:
    before = search_threads()
    with closing(prepared_shard(tmp_path)):
        assert len(search_threads() - before) == 1


def test_a_shard_of_an_older_version_gets_one(tmp_path: Path) -> None:
    prepared_shard(tmp_path).close()
    file = tmp_path / "shard" / "edge_config.json"
    written = orjson.loads(file.read_bytes())
    del written["max_search_threads"]
    file.write_bytes(orjson.dumps(written))
    before = search_threads()
    with closing(Shard(tmp_path)):
        assert len(search_threads() - before) == 1
        assert orjson.loads(file.read_bytes())["wal_options"] == written["wal_options"]
