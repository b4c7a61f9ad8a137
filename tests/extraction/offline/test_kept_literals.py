"""Rules are prepared with literals of a file, and the file never changes what they find."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from extraction.offline.kept_literals import FILE, prepare_rules
from memory.texts.prefiltered_patterns import PrefilteredPattern, compiled

TEXT = "two quinces"


def new_pattern() -> PrefilteredPattern:
    """A pattern whose literals are not derived yet."""
    return compiled(r"\bquinces\b")


@pytest.fixture
def kept(tmp_path: Path) -> dict[str, Any]:
    """Content of the file whose literals no text has, so that a pattern with them matches nothing."""
    new_pattern()
    prepare_rules(tmp_path)
    content: dict[str, Any] = orjson.loads((tmp_path / FILE).read_bytes())
    return content | {"literals": {key: [["nowhere"]] for key in content["literals"]}}


def test_kept_literals_are_used(tmp_path: Path, kept: dict[str, Any]) -> None:
    (tmp_path / FILE).write_bytes(orjson.dumps(kept))
    pattern = new_pattern()
    prepare_rules(tmp_path)
    assert pattern.search(TEXT) is None


def test_literals_of_other_code_are_derived_again(tmp_path: Path, kept: dict[str, Any]) -> None:
    (tmp_path / FILE).write_bytes(orjson.dumps(kept | {"derived_by": "an earlier version"}))
    pattern = new_pattern()
    prepare_rules(tmp_path)
    assert pattern.search(TEXT)
    assert orjson.loads((tmp_path / FILE).read_bytes())["derived_by"] == kept["derived_by"]


@pytest.mark.parametrize("content", [b"", b"{", b'{"derived_by": 1}'])
def test_a_damaged_file_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    pattern = new_pattern()
    prepare_rules(tmp_path)
    assert pattern.search(TEXT)
    assert orjson.loads((tmp_path / FILE).read_bytes())["literals"]


def test_a_cache_that_cannot_be_written_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file in place of the folder")
    pattern = new_pattern()
    prepare_rules(tmp_path / "cache")
    assert pattern.search(TEXT)
