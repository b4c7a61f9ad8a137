"""Tokens of an identity provider: only those with a right signature and right claims are accepted."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import jwt
import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import ValidationError

from api.auth.identity_provider import LEAST_INTERVAL_S, REMEMBERED, Identity, IdentityProvider
from api.problems import ProblemError
from runtime.settings import OidcSettings
from tests.api.local_issuer import LocalIssuer, local_issuer
from tests.streams.harness import until_true


@pytest.fixture
async def issuer() -> AsyncIterator[LocalIssuer]:
    async with local_issuer() as running:
        yield running


class Times:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def _end_of(token: str) -> datetime:
    return datetime.fromtimestamp(jwt.decode(token, options={"verify_signature": False})["exp"], UTC)


async def refusal(provider: IdentityProvider, token: str) -> tuple[int, str]:
    with pytest.raises(ProblemError) as refused:
        await provider.identify(token)
    return refused.value.status_code, str(refused.value.detail)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_a_signed_token_gives_its_claims(issuer: LocalIssuer, algorithm: str) -> None:
    issuer.add_key("other", algorithm)
    provider = IdentityProvider(settings=issuer.settings)
    token = issuer.token("other", scope="openid varve:recall varve:ingest varve:unknown recall")
    assert await provider.identify(token) == Identity("ann", "acme", "ann", ("ingest", "recall"), _end_of(token))
    await provider.close()


async def test_claims_are_found_where_the_settings_say(issuer: LocalIssuer) -> None:
    settings = issuer.settings.model_copy(
        update={"tenant_claim": "/org/a~1b", "user_claim": "", "scopes_claim": "https://app.example/roles", "scope_prefix": ""}
    )
    provider = IdentityProvider(settings=settings)
    roles: dict[str, Any] = {"https://app.example/roles": ["erase", 7, "recall"]}
    token = issuer.token(tenant=None, org={"a/b": "umbrella"}, **roles)
    assert await provider.identify(token) == Identity("ann", "umbrella", None, ("recall", "erase"), _end_of(token))
    fixed = IdentityProvider(settings=settings.model_copy(update={"tenant": "acme"}))
    assert (await fixed.identify(issuer.token(tenant="umbrella"))).tenant == "acme"
    for each in (provider, fixed):
        await each.close()


async def test_wrong_tokens_are_refused_with_the_reason(issuer: LocalIssuer) -> None:
    provider = IdentityProvider(settings=issuer.settings)
    now = int(time.time())
    for claims, reason in (
        ({"exp": now - 120}, "expired"),
        ({"exp": None}, "lacks a required claim"),
        ({"nbf": now + 120}, "not valid yet"),
        ({"iat": now + 120}, "not valid yet"),
        ({"aud": "another"}, "another service"),
        ({"aud": None}, "lacks a required claim"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"tenant": None}, "'tenant' must be an id"),
        ({"tenant": ["acme"]}, "'tenant' must be an id"),
        ({"tenant": ""}, "'tenant' must be an id"),
        ({"sub": None}, "'sub' must be an id"),
    ):
        status, detail = await refusal(provider, issuer.token(**claims))
        assert (status, reason in detail) == (401, True), (claims, detail)
    assert (await provider.identify(issuer.token(exp=now - 30, nbf=now + 30))).user == "ann", "clocks differ by up to a minute"
    await provider.close()


async def test_forged_signatures_are_refused(issuer: LocalIssuer) -> None:
    provider = IdentityProvider(settings=issuer.settings)
    token = issuer.token()
    head, body, signature = token.split(".")
    claims = {**jwt.decode(token, options={"verify_signature": False}), "sub": "bob"}
    changed = base64.urlsafe_b64encode(orjson.dumps(claims)).rstrip(b"=").decode()
    public = issuer.keys["first"][1].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    confused = _hmac_signed(claims, public)
    stranger = jwt.encode(claims, rsa.generate_private_key(65537, 2048), "RS256", headers={"kid": "first"})
    nothing = jwt.encode(claims, "", "none", headers={"kid": "first"})
    for forged in (f"{head}.{changed}.{signature}", f"{head}.{body}.", confused, stranger, nothing, "a.b.c", "..", "é.é.é"):
        status, _ = await refusal(provider, forged)
        assert status == 401, forged
    assert (await provider.identify(token)).user == "ann"
    await provider.close()


async def test_a_token_in_use_is_verified_once(issuer: LocalIssuer, monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[str] = []
    decode = jwt.decode

    def counted(token: str, **options: Any) -> Any:
        verified.append(token)
        return decode(token, **options)

    monkeypatch.setattr(jwt, "decode", counted)
    times = Times()
    provider = IdentityProvider(settings=issuer.settings, monotonic=times)
    token, other = issuer.token(), issuer.token(sub="bob")
    assert [(await provider.identify(each)).user for each in (token, token, other, token)] == ["ann", "ann", "bob", "ann"]
    assert verified == [token, other]
    for index in range(REMEMBERED):
        await provider.identify(issuer.token(sub=f"user {index}"))
    assert len(provider._verified) == REMEMBERED

    # The provider takes the key back: the next read of its keys ends the token.
    issuer.published.clear()
    issuer.add_key("second")
    times.now += LEAST_INTERVAL_S + 1
    assert (await provider.identify(issuer.token("second"))).user == "ann"
    assert (await refusal(provider, token))[0] == 401
    await provider.close()


async def test_a_verified_token_ends_at_its_time(issuer: LocalIssuer) -> None:
    provider = IdentityProvider(settings=issuer.settings)
    token = issuer.token(exp=int(time.time() - issuer.settings.clock_skew_s) + 2)
    assert (await provider.identify(token)).user == "ann"

    async def is_refused() -> bool:
        try:
            await provider.identify(token)
        except ProblemError as error:
            return "expired" in str(error.detail)
        return False

    await until_true(is_refused)
    await provider.close()


@pytest.mark.parametrize("end", [10**20, 1e300, "soon", -(10**20), True])
async def test_an_end_beyond_time_is_refused(issuer: LocalIssuer, end: Any) -> None:
    provider = IdentityProvider(settings=issuer.settings)
    assert (await refusal(provider, issuer.token(exp=end)))[0] == 401
    await provider.close()


def _hmac_signed(claims: dict[str, Any], secret: bytes) -> str:
    """A token signed with the provider's public key as if it were a shared secret: the classic confusion of algorithms."""
    import hashlib
    import hmac

    parts = [{"alg": "HS256", "typ": "JWT", "kid": "first"}, claims]
    signed = b".".join(base64.urlsafe_b64encode(orjson.dumps(part)).rstrip(b"=") for part in parts)
    signature = base64.urlsafe_b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).rstrip(b"=")
    return (signed + b"." + signature).decode()


