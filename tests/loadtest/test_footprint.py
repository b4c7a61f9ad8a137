"""The disk usage of a data folder."""

from pathlib import Path

from loadtest.footprint import bytes_by_folder

BLOCK = 4096


def test_each_folder_counts_all_files_below_it(tmp_path: Path) -> None:
    (tmp_path / "kafka" / "messages-0").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "kafka" / "messages-0" / "log").write_bytes(b"x" * 10 * BLOCK)
    (tmp_path / "own").write_bytes(b"x")
    sizes = bytes_by_folder(tmp_path)
    assert sizes.keys() == {"kafka", "empty"}
    assert sizes["empty"] == 0
    assert 10 * BLOCK <= sizes["kafka"] < 20 * BLOCK
