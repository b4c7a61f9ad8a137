"""Settings of the stages: windows, timelines, history, delivery."""

from pydantic import Field

from runtime.settings.group import Group


class SessionSettings(Group):
    """The stage `sessions`: when a window closes (VikingMem 3.1: at least 20 messages give the best memories)."""

    message_count: int = Field(default=20, ge=1, description="Once a window has this many messages, it closes at the next pause.")
    message_cap: int = Field(default=40, ge=1, description="A window closes at this many messages, pause or not.")
    token_count: int = Field(default=4000, ge=1, description="A window closes at this many (estimated) tokens.")
    pause_s: float = Field(default=120.0, ge=0, description="Gap in event time that counts as a pause.")
    wait_timeout_s: float = Field(
        default=1800.0, gt=0, description="A session that is silent for this long (event time) closes its window."
    )
    out_of_orderness_s: float = Field(
        default=30.0, ge=0, description="How far messages may be older than the newest message of their partition (event time)."
    )
    idle_partition_s: float = Field(
        default=10.0, gt=0, description="Wall-clock silence after which a partition's event time advances by itself."
    )
    max_future_s: float = Field(
        default=300.0,
        ge=0,
        description="A message whose event time is further ahead of its append time becomes a dead letter. A correction further ahead is "
        "refused.",
    )


class TimelineSettings(Group):
    """Times at which the timers of timelines (TIME_COMPRESS) fire."""

    out_of_orderness_s: float = Field(
        default=3600.0, ge=0, description="How far events may be older than the newest event of their partition (event time)."
    )
    grace_s: float = Field(
        default=60.0,
        gt=0,
        description="A timeline's timer fires only after nothing has arrived for the timeline for this long (wall clock). A partition that "
        "is silent for this long advances its event time by itself.",
    )


class HistorySettings(Group):
    """Limits for the history of entities."""

    steps: int = Field(
        default=256,
        ge=0,
        le=2048,
        description="Steps kept per entity and source partition of `extractions`; the newest replace the oldest. 0: none. A change applies "
        "to new steps.",
    )


class DeliverySettings(Group):
    """Limits and retries of every stage."""

    max_in_flight: int = Field(
        default=1000,
        ge=1,
        description="Records that a worker of `extraction` or `merging` holds in memory; further ones are read again later.",
    )
    max_unacked_span: int = Field(
        default=20_000,
        ge=1,
        description="Records of one partition that a worker of `extraction` or `merging` reads ahead, to find the records of other "
        "tenants during one tenant's flood. Beyond it, waiting records are parked. After a restart, at most so many are read again.",
    )
    max_queued: int = Field(
        default=5000,
        ge=1,
        description="A partition of the other stages, which process records in order, is paused while this many of its records wait.",
    )
    max_queued_bytes: int = Field(
        default=16_000_000, ge=1, description="The same limit in bytes (keys, values and headers). A larger record waits alone."
    )
    max_fetched_bytes: int = Field(
        default=64_000_000,
        ge=1,
        description="Bytes that a worker has fetched and not yet accepted. The last fetch may exceed it.",
    )
    max_batch: int = Field(default=512, ge=1, description="Most records of one partition in a transaction.")
    max_batch_bytes: int = Field(
        default=500_000, ge=1, description="Most bytes of the records in a transaction. A larger record is committed alone."
    )
    batch_interval_s: float = Field(default=0.025, ge=0, description="Shortest time between two batches of a partition. Lets batches grow.")
    max_batch_interval_s: float = Field(
        default=1.0, ge=0, description="Longest time between two batches, used when commits are slow or the stage lags."
    )
    state_cache_bytes: int = Field(
        default=2_000_000, ge=0, description="Size of the state objects that a stage keeps in memory, per partition."
    )
    slots: int = Field(default=16, ge=1, description="Records that a worker of `extraction` or `merging` processes at once.")
    tenant_share: float = Field(default=0.5, gt=0, le=1, description="Share of the slots that one tenant may hold. 1: none is reserved.")
    park_after_s: float = Field(
        default=30.0,
        ge=0,
        description="Records of a tenant that must wait longer than this, for its budget or schema, are parked (`extraction`, `merging`).",
    )
    retry_initial_interval_s: float = Field(
        default=0.2, gt=0, description="Longest wait after a record's first attempt. The actual wait is random up to it (full jitter)."
    )
    retry_backoff_coefficient: float = Field(default=2.0, ge=1, description="Factor by which the longest wait grows after each attempt.")
    retry_maximum_interval_s: float = Field(default=30.0, gt=0, description="Longest wait between two attempts.")
    retry_maximum_attempts: int = Field(
        default=6,
        ge=1,
        description="Attempts that fail through the record's own fault before it becomes a dead letter (`extraction`, `merging`).",
    )
    maximum_crashes: int = Field(
        default=3,
        ge=1,
        description="A record becomes a dead letter when this many worker processes in a row died while they processed it, the last one "
        "while processing only it.",
    )
    drain_timeout_s: float = Field(default=20.0, gt=0, description="How long a stopping worker finishes work in progress.")
    retention_alarm_s: float = Field(
        default=86400.0,
        ge=0,
        description="A stage warns, in its log and at `/readyz`, if Kafka may delete a partition's oldest unprocessed record within this "
        "time.",
    )
    breaker_failures: int = Field(default=5, ge=1, description="Consecutive failures that open a dependency's circuit breaker.")
    breaker_reset_s: float = Field(default=5.0, gt=0, description="How long an open breaker waits before it allows a trial call.")
