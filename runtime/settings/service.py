"""Settings of the control log, quotas, signatures, recall, the query service, its clients, logs and traces."""

from pathlib import Path
from typing import Annotated, Final, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AwareDatetime, Field, SecretStr, field_validator, model_validator

from runtime.settings.group import Group

MasterSecret = Annotated[SecretStr, Field(min_length=32)]

RankingProfile = Literal["learned", "weighted", "memx"]
"""Computation of S_origin from the store's scores: the ranking model, fixed weights of the three scores, or MemX's four factors."""

BUILT_IN_PROFILES: Final[tuple[RankingProfile, ...]] = get_args(RankingProfile)

_SEPARATOR: Final = ","


class ControlSettings(Group):
    """The control log: tenants, keys and their rights."""

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
    """The master secret of producers' signing keys and of Varve's own seal."""

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


class WebhookSettings(Group):
    """Deliveries to webhooks, by the query service. They need `VARVE_SIGNING__SECRET`."""

    enabled: bool = Field(default=True, description="Whether this process sends deliveries to webhooks.")
    allow_private: bool = Field(
        default=False,
        description="Whether webhooks may have `http` URLs and private, loopback or link-local addresses. Only for development and tests: "
        "tenants could reach services of your network.",
    )
    timeout_s: float = Field(default=10.0, gt=0, le=60, description="Time-out of one attempt.")
    attempts: int = Field(default=12, ge=1, le=100, description="Attempts of a delivery; then it becomes a dead letter.")
    first_retry_s: float = Field(
        default=5.0, gt=0, description="Longest wait after the first failed attempt. It doubles with each; the wait is random up to it."
    )
    longest_retry_s: float = Field(default=3600.0, gt=0, description="Upper limit of the wait between two attempts.")
    concurrency: int = Field(default=4, ge=1, le=64, description="Concurrent deliveries to one webhook.")
    max_pending: int = Field(
        default=10_000,
        ge=1,
        description="Waiting deliveries to one webhook. Further ones become dead letters at once, to be redriven later.",
    )
    max_payload_bytes: int = Field(
        default=262_144, ge=1024, description="Largest body of a delivery. A larger one is sent without the memory's content."
    )


class CanarySettings(Group):
    """`varve canary`; `VARVE_CLIENT__*` sets its tenant and user."""

    interval_s: float = Field(default=60.0, gt=0, description="Time between two test facts of the canary.")
    goal_s: float = Field(default=60.0, gt=0, description="A fact counts as fresh if a recall finds it within this time.")
    timeout_s: float = Field(default=120.0, gt=0, description="How long the canary looks for a fact.")
    facts: int = Field(default=10, ge=1, le=20, description="Test facts kept at a time; the newest replaces the oldest.")


class RecallSettings(Group):
    """Hybrid recall (VikingMem 3.3)."""

    profile: str = Field(
        default="learned",
        description="Default ranking: `learned`, `weighted`, `memx`, or a profile of `VARVE_RECALL__PROFILES`.",
    )
    profiles: Path | None = Field(
        default=None,
        description="JSON file of further ranking profiles by name, as `varve ranking fit` writes it. Read at start.",
    )
    limit: int = Field(default=10, ge=1, description="Default number of results.")
    context_tokens: int = Field(default=2000, ge=100, le=100_000, description="Default token limit of a context, as estimated.")
    deadline_s: float = Field(
        default=20.0,
        gt=0,
        le=60,
        description="Default deadline of a recall, from its arrival. What is not found by then is left out.",
    )
    prefetch: int = Field(default=64, ge=1, description="Candidates from each of dense search and BM25.")
    keyword_quota: int = Field(
        default=0,
        ge=0,
        description="Default number of results from the keyword graph, at most half of the results. 0: the graph is not used.",
    )
    time_weight: float = Field(default=0.0, ge=0, le=1, description="Default share of the age in the final score.")
    business_weight: float = Field(default=0.0, ge=0, le=1, description="Default share of the importance in the final score.")
    freshness_window_s: float = Field(default=86400.0, ge=0, description="Memories younger than this have an age score of 1.")
    half_life_s: float = Field(default=30 * 86400.0, gt=0, description="Time in which the age score halves after that.")
    min_origin_score: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Results with a lower `weighted` score (0 to 1) are rejected. 0 rejects none.",
    )
    min_confidence: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Default minimum confidence; a recall below it returns no results. 0 rejects none. No effect if the confidence is not "
        "calibrated for the embedding model.",
    )
    training_share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of recalls whose records also contain the query and the ranking, for `varve ranking fit`. A query is personal "
        "data. 0 stores none.",
    )

    @model_validator(mode="after")
    def _knows_its_profile(self) -> "RecallSettings":
        if self.profiles is None and self.profile not in BUILT_IN_PROFILES:
            known = ", ".join(BUILT_IN_PROFILES)
            raise ValueError(f"profile is {self.profile!r}, and VARVE_RECALL__PROFILES names no file of profiles: there are {known}")
        return self

    @model_validator(mode="after")
    def _weights_leave_room(self) -> "RecallSettings":
        if self.time_weight + self.business_weight > 1:
            raise ValueError(f"time_weight + business_weight must not exceed 1, got {self.time_weight:g} + {self.business_weight:g}")
        return self


