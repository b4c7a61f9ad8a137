"""What is seen from outside: recall, the query service, its client, the logs."""

from pathlib import Path
from typing import Final, Literal, get_args

from pydantic import Field, SecretStr, model_validator

from runtime.settings.group import Group

RankingProfile = Literal["learned", "weighted", "memx"]
"""How S_origin comes of the store's scores: by the ranking model, by hand-set weights of the three scores, or by MemX's four factors."""

BUILT_IN_PROFILES: Final[tuple[RankingProfile, ...]] = get_args(RankingProfile)


class RecallSettings(Group):
    """Hybrid recall (VikingMem 3.3)."""

    profile: str = Field(
        default="learned",
        description="How results are ranked, unless the request says otherwise: `learned`, `weighted`, `memx`, or one of "
        "`VARVE_RECALL__PROFILES`.",
    )
    profiles: Path | None = Field(
        default=None,
        description="A JSON file of further ranking profiles by their names, as `varve ranking fit` writes it; read at the start.",
    )
    limit: int = Field(default=10, ge=1, description="Results unless the request says otherwise.")
    context_tokens: int = Field(
        default=2000, ge=100, le=100_000, description="Tokens of a context's block unless the request says otherwise, as estimated."
    )
    deadline_s: float = Field(
        default=20.0,
        gt=0,
        le=60,
        description="From when a recall comes in: what is not found by then is left out of its answer, unless the request says otherwise.",
    )
    prefetch: int = Field(default=64, ge=1, description="Candidates of each of dense and BM25.")
    keyword_quota: int = Field(
        default=0,
        ge=0,
        description="Most of a recall's results that the keyword graph leads to, unless the request says otherwise, and never more than "
        "half of them; 0: it is not asked.",
    )
    time_weight: float = Field(default=0.0, ge=0, le=1, description="w_time of the final score.")
    business_weight: float = Field(default=0.0, ge=0, le=1, description="w_busi of the final score.")
    freshness_window_s: float = Field(default=86400.0, ge=0, description="Memories this young have a temporal score of 1.")
    half_life_s: float = Field(default=30 * 86400.0, gt=0, description="Behind the window, the temporal score halves in this time.")
    min_origin_score: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Results with a lower score of `weighted` (in [0, 1]) are rejected; 0 rejects none.",
    )
    min_confidence: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Where a recall is less sure that the memories answer the query, it has no results, unless the request says otherwise; "
        "0 rejects none.",
    )
    training_share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the recalls whose records in `recalls` also say what was asked, and how the candidates were ranked: what "
        "`varve ranking fit` fits to. A query is personal data: 0 keeps none.",
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
    max_batch: int = Field(default=1000, ge=1, description="Messages in one POST.")
    max_body_bytes: int = Field(default=16_000_000, ge=1024, description="Largest request body.")
    reads_at_once: int = Field(
        default=16, ge=1, description="Reads that run at once; a recall counts once more for every 128 results that it asks for."
    )
    tenant_share: float = Field(default=0.25, gt=0, le=1, description="Part of them that one tenant may hold while others are active.")
    max_queued_reads: int = Field(default=1000, ge=1, description="Reads that wait for their turn; more are answered 429.")
    max_queued_reads_of_tenant: int = Field(default=250, ge=1, description="The same of one tenant.")
    read_queue_timeout_s: float = Field(
        default=5.0, gt=0, description="How long a read waits for its turn before it is answered 429; a recall not beyond its deadline."
    )
    max_connections: int = Field(
        default=500, ge=1, description="Open connections; one more closes the one that has been silent longest, or is answered 503."
    )
    head_timeout_s: float = Field(default=10.0, gt=0, description="How long a client may take over the head of a request.")
    body_timeout_s: float = Field(default=30.0, gt=0, description="How long it may take over the body.")
    write_timeout_s: float = Field(default=30.0, gt=0, description="How long it may leave an answer unread.")
    idle_timeout_s: int = Field(
        default=75,
        ge=1,
        description="How long a connection may be silent between two requests, in whole seconds. Keep it longer than load balancers and "
        "clients do (seldom over 60): else one may send a request into a connection that is just being closed.",
    )
    produce_timeout_s: float = Field(default=5.0, gt=0, description="How long a POST waits for Kafka before it answers 503.")
    embedding_timeout_s: float = Field(default=10.0, gt=0, description="How long a recall waits for the embedding of its query.")
    probe_interval_s: float = Field(default=5.0, gt=0, description="Time between two looks at the dependencies, for `/readyz`.")
    probe_timeout_s: float = Field(default=2.0, gt=0, description="How long such a look waits for each dependency.")
    idempotency_ttl_s: float = Field(
        default=86400.0, ge=1, description="How long the answer to a request with an `Idempotency-Key` is kept."
    )
    idempotency_bytes: int = Field(
        default=16_000_000, ge=256_000, description="Bytes of such answers that are kept of one tenant; the newest stay."
    )
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
