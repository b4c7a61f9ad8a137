"""Tokens of an OpenID Connect provider: their signature is checked with the provider's public keys, their claims give the rights.

The provider's keys are read over HTTP and kept. A key that is not known causes one more read, so that a provider can rotate its keys at any
time; reads are at least :data:`LEAST_INTERVAL_S` apart, so that invalid tokens cannot cause many.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import httpx
import jwt
import orjson
from pydantic import TypeAdapter, ValidationError

from api.problems import RETRY_AFTER_S, ProblemError, unauthorized
from control.access_keys import SCOPES, Scope
from memory.records.message import Id
from runtime.logs import logger
from runtime.settings import OidcSettings

REMEMBERED: Final = 1024
"""Most tokens whose signatures are not checked again while they are used."""
LEAST_INTERVAL_S: Final = 10.0
"""Least time between two reads of the provider's keys, in seconds."""

_DISCOVERY: Final = "/.well-known/openid-configuration"
_MOST_BYTES: Final = 1 << 20
_ID: Final = TypeAdapter(Id)
_KEY_TYPES: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
"""The type of key (RFC 7517) that a signature algorithm needs, by the algorithm's first two letters."""
_REFUSALS: Final[tuple[tuple[type[jwt.PyJWTError], str], ...]] = (
    (jwt.ExpiredSignatureError, "the token has expired; request a new one"),
    (jwt.ImmatureSignatureError, "the token is not valid yet; check the clocks"),
    (jwt.InvalidAudienceError, "the token was issued for another service: its claim `aud` lacks this service's audience"),
    (jwt.InvalidIssuerError, "the token is of another issuer"),
    (jwt.InvalidSignatureError, "the token's signature is wrong"),
    (jwt.MissingRequiredClaimError, "the token lacks a required claim: exp, iss or aud"),
)

_log = logger(__name__)


class ProviderUnreachableError(Exception):
    """The provider did not answer with its keys. Contains the reason, for the log."""


@dataclass(frozen=True, slots=True)
class _Verified:
    """A token whose signature and claims were right."""

    key: jwt.PyJWK
    """The provider's key. After the next read of the keys there is another object for it."""
    claims: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Identity:
    """The rights that a token gives."""

    subject: str
    tenant: str
    user: str | None
    """The only user whose memories the token reaches. None: all users of the tenant."""
    scopes: tuple[Scope, ...]
    expires: datetime


