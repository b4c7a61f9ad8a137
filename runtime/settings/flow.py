"""Where the flow runs, and how: Kafka, Redis, the vector store, windows, delivery."""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from runtime.settings.group import Group


class KafkaSettings(Group):
    """The broker, and the topics on it."""

    bootstrap: str = Field(default="127.0.0.1:9092", description="Bootstrap servers, `host:port`, comma-separated.")
    topic_prefix: str = Field(default="varve.", description="Put before every topic's and consumer group's name.")
    partitions: int = Field(default=8, ge=1, description="Partitions of each topic that `varve topics create` makes.")
    replication_factor: int = Field(
        default=3,
        ge=1,
        description="Replicas of each topic that `varve topics create` makes; no worker starts where one has fewer. 1: one broker is all "
        "there is, and what it loses is lost.",
    )
    min_insync_replicas: int = Field(
        default=2,
        ge=1,
        description="`min.insync.replicas` of those topics; no worker starts where one has less. At least 2 where there are replicas: a "
        "record that its leader alone has is lost with it.",
    )
    tombstone_retention_s: float = Field(
        default=30 * 86400.0,
        ge=1,
        description="`delete.retention.ms` of `memories`: an index that was away for longer may keep memories that were taken back.",
    )
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
    group_instance_id: str | None = Field(
        default=None,
        min_length=1,
        description="A worker's name in its group, its own and the same after a restart: one that is back within the session time-out "
        "keeps its partitions, without a rebalance. It does not leave the group when it stops. Unset: a new member at each start.",
    )
    heartbeat_s: float = Field(default=1.5, gt=0, description="Heartbeat interval of a worker.")
    request_timeout_s: float = Field(default=30.0, gt=0, description="Time-out of one request to a broker.")
    transaction_timeout_s: float = Field(
        default=15.0,
        ge=1,
        le=900,
        description="A transaction that is open for so long is aborted by the broker. Until then it holds up whoever reads its topics.",
    )

    @model_validator(mode="after")
    def _require_safe_replicas(self) -> Self:
        least = min(2, self.replication_factor)
        if not least <= self.min_insync_replicas <= self.replication_factor:
            raise ValueError(
                f"VARVE_KAFKA__MIN_INSYNC_REPLICAS is {self.min_insync_replicas} and must be from {least} to "
                f"VARVE_KAFKA__REPLICATION_FACTOR, which is {self.replication_factor}"
            )
        return self


class RedisSettings(Group):
    """Redis: session tails and history, recalls, budgets, the answer cache."""

    url: str = Field(default="redis://127.0.0.1:6379/0", description="`redis://`, `rediss://` or `unix://` address.")
    prefix: str = Field(default="varve:", description="Put before every key.")
    timeout_s: float = Field(default=2.0, gt=0, description="Time-out of one command.")
    tail_ttl_s: float = Field(default=7 * 86400.0, ge=1, description="How long a silent session's tail is kept.")
    entity_ttl_s: float = Field(
        default=600.0,
        ge=1,
        description="How long a changed entity can be read before the index has it: longer than the index is ever behind.",
    )


VectorDatatype = Literal["float32", "float16", "turbo8", "turbo4"]


