"""Keys: one way to write them, one way to read them, and Kafka's own way to place them."""

from typing import Literal
from unicodedata import normalize

import pytest
from aiokafka.partitioner import DefaultPartitioner
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import KeyFormatError
from memory.keys import (
    LONGEST_KEY_PART,
    decode_key,
    distinct_key,
    encode_key,
    entity_key,
    entity_key_parts,
    key_part,
    marked_key,
    partition_of,
    parts_of_key,
    tenant_of_key,
    unmarked_key,
)

PART = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
PARTS = st.lists(PART, min_size=1, max_size=5)


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
    assert encode_key(*parts) == unmarked_key(raw)


@given(PARTS, PART, PART)
def test_marks_distinguish_records_of_one_key(parts: list[str], one: str, other: str) -> None:
    key = encode_key(*parts)
    marked = marked_key(key, one)
    assert unmarked_key(marked) == unmarked_key(key) == key
    assert (marked == marked_key(key, other)) == (one == other)
    assert marked != key


@given(PARTS, PART)
def test_a_marked_keys_parts_are_read_without_its_mark(parts: list[str], mark: str) -> None:
    assert decode_key(marked_key(encode_key(*parts), mark)) == tuple(parts)


@given(PARTS, PART, st.integers(1, 64))
def test_a_mark_moves_no_record_to_another_partition(parts: list[str], mark: str, partitions: int) -> None:
    key = encode_key(*parts)
    assert partition_of(marked_key(key, mark), partitions) == partition_of(key, partitions)


@given(PARTS)
def test_distinct_keys_differ_only_by_their_marks(parts: list[str]) -> None:
    one, other = distinct_key(*parts), distinct_key(*parts)
    assert one != other
    assert unmarked_key(one) == unmarked_key(other) == encode_key(*parts)
    assert decode_key(one) == decode_key(other) == tuple(parts)


@pytest.mark.parametrize("mark", ["", "\ud800"])
def test_a_mark_that_no_key_can_have_is_refused(mark: str) -> None:
    with pytest.raises(KeyFormatError):
        marked_key(b"acme/ann", mark)


def test_no_part_of_a_key_forges_a_mark() -> None:
    assert marked_key(encode_key("acme", "ann#1"), "2#3") == b"acme/ann%231#2%233"
    assert unmarked_key(encode_key("acme", "ann#1")) == b"acme/ann%231"


@pytest.mark.parametrize("raw", [b"", b"a//b", b"/a", b"a b", b"%2", b"%ff", b"\xff", b"a%2fb", b"#1", b"a/#1"])
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
    """The part after a mark does not count: Kafka's clients get the key without it."""
    everywhere = list(range(partitions))
    assert partition_of(key, partitions) == DefaultPartitioner()(unmarked_key(key), everywhere, everywhere)


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


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.sampled_from(["NFC", "NFD"]))
def test_either_spelling_of_a_value_is_one_part(value: str, form: Literal["NFC", "NFD"]) -> None:
    part = key_part(value)
    assert key_part(normalize(form, value)) == part
    assert part is None or key_part(part) == part


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_a_number_is_one_part_of_either_type(number: int) -> None:
    assert key_part(float(number)) == key_part(number) == str(number)


@pytest.mark.parametrize(("value", "part"), [(2.0**53, "9007199254740992.0"), (1e300, "1e+300"), (-0.0, "0"), (0.5, "0.5")])
def test_a_fractional_number_is_unchanged(value: float, part: str) -> None:
    assert key_part(value) == part


@pytest.mark.parametrize("value", ["", " \n", None, ["a"], {"a": 1}, "x" * (LONGEST_KEY_PART + 1)])
def test_an_invalid_key_part_is_refused_not_cut(value: object) -> None:
    assert key_part(value) is None


def test_a_key_of_another_format_has_no_parts() -> None:
    assert parts_of_key(b"acme/ann#6b1f") == ("acme", "ann")
    assert parts_of_key(None) == parts_of_key(b"a b") == ()
    assert (tenant_of_key(b"acme/ann"), tenant_of_key(b"a b")) == ("acme", "")
