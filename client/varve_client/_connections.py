"""The address, the key and the HTTP clients with which a client connects. Both clients share this module.

Connections belong to the process and to the event loop that opened them.
"""

import asyncio
import os
import re
from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeVar

import httpx

from varve_client.errors import InvalidArgumentError, UnusableClientError

_VISIBLE_ASCII: Final = re.compile(r"[\x21-\x7e]+")


class _Http(Protocol):
    @property
    def is_closed(self) -> bool: ...


H = TypeVar("H", bound=_Http)


class Connections(Generic[H]):
    """One HTTP client per event loop, another one after a fork.

    Two processes that read from one connection would get each other's responses, and with them memories of other users.

    Args:
        given: The caller's client, which is used everywhere and never closed. Default: none.
        open_client: Opens a client.

    Raises:
        InvalidArgumentError: If the environment names a proxy or certificates that cannot be used.
    """

    def __init__(self, given: H | None, open_client: Callable[[], H]) -> None:
        self._given = given
        self._open = open_client
        self._process = os.getpid()
        self._is_closed = False
        self._unused = None if given is not None else open_http(open_client)
        self._of: dict[object, H] = {}

    def of(self, owner: object) -> H:
        """The HTTP client of an owner.

        Args:
            owner: The event loop; without one, the client itself.

        Raises:
            UnusableClientError: If the client is closed, or the caller's HTTP client is that of another process.
        """
        if self._is_closed or (self._given is not None and self._given.is_closed):
            raise UnusableClientError("this client is closed: create a new one")
        self._leave_other_process()
        if self._given is not None:
            return self._given
        if owner not in self._of:
            unused, self._unused = self._unused, None
            going_on = {each: http for each, http in self._of.items() if not _has_ended(each)}
            self._of = going_on | {owner: unused or open_http(self._open)}
        return self._of[owner]

    def close(self, owner: object) -> H | None:
        """Ends the use of the connections.

        Returns:
            The client of the owner, which has to be closed. Those of other event loops cannot be closed here, and end with their loops.
        """
        self._is_closed = True
        unused, self._unused = self._unused, None
        return self._of.pop(owner, unused) if self._process == os.getpid() else None

    def _leave_other_process(self) -> None:
        process = os.getpid()
        if process == self._process:
            return
        if self._given is not None:
            raise UnusableClientError(
                "the HTTP client was given before this process was forked, and would mix up the responses: give each process its own"
            )
        self._process, self._unused, self._of = process, None, {}


def _has_ended(owner: object) -> bool:
    return isinstance(owner, asyncio.AbstractEventLoop) and owner.is_closed()


def open_http(open_client: Callable[[], H]) -> H:
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


def require_timeout(timeout_s: float) -> None:
    """Checks the timeout of an attempt.

    Raises:
        InvalidArgumentError: If no attempt could succeed with it.
    """
    if not timeout_s > 0:
        raise InvalidArgumentError(f"timeout_s must be more than 0 seconds, not {timeout_s!r}")


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
