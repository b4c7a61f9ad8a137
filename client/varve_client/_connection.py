"""The parts of a connection: the address, the key and the HTTP client. Both clients share this module."""

import re
from collections.abc import Callable
from typing import Final, TypeVar

import httpx

from varve_client.errors import InvalidArgumentError

T = TypeVar("T")

_VISIBLE_ASCII: Final = re.compile(r"[\x21-\x7e]+")


def open_http(open_client: Callable[[], T]) -> T:
    """Opens an HTTP client.

    Raises:
        InvalidArgumentError: If the environment names a proxy or certificates that cannot be used.
    """
    try:
        return open_client()
    except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:
        raise InvalidArgumentError(
            f"the proxy or the certificates that the environment names (ALL_PROXY, HTTP_PROXY, HTTPS_PROXY, SSL_CERT_FILE) cannot be "
            f"used: {error}; correct the variable, or pass an own client as http"
        ) from error


def address_of(url: str) -> str:
    """The address of the service, without a slash at its end.

    Raises:
        InvalidArgumentError: If it is not one.
    """
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.fragment:
        raise InvalidArgumentError(f"{url!r} is not the address of a service, such as 'http://127.0.0.1:8080'")
    if parsed.path.rstrip("/").endswith("/v1"):
        raise InvalidArgumentError(
            f"{url!r} ends with /v1: pass the address of the service without it, the client adds the path of each request"
        )
    return url.rstrip("/")


def authorization_of(api_key: str) -> str:
    """The header for an API key. Blanks around it, such as the line feed of a file, are removed.

    Raises:
        InvalidArgumentError: If it is empty, or has a character that no key has. The error does not show the key.
    """
    key = api_key.strip() if isinstance(api_key, str) else ""
    if not key:
        raise InvalidArgumentError("api_key is empty: pass the tenant's key (`varve dev` writes one to .varve/dev.key)")
    if _VISIBLE_ASCII.fullmatch(key) is None:
        raise InvalidArgumentError("api_key has a character that no key has: pass the key itself, without a name or a comment")
    return f"Bearer {key}"
