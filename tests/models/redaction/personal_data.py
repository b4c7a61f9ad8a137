"""Invented personal data with valid check digits, by kind."""

from typing import Final

from memory.redaction import RedactedKind, RedactionPolicy

CORPUS: Final[dict[RedactedKind, tuple[str, ...]]] = {
    "email": ("ann.lee+news@mail.example.org", "bob_1@example.co.uk", "ÅSE@example.no"),
    "phone": ("+47 22 12 34 56", "+44 20 7946 0958", "+1 (650) 253-0000", "+4930123456"),
    "iban": ("DE89 3704 0044 0532 0130 00", "NO9386011117947", "gb29nwbk60161331926819"),
    "card": ("4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005"),
    "ip": ("192.168.1.17", "2001:db8::1", "fe80::1ff:fe23:4567:890a"),
    "national_id": ("536-90-4399", "44051401359", "15108695088", "12345678Z"),
}
EVERY: Final = RedactionPolicy(kinds=tuple(CORPUS))
PLAIN: Final = (
    "I moved to Oslo on 2024-05-06 at 10:30.",
    "Version 1.2.3 costs 1,200.50 kroner.",
    "We are 3 people; 12 eggs, 500 g of flour.",
    "See chapter 4.1.2 [and note 7], e.g. @ann or #42.",
    "Ring me at five, room 2041.",
)
"""Texts without personal data of these forms."""
