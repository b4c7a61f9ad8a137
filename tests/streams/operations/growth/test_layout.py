"""Sets of topics: their names, and the successors of each partition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.keys import partition_of
from memory.topics import ALL
from runtime.settings import Settings
from streams.errors import GrowthRefusedError
from streams.operations.growth.layout import GROWN, Layout, default_prefix, new_layout, source_partitions, target_partitions


@given(st.binary(min_size=1, max_size=20), st.integers(1, 30), st.integers(1, 60))
def test_every_transition_of_a_key_is_covered(key: bytes, old: int, more: int) -> None:
    new = old + more
    before, after = partition_of(key, old), partition_of(key, new)
    assert after in target_partitions(before, old=old, new=new)
    assert before in source_partitions(after, old=old, new=new)


@pytest.mark.parametrize(("prefix", "expected"), [("varve.", "varve24."), ("varve6.", "varve24."), ("v-1.x", "v-1.x24.")])
def test_default_prefix_names_the_partitions(prefix: str, expected: str) -> None:
    assert default_prefix(prefix, 24) == expected


@pytest.mark.parametrize("partitions", [6, 5, 1])
def test_topics_never_shrink(partitions: int) -> None:
    with pytest.raises(GrowthRefusedError, match="can only grow"):
        new_layout(Layout("varve.", 6), partitions, None)


@pytest.mark.parametrize("prefix", ["varve.", "a b", ""])
def test_unusable_prefixes_are_refused(prefix: str) -> None:
    with pytest.raises(GrowthRefusedError, match="--prefix"):
        new_layout(Layout("varve.", 6), 24, prefix)


def test_control_log_belongs_to_all_sets() -> None:
    settings = Settings()
    grown = Layout("varve24.", 24).settings(settings)
    again = Layout("varve48.", 48).settings(grown)
    for each in ALL:
        expected = f"varve48.{each.name}" if each in GROWN else settings.topic(each.name)
        assert again.topic(each.name) == expected
