"""Digests of files: of one file, and of several in their order."""

import hashlib
from pathlib import Path

import pytest

from runtime.file_digest import file_sha256, files_sha256


def test_a_file_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"abc")
    assert file_sha256(path) == hashlib.sha256(b"abc").hexdigest()


def test_the_order_and_the_bounds_of_files_count(tmp_path: Path) -> None:
    contents = {"one": b"ab", "two": b"c", "three": b"a", "four": b"bc"}
    paths = {name: tmp_path / name for name in contents}
    for name, content in contents.items():
        paths[name].write_bytes(content)
    digests = {files_sha256([paths[name] for name in names]) for names in (("one", "two"), ("two", "one"), ("three", "four"))}
    assert len(digests) == 3
    assert files_sha256([]) == hashlib.sha256().hexdigest()


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        file_sha256(tmp_path / "absent")
