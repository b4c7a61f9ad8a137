"""The disk usage of a memory, in a real shard with vectors of the embedded model's shapes."""

from contextlib import closing
from pathlib import Path

from evaluation.bench_recall import MODEL, RandomData
from models.embedding.weights import DIMENSION, LATE_DIMENSION
from stores.edge.folder import bytes_on_disk
from stores.edge.shard import Shard
from tests.stores.factories import encoded

MEMORIES = 1000
MOST_BYTES = 6000
BLOCK = 4096


def test_a_further_memory_takes_at_most_six_kilobytes(tmp_path: Path) -> None:
    data = RandomData(seed=1, tenants=1)
    with closing(Shard(tmp_path)) as shard:
        shard.prepare(MODEL, DIMENSION, LATE_DIMENSION)
        half, whole = (size_with(shard, tmp_path, data, memories) for memories in (MEMORIES, 2 * MEMORIES))

    assert (whole - half) / MEMORIES < MOST_BYTES


def size_with(shard: Shard, folder: Path, data: RandomData, memories: int) -> int:
    """The bytes of a shard once it holds the last thousand of so many memories, and its write-ahead log is as short as it gets."""
    for start in range(memories - MEMORIES, memories, 100):
        shard.upsert([encoded(data.point(index)) for index in range(start, start + 100)])
    shard.flush()
    return bytes_on_disk(folder)


def test_all_files_below_a_folder_count(tmp_path: Path) -> None:
    (tmp_path / "one" / "two").mkdir(parents=True)
    (tmp_path / "one" / "two" / "deep").write_bytes(b"x" * 10 * BLOCK)
    (tmp_path / "shallow").write_bytes(b"x" * 10 * BLOCK)
    assert 20 * BLOCK <= bytes_on_disk(tmp_path) < 40 * BLOCK


def test_missing_and_empty_folders_use_no_space(tmp_path: Path) -> None:
    (tmp_path / "gone").symlink_to(tmp_path / "removed")
    assert bytes_on_disk(tmp_path) == 0
    assert bytes_on_disk(tmp_path / "none") == 0


def test_a_hole_takes_no_space(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as file:
        file.truncate(1000 * BLOCK)
    assert bytes_on_disk(tmp_path) < 10 * BLOCK
