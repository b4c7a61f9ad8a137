"""Keys: one way to write them, one way to read them, and Kafka's own way to place them."""

import pytest
from aiokafka.partitioner import DefaultPartitioner
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import KeyFormatError
from memory.keys import LONGEST_KEY_PART, decode_key, encode_key, entity_key, entity_key_parts, key_part, partition_of

PARTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20), min_size=1, max_size=5)


@given(PARTS)
def test_a_key_is_read_as_it_was_written(parts: list[str]) -> None:
    assert decode_key(encode_key(*parts)) == tuple(parts)
    assert entity_key_parts(entity_key(*parts)) == tuple(parts)


@given(PARTS, PARTS)
def test_different_parts_give_different_keys(one: list[str], other: list[str]) -> None:
    assert (encode_key(*one) == encode_key(*other)) == (one == other)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    try:
        parts = decode_key(raw)
    except KeyFormatError:
        return
    assert encode_key(*parts) == raw


@pytest.mark.parametrize("raw", [b"", b"a//b", b"/a", b"a b", b"%2", b"%ff", b"\xff", b"a%2fb"])
def test_bytes_that_no_key_has_are_refused(raw: bytes) -> None:
    with pytest.raises(KeyFormatError):
        decode_key(raw)


@pytest.mark.parametrize("parts", [(), ("",), ("a", ""), ("\ud800",)])
def test_parts_that_no_key_can_have_are_refused(parts: tuple[str, ...]) -> None:
    with pytest.raises(KeyFormatError):
        encode_key(*parts)


def test_an_entity_key_that_is_not_ascii_is_refused() -> None:
    with pytest.raises(KeyFormatError):
        entity_key_parts("zoë")


@given(st.binary(max_size=200), st.integers(1, 64))
def test_the_partition_is_the_one_of_kafkas_clients(key: bytes, partitions: int) -> None:
    everywhere = list(range(partitions))
    assert partition_of(key, partitions) == DefaultPartitioner()(key, everywhere, everywhere)


def test_the_partition_is_the_one_of_the_java_client() -> None:
    known = {b"21": -973932308, b"foobar": -790332482, b"a-little-bit-long-string": -985981536, b"abc": 479470107}
    for key, murmur2 in known.items():
        assert partition_of(key, 1000) == (murmur2 & 0x7FFFFFFF) % 1000


@pytest.mark.parametrize(
    ("value", "part"),
    [(" linear\n algebra ", "linear algebra"), (7, "7"), (1.5, "1.5"), (True, "true"), ("x" * LONGEST_KEY_PART, "x" * LONGEST_KEY_PART)],
)
def test_a_value_becomes_a_part_of_an_entity_key(value: object, part: str) -> None:
    assert key_part(value) == part


@pytest.mark.parametrize("value", ["", " \n", None, ["a"], {"a": 1}, "x" * (LONGEST_KEY_PART + 1)])
def test_an_invalid_key_part_is_refused_not_cut(value: object) -> None:
    assert key_part(value) is None
