"""Settings of the query service, of the APIs, console and webhooks that it serves, and of the client."""

from pydantic import Field, SecretStr

from runtime.settings.group import Group


class ServiceSettings(Group):
    """The query service."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="Port to listen on.")
    max_batch: int = Field(default=1000, ge=1, description="Most messages in one POST.")
    max_body_bytes: int = Field(default=16_000_000, ge=1024, description="Largest body of messages, a schema or a tenants' file.")
    reads_at_once: int = Field(
        default=16, ge=1, description="Reads that run at once. A recall counts once more for every 128 results that it asks for."
    )
    tenant_share: float = Field(
        default=0.25, gt=0, le=1, description="Share of the reads at once that one tenant may hold while others are active."
    )
    max_queued_reads: int = Field(default=1000, ge=1, description="Reads that wait for their turn; further ones get 429.")
    max_queued_reads_of_tenant: int = Field(
        default=250, ge=1, description="Reads of one tenant that wait for their turn; further ones get 429."
    )
    read_queue_timeout_s: float = Field(
        default=5.0, gt=0, description="How long a read waits for its turn before it gets 429; a recall at most until its deadline."
    )
    max_connections: int = Field(
        default=500,
        ge=1,
        description="Open connections. Above it, the one that has waited longest for a request or for its body is closed, or the new one "
        "gets 503.",
    )
    max_requests_of_tenant: int = Field(
        default=250,
        ge=1,
        description="Requests of one tenant that are in progress at once; further ones get 429. Keep it well below "
        "`VARVE_SERVICE__MAX_CONNECTIONS`, so that no tenant can hold all connections.",
    )
    head_timeout_s: float = Field(default=10.0, gt=0, description="Time-out for receiving the request's headers.")
    body_timeout_s: float = Field(default=30.0, gt=0, description="Time-out for receiving the body.")
    write_timeout_s: float = Field(
        default=30.0, gt=0, description="How long a client may leave a response unread; of a large one it must read 256 KiB in that time."
    )
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
        description="Waiting deliveries to one webhook. Further ones become dead letters (`backlog`) without an attempt, and wait again "
        "when half of them are left.",
    )
    max_payload_bytes: int = Field(
        default=262_144, ge=1024, description="Largest body of a delivery. A larger one is sent without the memory's content."
    )


class RetentionSettings(Group):
    """Runs of retention. One of the query services runs them."""

    interval_s: float = Field(
        default=86_400.0,
        ge=0,
        description="Time between two runs, which remove what tenants' retention keeps no longer; each reads the topics `windows` and "
        "`extractions`. 0: only `varve retention run` does.",
    )


class ReadAuditSettings(Group):
    """The read audit: who read which memories."""

    rate: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the requests whose returned memories are recorded in the topic `reads`: key id, user, memory ids and time, "
        "no texts. 0: none. 1: all; records that Kafka does not take in time are dropped and counted in `varve_read_records_total`.",
    )


class TrustSettings(Group):
    """Changed levels of trust: when they are applied to earlier extractions. One of the query services does it."""

    interval_s: float = Field(
        default=10.0,
        ge=0,
        description="Interval at which the service looks for tenants with changed levels of trust. Earlier extractions then get the new "
        "levels, which reads the topic `extractions` once. 0: only `varve trust apply` does it.",
    )


class ProofSettings(Group):
    """Proofs that recalls return what the log gives (`varve prove`). One of the query services runs them."""

    interval_s: float = Field(default=0.0, ge=0, description="Time between two runs, see `varve prove`. 0: no runs.")
    users: int = Field(default=20, ge=1, le=10_000, description="Number of users of all tenants that each run checks.")


class ClientSettings(Group):
    """Connection of the command line to the query service."""

    url: str | None = Field(
        default=None, description="Address of the query service. Default: that of the stack on `<data>`, otherwise `VARVE_SERVICE__*`."
    )
    api_key: SecretStr | None = Field(default=None, description="API key of the tenant. Default: that of the stack on `<data>`.")
    timeout_s: float = Field(default=30.0, gt=0, description="Time-out of one attempt of a request.")
    max_attempts: int = Field(
        default=5,
        ge=1,
        description="Most attempts of a request whose connection fails, or that is refused temporarily, in `varve import`, `varve mcp` and "
        "`varve canary`. Other commands make 2.",
    )
    retry_for_s: float = Field(default=120.0, ge=0, description="No attempt of a request begins later after its first.")
