"""Settings of the control log, quotas, signatures, and tokens of an identity provider."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AwareDatetime, Field, SecretStr, model_validator

from runtime.settings.group import Group

MasterSecret = Annotated[SecretStr, Field(min_length=32)]

TokenAlgorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Algorithms with a public key. With a shared secret (HS256), each service that can check a token could also make one."""


class ControlSettings(Group):
    """The control log: tenants, keys and their rights. All processes need the same values."""

    lease_s: float = Field(
        default=15.0,
        gt=0,
        description="How long a process may act on its last confirmed read of the control log; then it rejects all requests and lets "
        "records wait. Commands that take access away wait this long. Use the same value in every process.",
    )
    write_timeout_s: float = Field(
        default=60.0, gt=0, description="How long a change of the control log is retried while other writers are faster."
    )


class QuotaSettings(Group):
    """Quotas of each tenant over all processes of the query service. Default: no limits."""

    messages_per_second: float | None = Field(
        default=None, gt=0, description="Rate limit: messages per second per tenant. Default: no limit."
    )
    bytes_per_second: float | None = Field(
        default=None, gt=0, description="Rate limit: bytes of message bodies per second per tenant. Default: no limit."
    )
    recalls_per_second: float | None = Field(
        default=None, gt=0, description="Rate limit: recalls per second per tenant. Default: no limit."
    )
    concurrent_recalls: int | None = Field(default=None, ge=1, description="Concurrent recalls per tenant. Default: no limit.")
    burst_s: float = Field(
        default=10.0,
        gt=0,
        le=3600,
        description="Seconds' worth of a rate that may arrive at once. A larger request waits until all of it is available.",
    )
    memories: int | None = Field(
        default=None,
        ge=0,
        description="Maximum number of memories per tenant, counted twice a minute; above it, new messages are refused. Default: no limit.",
    )


class SigningSettings(Group):
    """The master secret of producers' signing keys, webhooks' secrets and Varve's own seal. All processes need the same values."""

    secret: MasterSecret | None = Field(
        default=None,
        description="Master secret, the same in every process (`varve tenants signing-secret` prints one). Without it, every producer that "
        "may write `messages` is trusted, also with commands.",
    )
    previous_secrets: tuple[MasterSecret, ...] = Field(
        default=(), description="JSON list of replaced master secrets. What was signed under them stays valid."
    )
    since: AwareDatetime | None = Field(
        default=None,
        description="Records appended to the log before this time are trusted as they are. Set it to the time at which a running "
        "installation got its secret.",
    )
    max_age_s: float = Field(
        default=900.0,
        gt=0,
        description="Maximum difference between the time in a signature (or seal) and the broker's append time. A larger difference is "
        "rejected as a replayed copy or a clock error.",
    )


class OidcSettings(Group):
    """Tokens of an OpenID Connect provider, accepted in place of API keys. Needs the extra `oidc`."""

    issuer: str | None = Field(
        default=None, description="The provider's issuer URL, exactly as the claim `iss` has it. Default: only API keys are accepted."
    )
    audience: str | None = Field(
        default=None,
        description="Value that the claim `aud` must contain. Required with an issuer: the provider also issues tokens for other services.",
    )
    jwks_url: str | None = Field(
        default=None, description="Address of the provider's public keys. Default: read from `<issuer>/.well-known/openid-configuration`."
    )
    algorithms: tuple[TokenAlgorithm, ...] = Field(
        default=("RS256", "PS256", "ES256", "EdDSA"), min_length=1, description="JSON list of accepted signature algorithms."
    )
    tenant: str | None = Field(default=None, description="Tenant of all tokens. Default: the claim `VARVE_OIDC__TENANT_CLAIM`.")
    tenant_claim: str = Field(
        default="tenant", min_length=1, description="Claim with the tenant: a name, or a JSON pointer such as `/realm/tenant`."
    )
    user_claim: str = Field(
        default="sub",
        description="Claim with the user: a token reads and writes only this user's memories, and is rejected without the claim. "
        "Empty: tokens are for all users of their tenant.",
    )
    scopes_claim: str = Field(
        default="scope", min_length=1, description="Claim with the scopes: a list, or a text with spaces. Unknown scopes are ignored."
    )
    scope_prefix: str = Field(default="varve:", description="Prefix of Varve's scopes at the provider: `varve:recall` gives `recall`.")
    clock_skew_s: float = Field(
        default=60.0, ge=0, le=600, description="Accepted difference between the provider's clock and this one, for `exp`, `nbf` and `iat`."
    )
    keys_refresh_s: float = Field(default=300.0, gt=0, description="Interval at which the provider's public keys are read again.")
    keys_max_age_s: float = Field(
        default=86400.0,
        gt=0,
        description="How long keys are used while the provider does not answer. After that, tokens get 503. API keys are not affected.",
    )
    timeout_s: float = Field(default=5.0, gt=0, description="Time-out of a request to the provider.")
    resource: str | None = Field(
        default=None,
        description="Public URL of `/mcp`, such as `https://memory.example/mcp`. MCP clients read there which issuer they need (RFC 9728). "
        "Default: not published.",
    )

    @model_validator(mode="after")
    def _check_issuer(self) -> "OidcSettings":
        if self.issuer is not None and self.audience is None:
            raise ValueError("set VARVE_OIDC__AUDIENCE: without it, tokens that the issuer made for other services would be accepted")
        for name, url in (("ISSUER", self.issuer), ("JWKS_URL", self.jwks_url)):
            if url is not None and not _is_https(url):
                raise ValueError(f"VARVE_OIDC__{name} must be an https URL (http only on this machine), got {url!r}")
        return self


def _is_https(url: str) -> bool:
    """Whether a URL is https, or http on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1"))
