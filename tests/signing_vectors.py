"""Signed messages with the codes that ``openssl dgst -sha256 -mac HMAC`` computes for them."""

from typing import NamedTuple


class Vector(NamedTuple):
    """One signed value."""

    key_id: str
    now_ms: int
    value: bytes
    code: str

    @property
    def header(self) -> bytes:
        """The value of the header."""
        return f"v1:{self.key_id}:{self.now_ms}:{self.code}".encode()


KEY = bytes(range(32))
VECTORS = [
    Vector(
        "2026-11",
        1_795_348_800_000,
        '{"tenant":"acme","user":"ada","session":"s1","id":"m1","text":"I moved to Zürich.","event_time":"2026-11-22T12:00:00Z"}'.encode(),
        "8b0ef4b211398d33e0a6e7a5626933708f89d1334511c00454c41f49601e9245",
    ),
    Vector("k", 0, b"", "6bd1249e18277b582f5cfa6821dce36404015df6a022d80188d166aa0376857b"),
    Vector("a.b-c_9", 999_999_999_999_999, bytes(range(256)), "8636220540f70a36ff97b112b9e7c05f6bc9e4382436bdcfd6b935350e211aec"),
]
