"""The one settings object. Every value comes from the environment (``VARVE_KAFKA__BOOTSTRAP``) or a ``.env`` file, or is the default.

``docs/settings.md`` lists every value; a test holds that table equal to this file.
"""

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Group(BaseModel):
    """A group of settings: refuses names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class KafkaSettings(Group):
    """The broker, and the topics on it."""

    bootstrap: str = Field(default="127.0.0.1:9092", description="Bootstrap servers, `host:port`, comma-separated.")
    topic_prefix: str = Field(default="varve.", description="Put before every topic's and consumer group's name.")
    partitions: int = Field(default=8, ge=1, description="Partitions of each topic that `varve topics create` makes.")
    replication_factor: int = Field(default=1, ge=1, description="Replicas of each topic that `varve topics create` makes.")
    min_insync_replicas: int = Field(default=1, ge=1, description="`min.insync.replicas` of those topics.")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        default="PLAINTEXT", description="How to reach the brokers."
    )
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        default="PLAIN", description="SASL mechanism, where the protocol is a SASL one."
    )
    sasl_username: str | None = Field(default=None, description="SASL user name.")
    sasl_password: SecretStr | None = Field(default=None, description="SASL password.")
    ssl_cafile: Path | None = Field(default=None, description="CA file for TLS; the system's store where unset.")
    max_record_bytes: int = Field(
        default=1_000_000, ge=1024, description="Largest value taken in or produced; a larger message goes to the dead letters."
    )
    max_message_bytes: int = Field(
        default=4_000_000,
        ge=1024,
        description="`max.message.bytes` of the topics: above `max_record_bytes`, so that a too large record of a foreign producer "
        "comes in and is dead-lettered.",
    )
    linger_ms: int = Field(default=5, ge=0, description="How long the producer waits to fill a batch.")
    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = Field(default="none", description="Producer compression.")
    session_timeout_s: float = Field(default=6.0, gt=0, description="A worker silent for so long loses its partitions.")
    heartbeat_s: float = Field(default=1.5, gt=0, description="Heartbeat interval of a worker.")
    request_timeout_s: float = Field(default=30.0, gt=0, description="Time-out of one request to a broker.")


class RedisSettings(Group):
    """Redis: session tails, entity views, budgets, the answer cache."""

    url: str = Field(default="redis://127.0.0.1:6379/0", description="`redis://`, `rediss://` or `unix://` address.")
    prefix: str = Field(default="varve:", description="Put before every key.")
    timeout_s: float = Field(default=2.0, gt=0, description="Time-out of one command.")
    tail_ttl_s: float = Field(default=7 * 86400.0, ge=1, description="How long a silent session's tail is kept.")


class StoreSettings(Group):
    """The vector store: Qdrant Edge in a process of its own, or a Qdrant server."""

    kind: Literal["edge", "server"] = Field(default="edge", description="`edge` (embedded) or `server`.")
    socket: Path | None = Field(default=None, description="Unix socket of the Edge process; `<data>/edge.sock` where unset.")
    url: str = Field(default="http://127.0.0.1:6333", description="Address of the Qdrant server.")
    grpc_port: int = Field(default=6334, description="gRPC port of the Qdrant server.")
    api_key: SecretStr | None = Field(default=None, description="API key of the Qdrant server.")
    collection: str = Field(default="varve", description="The collection that holds every tenant's memories.")
    timeout_s: float = Field(default=10.0, gt=0, description="Time-out of one request.")


class SessionSettings(Group):
    """When a window closes (VikingMem 3.1: at least 20 messages give the best memories)."""

    message_count: int = Field(default=20, ge=1, description="From so many messages a window closes at the next pause.")
    message_cap: int = Field(default=40, ge=1, description="At so many messages it closes, pause or not.")
    token_count: int = Field(default=4000, ge=1, description="At so many (estimated) tokens it closes.")
    pause_s: float = Field(default=120.0, ge=0, description="A gap in event time that counts as a pause.")
    wait_timeout_s: float = Field(default=1800.0, gt=0, description="A session silent for so long (event time) closes its window.")
    out_of_orderness_s: float = Field(default=30.0, ge=0, description="How far messages may lie behind the newest of their partition.")
    idle_partition_s: float = Field(
        default=10.0, gt=0, description="Wall-clock silence after which a partition's clock moves on by itself."
    )
    max_future_s: float = Field(default=300.0, ge=0, description="A message dated further ahead of the wall clock is dead-lettered.")


class DeliverySettings(Group):
    """Bounds and retries of every stage."""

    max_in_flight: int = Field(
        default=1000,
        ge=1,
        description="Records that a stage with slow calls holds, per worker; those beyond are read again when their turn comes.",
    )
    max_unacked_span: int = Field(
        default=20_000,
        ge=1,
        description="Records of one partition that such a stage has in view, to find other tenants' behind a flood; no commit lies "
        "further back.",
    )
    max_queued: int = Field(
        default=5000, ge=1, description="Records of one partition that wait for their turn, in a stage that handles them in order."
    )
    max_batch: int = Field(default=512, ge=1, description="Records of one partition made durable together.")
    max_batch_bytes: int = Field(default=500_000, ge=1, description="Bytes of such records; a larger one goes alone.")
    batch_interval_s: float = Field(default=0.025, ge=0, description="Least time between two batches of one partition: lets them grow.")
    max_batch_interval_s: float = Field(
        default=1.0, ge=0, description="Most time between them: where making a batch durable takes long, or the stage is behind."
    )
    state_cache_bytes: int = Field(
        default=2_000_000, ge=0, description="What the state objects that a stage keeps in memory may weigh, per partition."
    )
    slots: int = Field(default=16, ge=1, description="Records that a stage with slow calls works on at once, per worker.")
    tenant_share: float = Field(default=0.5, gt=0, le=1, description="Part of those slots that one tenant may hold.")
    max_tries: int = Field(default=6, ge=1, description="Tries of a record before it is dead-lettered.")
    backoff_s: float = Field(default=0.2, gt=0, description="First wait between tries; doubles, with jitter.")
    max_backoff_s: float = Field(default=30.0, gt=0, description="Longest wait between tries.")
    drain_timeout_s: float = Field(default=20.0, gt=0, description="How long a stopping worker finishes what it has begun.")
    breaker_failures: int = Field(default=5, ge=1, description="Failures in a row that open a dependency's circuit breaker.")
    breaker_reset_s: float = Field(default=5.0, gt=0, description="How long an open breaker waits before it lets one call try.")


class LLMSettings(Group):
    """The LLM endpoints; without one the offline extractor does the work."""

    base_url: str | None = Field(default=None, description="OpenAI-compatible endpoint; none: the offline extractor.")
    api_key: SecretStr | None = Field(default=None, description="Its API key.")
    model: str = Field(default="", description="Its model's name.")
    fallbacks: tuple["EndpointSettings", ...] = Field(default=(), description="Further endpoints (JSON), in order of priority.")
    response_format: Literal["auto", "json_schema", "json_object", "none"] = Field(
        default="auto", description="How to ask for JSON; `auto` finds out and remembers."
    )
    temperature: float = Field(default=0.0, ge=0, description="Sampling temperature.")
    max_completion_tokens: int = Field(default=4096, ge=16, description="Longest answer.")
    context_tokens: int = Field(default=32_000, ge=512, description="The model's context; a prompt is cut to fit.")
    first_token_timeout_s: float = Field(default=30.0, gt=0, description="Time-out until the first token.")
    timeout_s: float = Field(default=120.0, gt=0, description="Time-out of a whole call.")
    hedge_after_s: float | None = Field(default=None, description="Silence after which the next endpoint is asked too; off if unset.")
    concurrency: int = Field(default=8, ge=1, description="Calls at once, per endpoint, over all workers.")
    requests_per_minute: int | None = Field(default=None, ge=1, description="Limit over all workers; none if unset.")
    tokens_per_minute: int | None = Field(default=None, ge=1, description="Limit over all workers; none if unset.")
    queue_timeout_s: float = Field(default=60.0, gt=0, description="How long a call waits for its turn under these limits.")
    lease_s: float = Field(default=15.0, gt=0, description="A worker that dies in a call gives its turn back after so long.")
    cache_ttl_s: float = Field(default=7 * 86400.0, ge=0, description="How long an answer is kept for a redelivery; 0: not at all.")
    price_table: Path | None = Field(default=None, description="JSON: `{model: {prompt, cached, completion}}` per million tokens.")


class BudgetSettings(Group):
    """What LLM calls may use up, per tenant and day (UTC)."""

    soft_tokens: int | None = Field(default=None, ge=0, description="Tokens from which on to warn, and to defer windows to off-peak hours.")
    hard_tokens: int | None = Field(default=None, ge=0, description="Tokens that no call may pass; none if unset.")
    soft_cost: float | None = Field(default=None, ge=0, description="The same as a cost; needs the price table.")
    hard_cost: float | None = Field(default=None, ge=0, description="The same as a cost; needs the price table.")
    policy: Literal["wait", "offline"] = Field(
        default="wait",
        description="Past the hard budget a window waits for the next day, or is extracted offline; past the soft one it is deferred.",
    )
    off_peak_start_hour: int | None = Field(
        default=None,
        ge=0,
        le=23,
        description="Hour (UTC) from which on windows that the soft budget deferred are extracted; none is deferred if unset.",
    )
    off_peak_hours: int = Field(default=8, ge=1, le=24, description="How many hours that time lasts.")


class EndpointSettings(Group):
    """One further OpenAI-compatible endpoint."""

    base_url: str = Field(description="Its address.")
    api_key: SecretStr | None = Field(default=None, description="Its API key.")
    model: str = Field(description="Its model's name.")


class ExtractionSettings(Group):
    """The one-pass prompt's bounds, how often a window is asked for, and when two events are one."""

    summary_tokens: int = Field(default=400, ge=0, description="Longest session summary in a prompt, in estimated tokens.")
    entity_tokens: int = Field(default=250, ge=16, description="Longest entity shown in a prompt.")
    entities_tokens: int = Field(default=2000, ge=0, description="All entities shown in a prompt.")
    window_tokens: int = Field(default=8000, ge=256, description="All messages shown in a prompt; the longest are cut first.")
    attempts: int = Field(
        default=3, ge=1, description="Times that the model is asked for a window, each with one repair, before it is dead-lettered."
    )
    shown_ttl_s: float = Field(
        default=7 * 86400.0, ge=1, description="How long an extraction that is repeated is shown the entities that it was shown first."
    )
    duplicate_similarity: float = Field(
        default=0.95, gt=0, le=1, description="Cosine from which two events of a session that differ in no fact are one."
    )
    doubtful_similarity: float = Field(
        default=0.85, gt=0, le=1, description="Cosine from which an LLM is asked whether two events are one; below, both stay."
    )


