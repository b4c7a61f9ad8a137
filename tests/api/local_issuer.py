"""An OpenID Connect issuer of this process: real keys, real signatures, and a real HTTP server for its public keys."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from runtime.settings import OidcSettings
from varve.embedded.ports import free_port

AUDIENCE = "varve"
_NEW_KEYS = {
    "RS256": lambda: rsa.generate_private_key(65537, 2048),
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}
_FORMATS = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "EdDSA": OKPAlgorithm}


class LocalIssuer:
    """An issuer. ``reads`` counts the requests for its keys; ``is_down`` makes it answer 503."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.named = url
        self.reads = 0
        self.is_down = False
        self.keys: dict[str, tuple[str, Any]] = {}
        self.published: list[dict[str, Any]] = []

    @property
    def settings(self) -> OidcSettings:
        return OidcSettings(issuer=self.url, audience=AUDIENCE)

    def add_key(self, key_id: str, algorithm: str = "RS256") -> None:
        key = _NEW_KEYS[algorithm]()
        self.keys[key_id] = (algorithm, key)
        public = json.loads(_FORMATS[algorithm].to_jwk(key.public_key()))  # type: ignore[attr-defined]
        self.published.append({**public, "kid": key_id, "use": "sig"})

    def token(self, key_id: str = "first", *, headers: dict[str, Any] | None = None, **claims: Any) -> str:
        """A token for the user Ann of the tenant acme, except for the given claims; a claim that is None is left out."""
        now = int(time.time())
        known = {"iss": self.url, "aud": AUDIENCE, "sub": "ann", "tenant": "acme", "iat": now, "exp": now + 300, "scope": "varve:recall"}
        algorithm, key = self.keys[key_id]
        present = {name: value for name, value in (known | claims).items() if value is not None}
        return jwt.encode(present, key, algorithm, headers={"kid": key_id, **(headers or {})})

    async def configuration(self, request: web.Request) -> web.Response:
        return self._answer({"issuer": self.named, "jwks_uri": f"{self.url}/keys"})

    async def public_keys(self, request: web.Request) -> web.Response:
        self.reads += 1
        return self._answer({"keys": self.published})

    def _answer(self, content: dict[str, Any]) -> web.Response:
        return web.json_response({}, status=503) if self.is_down else web.json_response(content)


@asynccontextmanager
async def local_issuer() -> AsyncIterator[LocalIssuer]:
    port = free_port()
    issuer = LocalIssuer(f"http://127.0.0.1:{port}")
    issuer.add_key("first")
    app = web.Application()
    app.add_routes([web.get("/.well-known/openid-configuration", issuer.configuration), web.get("/keys", issuer.public_keys)])
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield issuer
    finally:
        await runner.cleanup()
