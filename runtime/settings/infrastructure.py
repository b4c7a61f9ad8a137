"""Settings of the servers that Varve uses: Kafka, Redis, the vector store."""

from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from memory.topics import TopicSpec, topic_name
from runtime.settings.group import Group


class KafkaSettings(Group):
    """Kafka's brokers and topics. All processes need the same topics, partitions and limits; each may have its own user."""

    bootstrap: str = Field(default="127.0.0.1:9092", description="Bootstrap servers, `host:port`, separated by commas.")
    topic_prefix: str = Field(default="varve.", description="Prefix of every topic and consumer group.")
    control_prefix: str | None = Field(
        default=None,
        description="Prefix of the topics `control` and `audit`, which `varve topics grow` does not copy. Default: the topic prefix.",
    )
    partitions: int = Field(default=8, ge=1, description="Partitions of each topic that `varve topics create` creates.")
    replication_factor: int = Field(
        default=3,
        ge=1,
        description="Replicas of each topic that `varve topics create` creates. A worker refuses to start if a topic has fewer. 1: for a "
        "single broker, without protection against its loss.",
    )
    min_insync_replicas: int = Field(
        default=2,
        ge=1,
        description="`min.insync.replicas` of each topic. A worker refuses to start if a topic has less. Use at least 2 if there are "
        "replicas, or a record that only the leader has can be lost.",
    )
    tombstone_retention_s: float = Field(
        default=30 * 86400.0,
        ge=1,
        description="`delete.retention.ms` of `memories`. An index that was offline for longer may keep deleted memories.",
    )
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        default="PLAINTEXT", description="Protocol to reach the brokers."
    )
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        default="PLAIN", description="SASL mechanism, if the protocol uses SASL."
    )
    sasl_username: str | None = Field(default=None, description="SASL user name.")
    sasl_password: SecretStr | None = Field(default=None, description="SASL password.")
    ssl_cafile: Path | None = Field(default=None, description="CA file for TLS. Default: the system's certificates.")
    max_record_bytes: int = Field(
        default=1_000_000, ge=1024, description="Largest value that Varve accepts or produces. A larger message becomes a dead letter."
    )
    max_message_bytes: int = Field(
        default=4_000_000,
        ge=1024,
        description="`max.message.bytes` of the topics. Must be above `VARVE_KAFKA__MAX_RECORD_BYTES`, so that a producer's larger "
        "record can be read and dead-lettered.",
    )
    linger_ms: int = Field(default=5, ge=0, description="How long the producer waits to fill a batch.")
    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = Field(default="none", description="Compression of the producer.")
    session_timeout_s: float = Field(default=6.0, gt=0, description="A worker that is silent for this long loses its partitions.")
    group_instance_id: str | None = Field(
        default=None,
        min_length=1,
        description="Static member name of a worker, unique and the same after a restart. A worker that returns within the session time-out"
        " keeps its partitions without a rebalance, and does not leave the group when it stops. Default: a new member at each "
        "start.",
    )
    heartbeat_s: float = Field(
        default=0.5,
        gt=0,
        description="Heartbeat interval of a worker, at most a third of the session time-out. A worker learns of a rebalance from the "
        "response to a heartbeat.",
    )
    request_timeout_s: float = Field(default=30.0, gt=0, description="Time-out of one request to a broker.")
    transaction_timeout_s: float = Field(
        default=15.0,
        ge=1,
        le=900,
        description="The broker aborts a transaction that is open for this long. Until then it blocks all readers of its topics.",
    )

    def topic(self, spec: TopicSpec) -> str:
        """A topic's name on the broker."""
        is_single = spec.partitions is not None
        return topic_name(spec, self.control_prefix if is_single and self.control_prefix is not None else self.topic_prefix)

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
    """Redis: session tails, budgets, quotas, caches, and unfinished erasures. All processes need the same values."""

    url: str = Field(default="redis://127.0.0.1:6379/0", description="Address: `redis://`, `rediss://` or `unix://`.")
    prefix: str = Field(default="varve:", description="Prefix of every key.")
    timeout_s: float = Field(default=2.0, gt=0, description="Time-out of one command.")
    tail_ttl_s: float = Field(default=7 * 86400.0, ge=1, description="How long the tail of a silent session is kept.")
    entity_ttl_s: float = Field(
        default=600.0,
        ge=1,
        description="How long a changed entity stays readable by key before the index has it; longer than the index ever lags.",
    )


VectorDatatype = Literal["float32", "float16", "turbo8", "turbo4"]


class StoreSettings(Group):
    """The vector store: Qdrant Edge in a separate process, or a Qdrant server. For `index`, `extraction`, `merging`, the query service."""

    kind: Literal["edge", "server"] = Field(default="edge", description="`edge` (embedded) or `server`.")
    socket: Path | None = Field(default=None, description="Unix socket of the Edge process. Default: `<data>/edge.sock`.")
    url: str = Field(
        default="http://127.0.0.1:6333",
        description="Address of the Qdrant server. Several nodes of a cluster, separated by commas: if one does not answer, Varve asks the"
        " next.",
    )
    grpc_port: int = Field(default=6334, description="gRPC port of the Qdrant server, the same on each node.")
    api_key: SecretStr | None = Field(default=None, description="API key of the Qdrant server.")
    collection: str = Field(default="varve", description="Collection that holds the memories of all tenants.")
    timeout_s: float = Field(default=10.0, gt=0, description="Time-out of one request to the store.")
    replication_factor: int | None = Field(
        default=None,
        ge=1,
        description="Copies of each shard in a collection that Varve creates. Default: the server's.",
    )
    write_consistency_factor: int | None = Field(
        default=None,
        ge=1,
        description="Number of copies that must confirm a write, at most the number of copies. Default: the server's.",
    )
    shard_number: int | None = Field(
        default=None,
        ge=1,
        description="Shards of a collection that Varve creates. Default: the server's, one per node.",
    )
    tenant_shards: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Shards that tenants share in a collection that Varve creates on a cluster. Each tenant is in one of them, until `varve"
        " tenants promote` gives it its own. Default: a tenant's points are spread over all shards.",
    )
    dense_datatype: VectorDatatype = Field(
        default="turbo8",
        description="Data type of text vectors in a collection that Varve creates on a server: `float32`, `float16`, `turbo8` (one byte per"
        " number; Qdrant 1.20) or `turbo4` (half a byte).",
    )
    late_datatype: VectorDatatype = Field(default="turbo4", description="Data type of token vectors, which are far more numerous.")

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the server's nodes."""
        return tuple(each.strip() for each in self.url.split(","))

    @model_validator(mode="after")
    def _addresses_of_nodes(self) -> Self:
        for number, parts in enumerate(map(urlsplit, self.addresses), 1):
            if parts.scheme not in ("http", "https") or not parts.hostname:
                # The address is not named: it may contain a key.
                raise ValueError(f"url: address {number} has no scheme or host; write http://host:6333, several separated by commas")
        return self

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
