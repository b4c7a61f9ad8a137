"""Confirmation codes of ``forget``: proof that the caller has seen what it is about to remove."""

import hashlib
import hmac
from typing import Final

VALID_S: Final = 600
"""Lifetime of a code, in seconds."""
_DIGITS: Final = 16


def confirmation_code(api_key: str, *what: str, now: float) -> str:
    """The code that confirms an action. The service stores nothing: any process with the same caller can check it.

    Args:
        api_key: The caller's key, so that no other caller can use the code.
        what: The action and the state that the caller was shown. If the state changes, the code is invalid.
        now: The current time, in seconds since 1970.
    """
    issued = str(int(now))
    return f"{issued}-{_mac(api_key, issued, what)}"


def is_confirmed(code: str, api_key: str, *what: str, now: float) -> bool:
    """Whether a code confirms the action, and is not older than :data:`VALID_S`. The arguments are those of :func:`confirmation_code`."""
    issued, _, mac = code.partition("-")
    if not (issued.isascii() and issued.isdecimal() and len(issued) < _DIGITS and mac.isascii()):
        return False
    return 0 <= now - int(issued) <= VALID_S and hmac.compare_digest(mac, _mac(api_key, issued, what))


def _mac(api_key: str, issued: str, what: tuple[str, ...]) -> str:
    text = repr((issued, *what)).encode()  # unlike a joined text, unambiguous
    return hmac.new(api_key.encode("utf-8", "surrogatepass"), text, hashlib.sha256).hexdigest()[:_DIGITS]
