"""The disk usage of files."""

from pathlib import Path

from stores.edge.folder import bytes_on_disk

BLOCK = 4096


def test_all_files_below_a_folder_count(tmp_path: Path) -> None:
    (tmp_path / "one" / "two").mkdir(parents=True)
    (tmp_path / "one" / "two" / "deep").write_bytes(b"x" * 10 * BLOCK)
    (tmp_path / "shallow").write_bytes(b"x" * 10 * BLOCK)
    assert 20 * BLOCK <= bytes_on_disk(tmp_path) < 40 * BLOCK


def test_missing_and_empty_folders_use_no_space(tmp_path: Path) -> None:
    (tmp_path / "gone").symlink_to(tmp_path / "removed")
    assert bytes_on_disk(tmp_path) == 0
    assert bytes_on_disk(tmp_path / "none") == 0
