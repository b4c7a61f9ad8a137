"""The curve on a real Edge owner: the store grows from size to size, and each line has all its figures."""

import tempfile
from pathlib import Path

import pytest

from benchmarks.recall import curve


@pytest.mark.integration
async def test_a_store_grows_to_each_size() -> None:
    with tempfile.TemporaryDirectory(prefix="varve-") as folder:
        lines = await curve(Path(folder), [600, 200], queries=8, plain=False)
    assert [line["points"] for line in lines] == [200, 600]
    assert all(value > 0 for line in lines for value in line.values())
    assert all(line["bytes_per_memory"] > 2 * 384 for line in lines)
