"""Message signatures, compared with values that OpenSSL has computed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.signatures import SIGNATURE, Signature, derive_key, sign
from tests.signing_vectors import KEY, VECTORS, Vector

MAY_DIFFER = st.binary(max_size=40)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.key_id)
def test_a_signature_is_the_one_openssl_computes(vector: Vector) -> None:
    assert sign(vector.value, key_id=vector.key_id, key=KEY, now_ms=vector.now_ms) == (SIGNATURE, vector.header)


def test_a_derived_key_is_the_one_openssl_computes() -> None:
    # openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt key:master -kdfopt salt:varve -kdfopt info:7:message2:v14:acme2:k1 HKDF
    expected = "2651e435f35c168b66c40bb242799c0c5de821ca1d94279971b2a55022ea1d9d"
    assert derive_key(b"master", "message", "v1", "acme", "k1").hex() == expected


def test_purposes_that_join_to_one_text_differ() -> None:
    assert derive_key(b"master", "ab", "c") != derive_key(b"master", "a", "bc")


@given(
    value=MAY_DIFFER,
    other=MAY_DIFFER,
    key=MAY_DIFFER,
    other_key=MAY_DIFFER,
    at=st.integers(0, 10**15 - 1),
    later=st.integers(0, 10**15 - 1),
)
def test_a_signature_is_valid_only_for_its_value(value: bytes, other: bytes, key: bytes, other_key: bytes, at: int, later: int) -> None:
    signature = Signature.parse(sign(value, key_id="k", key=key, now_ms=at)[1])
    assert signature is not None
    assert (signature.key_id, signature.signed_ms) == ("k", at)
    assert signature.is_right(value, key)
    assert signature.is_right(other, key) == (other == value)
    # HMAC fills a short key with zeros.
    assert signature.is_right(value, other_key) == (other_key.ljust(40, b"\0") == key.ljust(40, b"\0"))
    assert Signature("k", later, signature.code).is_right(value, key) == (later == at)
    assert not Signature("other", at, signature.code).is_right(value, key)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"v1:k:1",
        b"v2:k:1:" + b"0" * 64,
        b"v1::1:" + b"0" * 64,
        b"v1:k k:1:" + b"0" * 64,
        b"v1:k:-1:" + b"0" * 64,
        b"v1:k:" + b"9" * 16 + b":" + b"0" * 64,
        b"v1:k:1:" + b"A" * 64,
        b"v1:k:1:" + b"0" * 64 + b"\n",
        b"v1:" + b"k" * 65 + b":1:" + b"0" * 64,
    ],
)
def test_another_form_is_no_signature(header: bytes) -> None:
    assert Signature.parse(header) is None
