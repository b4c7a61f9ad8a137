"""Varve's seal is valid for the unchanged record only."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.headers import KIND, ORIGIN
from memory.signatures import SIGNATURE
from runtime.kafka import OutgoingRecord
from runtime.seals import SEAL, Keyring, Seal, is_reserved, without_reserved
from runtime.tracing import PRODUCED_AT, TRACEPARENT, Headers

KEYRING = Keyring(["s" * 32])
RECORD = OutgoingRecord("varve.messages", b"acme/s", b"value", ((KIND, b"command"), (TRACEPARENT, b"t")), 3)
NAMES = st.sampled_from([KIND, ORIGIN, "varve-later", TRACEPARENT, PRODUCED_AT, SIGNATURE, "mine"])
HEADERS = st.lists(st.tuples(NAMES, st.binary(max_size=4)), max_size=4).map(tuple)
RECORDS = st.builds(
    OutgoingRecord,
    st.just("varve.messages"),
    st.binary(max_size=4),
    st.binary(max_size=4),
    HEADERS,
    st.none() | st.integers(0, 3),
)


def read(record: OutgoingRecord, keyring: Keyring = KEYRING, *, partition: int = 3) -> Seal | None:
    return keyring.read_seal(key=record.key, value=record.value, headers=record.headers, partition=partition)


def reserved(headers: Headers) -> Headers:
    return tuple(header for header in headers if is_reserved(header[0]) and header[0] != SEAL)


@given(record=RECORDS, other=RECORDS)
def test_a_seal_moves_to_no_other_record(record: OutgoingRecord, other: OutgoingRecord) -> None:
    sealed = KEYRING.sealed(record, now_ms=7)
    assert read(sealed, partition=record.partition or 0) == Seal("own", 7)
    moved = replace(other, headers=(*other.headers, sealed.headers[-1]))
    is_the_same = (record.key, record.value, reserved(record.headers)) == (other.key, other.value, reserved(other.headers))
    assert (read(moved, partition=record.partition or 0) is not None) == is_the_same


def test_a_seal_is_valid_only_for_its_partition() -> None:
    sealed = KEYRING.sealed(RECORD, now_ms=7)
    assert read(sealed, partition=3) is not None
    assert read(sealed, partition=2) is None
    anywhere = KEYRING.sealed(replace(RECORD, partition=None), now_ms=7)
    assert read(anywhere, partition=2) is not None


@pytest.mark.parametrize(("old", "new"), [(b"own", b"redriven"), (b":7:", b":8:"), (b":3:", b":-:"), (b"v1", b"v2")])
def test_no_word_of_a_seal_can_be_changed(old: bytes, new: bytes) -> None:
    sealed = KEYRING.sealed(RECORD, now_ms=7)
    name, seal = sealed.headers[-1]
    changed = replace(sealed, headers=(*sealed.headers[:-1], (name, seal.replace(old, new, 1))))
    assert seal.replace(old, new, 1) != seal
    assert read(changed) is None


def test_two_seals_are_none() -> None:
    sealed = KEYRING.sealed(RECORD, now_ms=7)
    assert read(replace(sealed, headers=(*sealed.headers, sealed.headers[-1]))) is None
    assert read(replace(sealed, headers=(*RECORD.headers, (SEAL, b"")))) is None
    assert KEYRING.sealed(sealed, now_ms=7) == sealed, "a new seal takes the place of the old one"


def test_a_replaced_master_secret_still_reads_its_seals() -> None:
    sealed = KEYRING.sealed(RECORD, now_ms=7)
    assert read(sealed, Keyring(["n" * 32])) is None
    assert read(sealed, Keyring(["n" * 32, "s" * 32])) == Seal("own", 7)


def test_keys_differ_by_tenant_and_by_id() -> None:
    keys = {KEYRING.message_key(tenant, key_id) for tenant in ("acme", "globex") for key_id in ("k1", "k2")}
    assert len(keys) == 4
    assert {len(key) for key in keys} == {32}


def test_only_headers_for_applications_are_not_reserved() -> None:
    names = [KIND, ORIGIN, SEAL, "varve-forwarded", "varve-dlq-stage", "varve-anything", SIGNATURE, PRODUCED_AT, TRACEPARENT, "mine"]
    kept = without_reserved(tuple((name, b"") for name in names))
    assert [name for name, _ in kept] == [SIGNATURE, PRODUCED_AT, TRACEPARENT, "mine"]