class EmbeddingSettings(Group):
    """The embedding model."""

    kind: Literal["minilm", "openai", "fastembed"] = Field(
        default="minilm", description="`minilm` (carried by a package), `openai` (any compatible endpoint) or `fastembed`."
    )
    model: str = Field(default="all-MiniLM-L6-v2", description="The model's name, stamped on every point.")
    base_url: str | None = Field(default=None, description="Address of the embeddings endpoint (`openai`).")
    api_key: SecretStr | None = Field(default=None, description="Its API key.")
    dimension: int = Field(default=384, ge=1, description="Dimension of its dense vectors.")
    compute_type: Literal["int8", "float32"] = Field(default="int8", description="Arithmetic of the embedded model.")
    threads: int = Field(default=1, ge=1, description="Threads of the embedded model, per process.")
    max_chars: int = Field(
        default=8000,
        ge=1,
        description="Of a longer text, an embeddings endpoint (`openai`) is sent so many characters. 8000 are 2,000 tokens of English and "
        "8,000 of Chinese; for a model that refuses more than 512 tokens, 1500 and 400.",
    )
    batch_size: int = Field(default=32, ge=1, description="Texts in one batch.")
    late_tokens: int = Field(default=16, ge=1, description="Late-interaction vectors kept per memory, after pooling.")
    cache_entries: int = Field(
        default=2000, ge=0, description="Embeddings kept in memory by content hash, of documents and of queries each; 26 kB a document."
    )


