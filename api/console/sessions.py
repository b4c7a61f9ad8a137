"""Sessions of the console: the cookie of a browser takes the place of the ``Authorization`` header.

A session refers to an API key by its SHA-256, so that neither the cookie nor Redis contains the key, and a revoked key ends it at once. A
token of an identity provider is short-lived and already has an end: it is the value of the cookie itself, and is verified at each request.

Other sites cannot use a session: the cookie is ``SameSite=Strict``, and requests that may change something have to send a token that only
the pages of this service can read.
"""

import base64
import hashlib
import hmac
import math
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from api.auth.caller import KeyHash, is_token
from api.problems import ProblemError, unauthorized
from runtime.clocks import Clock
from runtime.metrics import Metrics
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.redis.rate_limits import Demand, Rate, RateLimiter

CSRF_HEADER: Final = "X-CSRF-Token"

_COOKIE: Final = "varve_console"
_HOST_COOKIE: Final = f"__Host-{_COOKIE}"
"""Over TLS. No other host, such as one of the same domain, can set a cookie of this name."""
_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_CSRF: Final = b"varve console: csrf token"
_SIGN_INS: Final = Rate(name="sign-ins", per_second=0.5, burst_s=60)
"""Attempts to sign in from one address with a token or an unknown key. Nobody can guess a key; the limit protects the log and the identity
provider."""
_MAX_COOKIE: Final = 3800
"""Browsers keep cookies of 4,096 bytes with name and attributes."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session of the console."""

    value: str
    """The value of the cookie: a secret."""
    credential: str | KeyHash
    """The token, or the key that the session refers to."""

    @property
    def csrf_token(self) -> str:
        """The token that requests with side effects have to send. The cookie cannot be derived from it."""
        digest = hmac.digest(self.value.encode("utf-8"), _CSRF, "sha256")
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


class ConsoleSessions:
    """Begins, finds and ends sessions, in Redis: any process of the service can answer any request, also after a restart.

    Args:
        redis: Holds the digests of the sessions' ids.
        lifetime_s: Lifetime of a session, in seconds.
        clock: The time.
        metrics: Counts the checks of the limit of sign-ins.
    """

    def __init__(self, *, redis: GuardedRedis, lifetime_s: float, clock: Clock, metrics: Metrics) -> None:
        self._redis = redis
        self._limiter = RateLimiter(redis=redis, purpose=KeyFamily.SIGN_INS, metrics=metrics)
        self._lifetime = timedelta(seconds=lifetime_s)
        self._clock = clock

    @property
    def ends_at(self) -> datetime:
        """The end of a session that begins now."""
        return self._clock.now() + self._lifetime

    async def admit_attempt(self, connection: HTTPConnection) -> None:
        """Admits an attempt to sign in, by the address that it comes from.

        Raises:
            ProblemError: 429 after too many attempts.
        """
        address = connection.client.host if connection.client else ""
        async with self._limiter.admit(address, [Demand(rate=_SIGN_INS, amount=1)]) as verdict:
            if not verdict.is_admitted:
                wait_s = math.ceil(verdict.wait_s)
                raise ProblemError(
                    429, "too-many-sign-ins", f"too many sign-ins; try again in {wait_s} s", headers={"Retry-After": str(wait_s)}
                )

    async def begin_for_key(self, key: KeyHash) -> Session:
        """Begins a session of an API key or an operator's key.

        Raises:
            RedisUnavailableError: If Redis is unavailable.
        """
        session = Session(secrets.token_urlsafe(32), key)
        lifetime_ms = int(self._lifetime.total_seconds() * 1000)
        await self._redis.run(
            "beginning a session of the console", lambda client: client.set(self._key(session.value), key.value, px=lifetime_ms)
        )
        return session

    @staticmethod
    def begin_for_token(token: str) -> Session:
        """Begins a session of a verified token. It ends with the token.

        Raises:
            ProblemError: 422 if the token is too long for a cookie.
        """
        if len(token) > _MAX_COOKIE:
            raise ProblemError(422, "invalid", f"api_key: a token for the console may have {_MAX_COOKIE} characters; give it fewer claims")
        return Session(token, token)

    async def find(self, connection: HTTPConnection) -> Session | None:
        """The session of a request's cookie. None: it has no cookie, or its session has ended. A token is not verified here.

        Raises:
            RedisUnavailableError: If Redis is unavailable.
        """
        value = connection.cookies.get(_cookie_name(connection))
        if not value:
            return None
        if is_token(value):
            return Session(value, value)
        key = self._key(value)
        stored = await self._redis.read("reading a session of the console", key)
        return None if stored is None else Session(value, KeyHash(stored.decode("ascii")))

    async def ends_in(self, session: Session) -> timedelta | None:
        """The time until a key's session ends. None: it has ended, or is a token's.

        Raises:
            RedisUnavailableError: If Redis is unavailable.
        """
        left_ms = await self._redis.run("reading the end of a session", lambda client: client.pttl(self._key(session.value)))
        return timedelta(milliseconds=left_ms) if left_ms > 0 else None

    async def end(self, session: Session) -> None:
        """Ends a key's session.

        Raises:
            RedisUnavailableError: If Redis is unavailable.
        """
        await self._redis.unlink("ending a session of the console", [self._key(session.value)])

    async def credential_of(self, request: Request) -> str | KeyHash | None:
        """The credential of a request that has no other. None: it has no cookie of the console either.

        Raises:
            ProblemError: 401 if the session has ended, 403 if a request that may change something lacks the token against forgery.
            RedisUnavailableError: If Redis is unavailable.
        """
        if "authorization" in request.headers or _cookie_name(request) not in request.cookies:
            return None
        session = await self.find(request)
        if session is None:
            raise unauthorized("the session of the console has ended; sign in again")
        require_csrf_token(request, session)
        return session.credential

    def _key(self, value: str) -> str:
        return self._redis.key(KeyFamily.SIGNED_IN, hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest())


def require_csrf_token(request: Request, session: Session) -> None:
    """Rejects a request that may change something, if it does not come from the console's pages.

    Also one that only reads, if it has the token of another session: all tabs of a browser share the cookie, and a page of one key would
    show what another key may see.

    Raises:
        ProblemError: 403.
    """
    if request.method in _SAFE_METHODS and CSRF_HEADER not in request.headers:
        return
    sent = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), session.csrf_token.encode("ascii")):
        raise ProblemError(403, "csrf", f"send the csrf_token of GET /console/session in the header {CSRF_HEADER}")


def set_cookie(response: Response, connection: HTTPConnection, value: str, *, max_age_s: int) -> None:
    """Gives the session to the browser; an empty value with age 0 removes it."""
    response.set_cookie(
        _cookie_name(connection), value, max_age=max_age_s, path="/", secure=is_tls(connection), httponly=True, samesite="strict"
    )


def is_tls(connection: HTTPConnection) -> bool:
    """Whether the browser reached the service over TLS, which usually ends at a proxy.

    A forged ``X-Forwarded-Proto`` only makes the cookie stricter for the one who sends it.
    """
    forwarded = connection.headers.get("x-forwarded-proto", "").split(",")[0].strip().lower()
    return connection.url.scheme == "https" or forwarded == "https"


def _cookie_name(connection: HTTPConnection) -> str:
    return _HOST_COOKIE if is_tls(connection) else _COOKIE