async def test_a_rotated_key_is_read_at_once(issuer: LocalIssuer) -> None:
    times = Times()
    provider = IdentityProvider(settings=issuer.settings, monotonic=times)
    await provider.identify(issuer.token())
    issuer.add_key("second")
    issuer.published.pop(0)
    times.now += LEAST_INTERVAL_S + 1
    await asyncio.gather(*(provider.identify(issuer.token("second")) for _ in range(20)))
    assert issuer.reads == 2, "callers share one read"
    assert (await refusal(provider, issuer.token("first")))[0] == 401, "a withdrawn key is not accepted any more"
    issuer.add_key("third", "ES256")
    for _ in range(50):
        assert (await refusal(provider, issuer.token("third", headers={"kid": "unknown"})))[0] == 401
    assert issuer.reads == 2, "invalid tokens cause no further reads"
    await provider.close()


async def test_known_keys_serve_while_the_provider_is_down(issuer: LocalIssuer) -> None:
    times = Times()
    settings = issuer.settings
    provider = IdentityProvider(settings=settings, monotonic=times)
    issuer.is_down = True
    status, detail = await refusal(provider, issuer.token())
    assert (status, "identity provider does not answer" in detail) == (503, True)
    issuer.is_down = False
    times.now += LEAST_INTERVAL_S + 1
    await provider.identify(issuer.token())
    issuer.is_down = True
    times.now += settings.keys_refresh_s + 1
    for _ in range(3):
        assert (await provider.identify(issuer.token())).user == "ann"
        times.now += LEAST_INTERVAL_S + 1
    times.now += settings.keys_max_age_s
    assert (await refusal(provider, issuer.token()))[0] == 503
    await provider.close()


async def test_a_configuration_of_another_issuer_is_not_used(issuer: LocalIssuer) -> None:
    issuer.named = "https://evil.example"
    provider = IdentityProvider(settings=issuer.settings)
    assert (await refusal(provider, issuer.token()))[0] == 503
    direct = IdentityProvider(settings=issuer.settings.model_copy(update={"jwks_url": f"{issuer.url}/keys"}))
    assert (await direct.identify(issuer.token())).user == "ann"
    for each in (provider, direct):
        await each.close()


def test_unsafe_settings_are_refused() -> None:
    with pytest.raises(ValidationError, match="VARVE_OIDC__AUDIENCE"):
        OidcSettings(issuer="https://id.example")
    with pytest.raises(ValidationError, match="must be an https URL"):
        OidcSettings(issuer="http://id.example", audience="varve")
    with pytest.raises(ValidationError, match="algorithms"):
        OidcSettings(issuer="https://id.example", audience="varve", algorithms=("HS256",))