class ServiceSettings(Group):
    """The query service."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="Port to listen on.")
    max_batch: int = Field(default=1000, ge=1, description="Most messages in one POST.")
    max_body_bytes: int = Field(default=16_000_000, ge=1024, description="Largest body of messages, a schema or a tenants' file.")
    reads_at_once: int = Field(
        default=16, ge=1, description="Reads that run at once. A recall counts once more for every 128 results that it asks for."
    )
    tenant_share: float = Field(default=0.25, gt=0, le=1, description="Share of these that one tenant may hold while others are active.")
    max_queued_reads: int = Field(default=1000, ge=1, description="Reads that wait for their turn; further ones get 429.")
    max_queued_reads_of_tenant: int = Field(default=250, ge=1, description="The same for one tenant.")
    read_queue_timeout_s: float = Field(
        default=5.0, gt=0, description="How long a read waits for its turn before it gets 429; a recall at most until its deadline."
    )
    max_connections: int = Field(
        default=500, ge=1, description="Open connections. Above it, the longest-idle connection is closed, or the new one gets 503."
    )
    head_timeout_s: float = Field(default=10.0, gt=0, description="Time-out for receiving the request's headers.")
    body_timeout_s: float = Field(default=30.0, gt=0, description="Time-out for receiving the body.")
    write_timeout_s: float = Field(default=30.0, gt=0, description="How long a client may leave a response unread.")
    idle_timeout_s: int = Field(
        default=75,
        ge=1,
        description="How long a connection may be idle between requests, in whole seconds. Keep it longer than your load balancer's and "
        "clients' (usually at most 60), or they may send a request into a connection that is being closed.",
    )
    produce_timeout_s: float = Field(default=5.0, gt=0, description="How long a POST waits for Kafka before it gets 503.")
    embedding_timeout_s: float = Field(default=10.0, gt=0, description="How long a recall waits for the embedding of its query.")
    probe_interval_s: float = Field(default=5.0, gt=0, description="Interval at which dependencies are checked for `/readyz`.")
    probe_timeout_s: float = Field(default=2.0, gt=0, description="Time-out of each check.")
    idempotency_ttl_s: float = Field(
        default=86400.0, ge=1, description="How long the response to a request with an `Idempotency-Key` is kept."
    )
    idempotency_bytes: int = Field(default=16_000_000, ge=256_000, description="Bytes of such responses kept per tenant; the newest stay.")
    max_pending_recalls: int = Field(
        default=1000, ge=1, description="Recall records that wait for Kafka; further ones are dropped and counted."
    )


class McpSettings(Group):
    """The MCP server in the query service."""

    enabled: bool = Field(default=False, description="Whether the query service serves MCP at `/mcp`. Needs the extra `mcp`.")
    allowed_origins: tuple[str, ...] = Field(
        default=(),
        description="Origins of web pages that may call it, such as `https://app.example`. Pages of this machine always may.",
    )


class Mem0Settings(Group):
    """mem0's API in the query service."""

    enabled: bool = Field(
        default=False,
        description="Whether the query service serves mem0's APIs: that of its platform at `/mem0`, for mem0's own clients, and that of "
        "its self-hosted server at `/mem0/server`.",
    )


TokenAlgorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Algorithms with a public key. With a shared secret (HS256), each service that can check a token could also make one."""


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
    tenant: str | None = Field(default=None, description="Tenant of all tokens. Default: the claim `tenant_claim` names it.")
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


class VikingSettings(Group):
    """VikingDB Memory's API in the query service."""

    enabled: bool = Field(
        default=False, description="Whether the query service serves VikingDB Memory's API at `/api/memory`, for VikingDB's own client."
    )


class ConsoleSettings(Group):
    """The web console in the query service."""

    enabled: bool = Field(
        default=False, description="Whether the query service serves the web console at `/console`. `varve dev` switches it on."
    )
    session_s: float = Field(
        default=43_200.0, ge=60, le=30 * 86_400, description="How long a browser stays signed in. A revoked key ends its sessions at once."
    )


class ClientSettings(Group):
    """Connection of the command line to the query service."""

    url: str | None = Field(
        default=None, description="Address of the query service. Default: that of the stack on `<data>`, otherwise `VARVE_SERVICE__*`."
    )
    api_key: SecretStr | None = Field(default=None, description="API key of the tenant. Default: that of the stack on `<data>`.")
    timeout_s: float = Field(default=30.0, gt=0, description="Time-out of one request.")


class LogSettings(Group):
    """Logs of every process."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Lowest level that is logged.")
    format: Literal["json", "console"] = Field(default="console", description="`json` for machines, `console` for people.")


class TracingSettings(Group):
    """OpenTelemetry spans. All processes need the same settings."""

    endpoint: str | None = Field(
        default=None,
        description="Full address of the collector for spans (OTLP over HTTP), such as `http://collector:4318/v1/traces`. Default: spans "
        "are not recorded.",
    )
    sample_ratio: float = Field(
        default=1.0, ge=0, le=1, description="Share of traces begun by Varve that is recorded. Other traces follow their `traceparent`."
    )
    headers: SecretStr | None = Field(default=None, description="Headers for the collector: `name=value`, separated by commas.")

    @field_validator("endpoint")
    @classmethod
    def _is_an_address(cls, endpoint: str | None) -> str | None:
        address = None if endpoint is None else urlsplit(endpoint)
        if address is not None and (address.scheme not in ("http", "https") or not address.hostname):
            raise ValueError("a collector's address begins with http:// or https:// and ends in /v1/traces, as a rule")
        return endpoint

    @field_validator("headers")
    @classmethod
    def _are_fields(cls, headers: SecretStr | None) -> SecretStr | None:
        if headers is not None and not all("=" in each for each in headers.get_secret_value().split(_SEPARATOR)):
            raise ValueError("headers are name=value, with commas between")
        return headers

    @property
    def header_fields(self) -> dict[str, str]:
        """The headers by name."""
        if self.headers is None:
            return {}
        fields = (each.partition("=") for each in self.headers.get_secret_value().split(_SEPARATOR))
        return {name.strip().lower(): value.strip() for name, _, value in fields}