class StoreSettings(Group):
    """The vector store: Qdrant Edge in a process of its own, or a Qdrant server."""

    kind: Literal["edge", "server"] = Field(default="edge", description="`edge` (embedded) or `server`.")
    socket: Path | None = Field(default=None, description="Unix socket of the Edge process; `<data>/edge.sock` where unset.")
    url: str = Field(default="http://127.0.0.1:6333", description="Address of the Qdrant server.")
    grpc_port: int = Field(default=6334, description="gRPC port of the Qdrant server.")
    api_key: SecretStr | None = Field(default=None, description="API key of the Qdrant server.")
    collection: str = Field(default="varve", description="The collection that holds every tenant's memories.")
    timeout_s: float = Field(default=10.0, gt=0, description="Time-out of one request.")
    replication_factor: int | None = Field(
        default=None,
        ge=1,
        description="Copies of each shard in a collection that Varve creates on a Qdrant server; unset: as the server says.",
    )
    write_consistency_factor: int | None = Field(
        default=None,
        ge=1,
        description="How many copies have to take a write before it counts; at most the copies. Unset: as the server says.",
    )
    shard_number: int | None = Field(
        default=None,
        ge=1,
        description="Shards of a collection that Varve creates on a Qdrant server; unset: as the server says, one a node.",
    )
    tenant_shards: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Instead of those: shards that tenants share in a collection that Varve creates on a Qdrant cluster, each tenant in "
        "one of them until `varve tenants promote` gives it one of its own. Unset: a tenant's points lie in all shards.",
    )
    dense_datatype: VectorDatatype = Field(
        default="turbo8",
        description="What a Qdrant server keeps vectors of whole texts in, in a collection that Varve creates: `float32`, `float16`, "
        "`turbo8` (a byte a number; Qdrant 1.20) or `turbo4` (half of one).",
    )
    late_datatype: VectorDatatype = Field(default="turbo4", description="The same for the vectors of their tokens, which are far more.")

    @model_validator(mode="after")
    def _one_way_to_place_points(self) -> Self:
        if self.shard_number is not None and self.tenant_shards is not None:
            raise ValueError("shard_number spreads each tenant over all shards, tenant_shards puts it into one: set one of them")
        return self

    @model_validator(mode="after")
    def _writes_that_copies_can_take(self) -> Self:
        copies, needed = self.replication_factor, self.write_consistency_factor
        if copies is not None and needed is not None and needed > copies:
            raise ValueError(
                f"write_consistency_factor is {needed}, and replication_factor makes {copies} copies: no write could ever count"
            )
        return self


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
    max_future_s: float = Field(
        default=300.0,
        ge=0,
        description="A message dated further ahead of the time it was appended to the log at is dead-lettered. What is set by "
        "hand of an entity since a time further ahead is refused.",
    )


class TimelineSettings(Group):
    """When the timers of timelines (TIME_COMPRESS) fire."""

    out_of_orderness_s: float = Field(
        default=3600.0, ge=0, description="How far events may lie behind the newest of their partition (event time)."
    )
    grace_s: float = Field(
        default=60.0,
        gt=0,
        description="Wall-clock time for which nothing may have come for a timeline before its timer fires. A partition that is silent for "
        "so long lets its clock move on by itself.",
    )


class HistorySettings(Group):
    """How much is kept of what entities have come by."""

    steps: int = Field(
        default=256,
        ge=0,
        le=2048,
        description="Steps that are kept of an entity, for each partition of `extractions` that it gets any from; the newest take the "
        "places of the oldest. 0: none. Another number holds for what comes from then on.",
    )


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
        default=5000, ge=1, description="A partition is paused while so many of its records wait, in a stage that handles them in order."
    )
    max_queued_bytes: int = Field(default=16_000_000, ge=1, description="The same for their bytes, in keys, values and headers.")
    max_fetched_bytes: int = Field(
        default=64_000_000,
        ge=1,
        description="Bytes that a worker has fetched and not yet taken in, in keys, values and headers; the last fetch may go beyond.",
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
    slots: int = Field(default=16, ge=1, description="Records that a stage with slow calls handles at once, per worker.")
    tenant_share: float = Field(default=0.5, gt=0, le=1, description="Part of those slots that one tenant may hold.")
    park_after_s: float = Field(
        default=30.0,
        ge=0,
        description="In a stage with slow calls, records of a tenant that has to wait for longer, for its budget or schema, are parked.",
    )
    retry_initial_interval_s: float = Field(
        default=0.2, gt=0, description="Longest wait behind a record's first attempt; the wait is any time up to it (full jitter)."
    )
    retry_backoff_coefficient: float = Field(default=2.0, ge=1, description="What the interval is multiplied with behind each attempt.")
    retry_maximum_interval_s: float = Field(default=30.0, gt=0, description="The interval grows no further than this.")
    retry_maximum_attempts: int = Field(
        default=6, ge=1, description="Attempts that fail by the record's own fault before it is dead-lettered, in a stage with slow calls."
    )
    maximum_crashes: int = Field(
        default=3,
        ge=1,
        description="A record at which so many processes of a worker have died in a row, at the last of them alone, is dead-lettered.",
    )
    drain_timeout_s: float = Field(default=20.0, gt=0, description="How long a stopping worker finishes what it has begun.")
    retention_alarm_s: float = Field(
        default=86400.0,
        ge=0,
        description="A stage warns, in its log and at `/readyz`, of a partition whose oldest open record Kafka may delete in less.",
    )
    breaker_failures: int = Field(default=5, ge=1, description="Failures in a row that open a dependency's circuit breaker.")
    breaker_reset_s: float = Field(default=5.0, gt=0, description="How long an open breaker waits before it lets one call try.")
