"""Checks of a webhook's URL and addresses: a tenant must not reach the network of the service.

A host's addresses may change after the check of its URL, so the sender checks again the address that it connects to.
"""

import asyncio
import ipaddress
import socket
from typing import Final
from urllib.parse import SplitResult, urlsplit

from api.webhooks.errors import TargetRefusedError

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_UNICAST: Final = ipaddress.ip_network("2000::/3")
"""The only IPv6 addresses that IANA has given out. All that embed a private IPv4 address are outside, except those of 6to4."""
_SPECIAL: Final = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2002::/16", "3fff::/20")))
"""Of protocols, 6to4 and documentation, which Python takes for global."""
_METADATA: Final = frozenset({ipaddress.ip_address("168.63.129.16")})
"""Azure's platform address is not private. Other metadata addresses are link-local, shared (100.64.0.0/10) or unique local."""
_LOWEST_PORT: Final = 1
_LONGEST_LABEL: Final = 63
_DEVELOPMENT: Final = " (for development: VARVE_WEBHOOKS__ALLOW_PRIVATE=true in every process)"
_RESOLVE_S: Final = 10.0


def parse_url(url: str, *, allow_private: bool) -> SplitResult:
    """Parses a webhook's URL.

    Args:
        url: The URL.
        allow_private: Whether ``http`` is allowed.

    Raises:
        TargetRefusedError: If it is not an ``https`` URL with a host, or contains a user, a password or a fragment.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise TargetRefusedError(f"the webhook's URL is invalid: {error}") from error
    schemes = ("https", "http") if allow_private else ("https",)
    if parts.scheme not in schemes or not parts.hostname:
        begins = " or ".join(f"{each}://" for each in schemes)
        raise TargetRefusedError(f"a webhook's URL begins with {begins} and a host{'' if allow_private else _DEVELOPMENT}")
    if "@" in parts.netloc or "#" in url:
        raise TargetRefusedError("a webhook's URL contains no user, no password and no fragment; deliveries are signed instead")
    if any(character.isspace() or not character.isprintable() for character in url) or "\\" in url:
        raise TargetRefusedError("a webhook's URL contains no white space, control character or backslash")
    if port is not None and port < _LOWEST_PORT:
        raise TargetRefusedError("a webhook's URL has no port 0")
    if not all(0 < len(label) <= _LONGEST_LABEL for label in parts.hostname.removesuffix(".").split(".")):
        raise TargetRefusedError(f"the parts of a webhook's host have 1 to {_LONGEST_LABEL} characters: {parts.hostname[:80]!r}")
    return parts


def require_public(address: str) -> None:
    """Returns if an address is public.

    Args:
        address: An IPv4 or IPv6 address, possibly with a zone.

    Raises:
        TargetRefusedError: If it is a loopback, link-local, private, shared, multicast, reserved, translated or metadata address.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError as error:
        raise TargetRefusedError(f"{address!r} is not an IP address") from error
    if not _is_public(parsed):
        raise TargetRefusedError(f"the address {address} is not public")


async def require_public_host(parts: SplitResult) -> None:
    """Resolves the host of a URL and checks all of its addresses.

    Raises:
        TargetRefusedError: If it cannot be resolved, or has an address that is not public.
    """
    host = parts.hostname or ""
    try:
        async with asyncio.timeout(_RESOLVE_S):
            found = await asyncio.get_running_loop().getaddrinfo(host, parts.port or 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError) as error:
        raise TargetRefusedError(f"the host {host!r} of the webhook's URL cannot be resolved: {error}") from error
    for *_, address in found:
        require_public(str(address[0]))


def _is_public(address: _Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address not in _UNICAST:
        return False
    is_special = address in _METADATA or any(address in each for each in _SPECIAL)
    return address.is_global and not (is_special or address.is_multicast or address.is_reserved)