class IdentityProvider:
    """Verifies tokens of one provider.

    Args:
        settings: The issuer, and the claims that give the rights. It must name an issuer.
        monotonic: Clock for the age of the keys, in seconds.
    """

    def __init__(self, *, settings: OidcSettings, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._http = httpx.AsyncClient(timeout=settings.timeout_s)
        self._monotonic = monotonic
        self._keys: Sequence[jwt.PyJWK] = ()
        self._read_at = float("-inf")
        self._tried_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None
        self._verified: dict[bytes, _Verified] = {}

    async def identify(self, token: str) -> Identity:
        """The rights of a token in its tenant.

        Raises:
            ProblemError: 401 if the token is invalid or does not name tenant and user, 503 if the provider's keys cannot be read.
        """
        claims = await self._verified_claims(token)
        tenant = self._settings.tenant or _name(claims, self._settings.tenant_claim)
        user = _name(claims, self._settings.user_claim) if self._settings.user_claim else None
        subject = claims.get("sub")
        return Identity(
            subject if isinstance(subject, str) else user or "?",
            tenant,
            user,
            self._scopes(claims),
            _end_of(claims),
        )

    async def close(self) -> None:
        """Ends a read of the keys, and closes the connection."""
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading
        await self._http.aclose()

    async def _verified_claims(self, token: str) -> Mapping[str, Any]:
        settings = self._settings
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise unauthorized("this is no valid token") from None
        algorithm = header.get("alg")
        if algorithm not in settings.algorithms:
            raise unauthorized("the token's signature algorithm is not accepted")
        key = await self._key(header.get("kid"), str(algorithm))
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        known = self._verified.pop(digest, None)
        # A call to /mcp, of the console or of a facade verifies its token more than once.
        if known is not None and known.key is key and time.time() < int(known.claims["exp"]) + settings.clock_skew_s:
            self._verified[digest] = known
            return known.claims
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key=key.key,
                algorithms=[str(algorithm)],
                audience=settings.audience,
                issuer=settings.issuer,
                leeway=settings.clock_skew_s,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, OverflowError) as error:
            detail = next((text for kind, text in _REFUSALS if isinstance(error, kind)), "the token is not valid")
            raise unauthorized(detail) from None
        self._verified[digest] = _Verified(key, claims)
        if len(self._verified) > REMEMBERED:
            del self._verified[next(iter(self._verified))]
        return claims

    async def _key(self, key_id: Any, algorithm: str) -> jwt.PyJWK:
        found = self._known_key(key_id, algorithm)
        age = self._monotonic() - self._read_at
        if found is not None and age <= self._settings.keys_max_age_s:
            if age > self._settings.keys_refresh_s:
                self._read_soon()
            return found
        if (reading := self._read_soon()) is not None:
            # Several requests wait for one read; one that is cancelled does not end it.
            await asyncio.shield(reading)
        if self._monotonic() - self._read_at > self._settings.keys_max_age_s:
            raise ProblemError(
                503, "unavailable", "the identity provider does not answer; try again", headers={"Retry-After": str(RETRY_AFTER_S)}
            )
        found = self._known_key(key_id, algorithm)
        if found is None:
            raise unauthorized("the identity provider has no key with which this token could be checked")
        return found

    def _known_key(self, key_id: Any, algorithm: str) -> jwt.PyJWK | None:
        """The key with an id; of a provider with a single key also without an id."""
        fits = [key for key in self._keys if key.public_key_use in (None, "sig") and key.key_type == _KEY_TYPES[algorithm[:2]]]
        if key_id is None:
            return fits[0] if len(fits) == 1 else None
        return next((key for key in fits if key.key_id == key_id), None)

    def _read_soon(self) -> "asyncio.Task[None] | None":
        """The read in progress, or a new one; None if the last one was too recent."""
        if self._reading is None or self._reading.done():
            if self._monotonic() - self._tried_at < LEAST_INTERVAL_S:
                return None
            self._tried_at = self._monotonic()
            self._reading = asyncio.create_task(self._read())
        return self._reading

    async def _read(self) -> None:
        try:
            address = self._settings.jwks_url or await self._discovered_address()
            keys = jwt.PyJWKSet.from_dict(await self._get(address)).keys
        except (ProviderUnreachableError, jwt.PyJWTError) as error:
            _log.warning("identity_provider_unavailable", issuer=self._settings.issuer, error=str(error))
            return
        self._keys, self._read_at = keys, self._monotonic()

    async def _discovered_address(self) -> str:
        issuer = self._settings.issuer or ""
        document = await self._get(issuer.rstrip("/") + _DISCOVERY)
        if document.get("issuer") != issuer:
            raise ProviderUnreachableError(
                f"its configuration names another issuer, {document.get('issuer')!r}; correct VARVE_OIDC__ISSUER"
            )
        address = document.get("jwks_uri")
        if not isinstance(address, str):
            raise ProviderUnreachableError("its configuration has no jwks_uri; set VARVE_OIDC__JWKS_URL")
        return address

    async def _get(self, address: str) -> dict[str, Any]:
        try:
            async with self._http.stream("GET", address, headers={"Accept": "application/json"}) as response:
                response.raise_for_status()
                body = b""
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > _MOST_BYTES:
                        raise ProviderUnreachableError(f"{address} answers with more than {_MOST_BYTES} bytes")
            document = orjson.loads(body)
        except (httpx.HTTPError, httpx.InvalidURL, orjson.JSONDecodeError) as error:
            raise ProviderUnreachableError(f"{address}: {error!r}") from error
        if not isinstance(document, dict):
            raise ProviderUnreachableError(f"{address} does not answer with a JSON object")
        return document

    def _scopes(self, claims: Mapping[str, Any]) -> tuple[Scope, ...]:
        value = _claim(claims, self._settings.scopes_claim)
        names = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
        prefix = self._settings.scope_prefix
        return tuple(scope for scope in SCOPES if f"{prefix}{scope}" in names)


def _end_of(claims: Mapping[str, Any]) -> datetime:
    try:
        return datetime.fromtimestamp(int(claims["exp"]), UTC)
    except (ValueError, OverflowError, OSError):
        raise unauthorized("the token's claim `exp` is no time") from None


def _claim(claims: Mapping[str, Any], path: str) -> Any:
    """A claim by its name, or by a JSON pointer (RFC 6901)."""
    if not path.startswith("/"):
        return claims.get(path)
    value: Any = claims
    for part in path[1:].split("/"):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part.replace("~1", "/").replace("~0", "~"))
    return value


def _name(claims: Mapping[str, Any], path: str) -> str:
    try:
        return _ID.validate_python(_claim(claims, path), strict=True)
    except ValidationError:
        raise unauthorized(
            f"the token's claim {path!r} must be an id: a text of 1 to 256 characters, without control characters and not only spaces"
        ) from None