class RecallSettings(Group):
    """Hybrid recall (VikingMem 3.3)."""

    limit: int = Field(default=10, ge=1, description="Results unless the request says otherwise.")
    prefetch: int = Field(default=64, ge=1, description="Candidates of each of dense and BM25.")
    time_weight: float = Field(default=0.0, ge=0, le=1, description="w_time of the final score.")
    business_weight: float = Field(default=0.0, ge=0, le=1, description="w_busi of the final score.")
    freshness_window_s: float = Field(default=86400.0, ge=0, description="Memories this young have a temporal score of 1.")
    half_life_s: float = Field(default=30 * 86400.0, gt=0, description="Behind the window, the temporal score halves in this time.")
    min_origin_score: float = Field(
        default=0.0, ge=0, le=1, description="Results whose original score (in [0, 1]) is lower are rejected; 0 rejects none."
    )

    @model_validator(mode="after")
    def _weights_leave_room(self) -> "RecallSettings":
        if self.time_weight + self.business_weight > 1:
            raise ValueError(f"time_weight + business_weight must not exceed 1, got {self.time_weight:g} + {self.business_weight:g}")
        return self


class ServiceSettings(Group):
    """The query service."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="Port to listen on.")
    max_batch: int = Field(default=1000, ge=1, description="Messages in one POST.")
    max_body_bytes: int = Field(default=16_000_000, ge=1024, description="Largest request body.")
    produce_timeout_s: float = Field(default=5.0, gt=0, description="How long a POST waits for Kafka before it answers 503.")
    probe_timeout_s: float = Field(default=2.0, gt=0, description="How long `/readyz` waits for each dependency.")
    max_pending_recalls: int = Field(
        default=1000, ge=1, description="Recall records waiting for Kafka beside the answers; more are dropped and counted."
    )


class ClientSettings(Group):
    """How the command line reaches the query service."""

    url: str | None = Field(
        default=None, description="Address of the query service; that of the stack on `<data>`, else of `VARVE_SERVICE__*`, where unset."
    )
    api_key: SecretStr | None = Field(default=None, description="The tenant's API key; that of the stack on `<data>` where unset.")
    timeout_s: float = Field(default=30.0, gt=0, description="Time-out of one request.")


class LogSettings(Group):
    """Logs of every process."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Lowest level written.")
    format: Literal["json", "console"] = Field(default="console", description="`json` for machines, `console` for eyes.")


