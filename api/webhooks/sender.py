"""Sends signed requests to receivers. It follows no redirect, reads no response body, and connects to public addresses only."""

import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import aiohttp

from api.webhooks.addresses import parse_url, require_public
from api.webhooks.errors import TargetRefusedError
from api.webhooks.lane import Failure
from api.webhooks.lookups import HostLookups
from api.webhooks.signing import SigningSecrets
from control.webhooks import Webhook
from runtime.clocks import Clock, SystemClock
from runtime.settings import WebhookSettings

_AGENT: Final = "Varve-Webhooks/1"
_GONE: Final = 410
_TOO_MANY: Final = 429
_UNAVAILABLE: Final = 503
_LONGEST_WAIT_S: Final = 86_400.0


class WebhookSender:
    """Sends deliveries.

    Args:
        session: The HTTP client (:func:`open_sender`).
        secrets: Signs.
        settings: Time-out, and whether private addresses are allowed.
        clock: The wall clock.
    """

    def __init__(self, *, session: aiohttp.ClientSession, secrets: SigningSecrets, settings: WebhookSettings, clock: Clock) -> None:
        self._session = session
        self._secrets = secrets
        self._settings = settings
        self._clock = clock

    async def send(self, tenant: str, webhook: Webhook, *, message_id: str, body: bytes) -> Failure | None:
        """Sends a body once.

        Args:
            tenant: The tenant.
            webhook: The receiver.
            message_id: The delivery's id.
            body: The body.

        Returns:
            None if the receiver accepted it, otherwise the failure.
        """
        now = self._clock.now()
        ids = [each.id for each in webhook.valid_secrets(now)]
        headers = self._secrets.headers(tenant, webhook.id, ids, message_id=message_id, now_s=int(now.timestamp()), body=body)
        try:
            parse_url(webhook.url, allow_private=self._settings.allow_private)
            async with self._session.post(webhook.url, data=body, headers=headers, allow_redirects=False) as response:
                return _failure_of(response.status, response.headers.get("Retry-After"), now)
        except TargetRefusedError as error:
            return Failure(str(error))
        except aiohttp.ClientConnectorError as error:
            return Failure(_connection_problem(error))
        except TimeoutError:
            return Failure(f"no answer within {self._settings.timeout_s:g} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # The text of some errors has parts of the response.
            return Failure(f"the request failed: {type(error).__name__}")


@asynccontextmanager
async def open_sender(
    secrets: SigningSecrets, settings: WebhookSettings, *, clock: Clock | None = None, resolver: aiohttp.abc.AbstractResolver | None = None
) -> AsyncIterator[WebhookSender]:
    """A sender for the length of a block.

    Args:
        secrets: Signs.
        settings: Time-out, and whether private addresses are allowed.
        clock: The wall clock. Default: the system's.
        resolver: Resolves host names. Default: in separate threads.
    """
    lookups = resolver or HostLookups()
    connector = aiohttp.TCPConnector(
        limit=0,
        use_dns_cache=False,
        resolver=lookups,
        socket_factory=_socket_factory(allow_private=settings.allow_private),
    )
    timeout = aiohttp.ClientTimeout(total=settings.timeout_s)
    async with aiohttp.ClientSession(
        connector=connector,
        timeout=timeout,
        trust_env=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        headers={"User-Agent": _AGENT, "Content-Type": "application/json", "Accept-Encoding": "identity"},
    ) as session:
        try:
            yield WebhookSender(session=session, secrets=secrets, settings=settings, clock=clock or SystemClock())
        finally:
            await lookups.close()


def _socket_factory(*, allow_private: bool) -> Callable[[Any], socket.socket]:
    """Creates the sockets of the HTTP client. It gets the very address that the client connects to."""

    def create(address: Any) -> socket.socket:
        family, kind, protocol, _, target = address
        if not allow_private:
            require_public(str(target[0]))
        return socket.socket(family=family, type=kind, proto=protocol)

    return create


def _connection_problem(error: aiohttp.ClientConnectorError) -> str:
    match error:
        case aiohttp.ClientConnectorCertificateError(certificate_error=ssl.SSLCertVerificationError(verify_message=reason)):
            return f"the receiver's certificate is refused: {reason}"
        case aiohttp.ClientSSLError():
            return "no TLS connection: does the receiver speak https?"
        case aiohttp.ClientConnectorDNSError():
            return "the host cannot be resolved"
        case _ if isinstance(error.os_error, TargetRefusedError):
            return str(error.os_error)
        case _:
            return "no connection"


def _failure_of(status: int, retry_after: str | None, now: datetime) -> Failure | None:
    if 200 <= status < 300:
        return None
    asked = _wait_s(retry_after, now) if status in (_TOO_MANY, _UNAVAILABLE) else None
    return Failure(f"status {status}", is_final=status == _GONE, retry_after_s=asked)


def _wait_s(retry_after: str | None, now: datetime) -> float | None:
    """Seconds that a ``Retry-After`` header asks for, at most a day; None if it is missing or unreadable."""
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdigit():
        return min(float(retry_after), _LONGEST_WAIT_S)
    try:
        moment = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()), _LONGEST_WAIT_S)