class Settings(BaseSettings):
    """All settings of Varve."""

    model_config = SettingsConfigDict(
        env_prefix="VARVE_",
        env_nested_delimiter="__",
        env_file=".env",
        extra="ignore",
        frozen=True,
        nested_model_default_partial_update=True,
    )

    data: Path = Field(default=Path(".varve"), description="Folder for local state: tables, the embedded stack's data, the tenants' file.")
    cache: Path | None = Field(
        default=None,
        description="Folder for what can be fetched or built again (Kafka's jars, models); `$XDG_CACHE_HOME/varve` where unset.",
    )
    tenants_file: Path | None = Field(
        default=None, description="JSON: tenants with their schema and hashed API keys; `<data>/tenants.json` where unset."
    )
    metrics_port: int = Field(default=0, ge=0, le=65535, description="Port of a stage's health and metrics page; 0: a free one.")
    metrics_host: str = Field(default="127.0.0.1", description="Address of that page.")
    kafka: KafkaSettings = KafkaSettings()
    redis: RedisSettings = RedisSettings()
    store: StoreSettings = StoreSettings()
    sessions: SessionSettings = SessionSettings()
    delivery: DeliverySettings = DeliverySettings()
    llm: LLMSettings = LLMSettings()
    budget: BudgetSettings = BudgetSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    recall: RecallSettings = RecallSettings()
    service: ServiceSettings = ServiceSettings()
    client: ClientSettings = ClientSettings()
    log: LogSettings = LogSettings()

    @property
    def cache_path(self) -> Path:
        """The cache folder in force."""
        return self.cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "varve"

    @property
    def tenants_path(self) -> Path:
        """Where the tenants' file lies."""
        return self.tenants_file or self.data / "tenants.json"

    @property
    def edge_socket(self) -> Path:
        """Where the Edge process listens."""
        return self.store.socket or self.data / "edge.sock"

    def topic(self, name: str) -> str:
        """A topic's name on the broker."""
        return f"{self.kafka.topic_prefix}{name}"


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process, read once."""
    return Settings()
