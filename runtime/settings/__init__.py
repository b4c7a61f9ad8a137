"""The one settings object. Every value comes from the environment (``VARVE_KAFKA__BOOTSTRAP``) or a ``.env`` file, or is the default.

``docs/reference/settings.md`` lists every value; a test holds that table equal to this package.
"""

import os
from functools import lru_cache
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from memory.topics import ALL
from runtime.settings.access import ControlSettings, OidcSettings, QuotaSettings, SigningSettings
from runtime.settings.infrastructure import KafkaSettings, RedisSettings, StoreSettings
from runtime.settings.models import (
    BudgetSettings,
    EmbeddingSettings,
    EndpointSettings,
    ExpansionSettings,
    ExtractionSettings,
    LLMSettings,
    MergingSettings,
    RecallModelSettings,
    SiftFilter,
    SiftSettings,
    TopicsSettings,
)
from runtime.settings.recall import BUILT_IN_PROFILES, RankingProfile, RecallSettings
from runtime.settings.service import (
    ClientSettings,
    ConsoleSettings,
    McpSettings,
    Mem0Settings,
    ProofSettings,
    ReadAuditSettings,
    RetentionSettings,
    ServiceSettings,
    TrustSettings,
    VikingSettings,
    WebhookSettings,
)
from runtime.settings.stages import DeliverySettings, HistorySettings, SessionSettings, TimelineSettings
from runtime.settings.telemetry import CanarySettings, LogSettings, TracingSettings

__all__ = [
    "BUILT_IN_PROFILES",
    "BudgetSettings",
    "CanarySettings",
    "ClientSettings",
    "ConsoleSettings",
    "ControlSettings",
    "DeliverySettings",
    "EmbeddingSettings",
    "EndpointSettings",
    "ExpansionSettings",
    "ExtractionSettings",
    "HistorySettings",
    "KafkaSettings",
    "LLMSettings",
    "LogSettings",
    "McpSettings",
    "Mem0Settings",
    "MergingSettings",
    "OidcSettings",
    "ProofSettings",
    "QuotaSettings",
    "RankingProfile",
    "ReadAuditSettings",
    "RecallModelSettings",
    "RecallSettings",
    "RedisSettings",
    "RetentionSettings",
    "ServiceSettings",
    "SessionSettings",
    "Settings",
    "SiftFilter",
    "SiftSettings",
    "SigningSettings",
    "StoreSettings",
    "TimelineSettings",
    "TopicsSettings",
    "TracingSettings",
    "TrustSettings",
    "VikingSettings",
    "WebhookSettings",
    "settings",
]


class Settings(BaseSettings):
    """All settings of Varve."""

    model_config = SettingsConfigDict(
        env_prefix="VARVE_",
        env_nested_delimiter="__",
        env_file=".env",
        extra="ignore",
        frozen=True,
    )

    data: Path = Field(default=Path(".varve"), description="Folder for local state: the workers' tables, and the data of `varve dev`.")
    cache: Path | None = Field(
        default=None,
        description="Folder for files that can be downloaded or built again, such as Kafka's jars and models. Default: "
        "`$XDG_CACHE_HOME/varve`.",
    )
    tenants_file: Path | None = Field(
        default=None,
        description="File of tenants that `varve dev` imports while the control log is empty. Default: `<data>/tenants.json`.",
    )
    metrics_port: int = Field(default=0, ge=0, le=65535, description="Port of a process's health and metrics page. 0: a free port.")
    metrics_tenants: int = Field(
        default=20,
        ge=0,
        le=1000,
        description="Number of tenants that metrics name, in the order in which the process meets them; all others are counted as `other`.",
    )
    metrics_host: str = Field(default="127.0.0.1", description="Address of the health and metrics page.")
    kafka: KafkaSettings = KafkaSettings()
    control: ControlSettings = ControlSettings()
    redis: RedisSettings = RedisSettings()
    store: StoreSettings = StoreSettings()
    signing: SigningSettings = SigningSettings()
    sessions: SessionSettings = SessionSettings()
    timelines: TimelineSettings = TimelineSettings()
    history: HistorySettings = HistorySettings()
    delivery: DeliverySettings = DeliverySettings()
    llm: LLMSettings = LLMSettings()
    budget: BudgetSettings = BudgetSettings()
    quota: QuotaSettings = QuotaSettings()
    retention: RetentionSettings = RetentionSettings()
    trust: TrustSettings = TrustSettings()
    read_audit: ReadAuditSettings = ReadAuditSettings()
    proof: ProofSettings = ProofSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    merging: MergingSettings = MergingSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    recall: RecallSettings = RecallSettings()
    sift: SiftSettings = SiftSettings()
    expansion: ExpansionSettings = ExpansionSettings()
    topics: TopicsSettings = TopicsSettings()
    service: ServiceSettings = ServiceSettings()
    mcp: McpSettings = McpSettings()
    mem0: Mem0Settings = Mem0Settings()
    oidc: OidcSettings = OidcSettings()
    viking: VikingSettings = VikingSettings()
    console: ConsoleSettings = ConsoleSettings()
    webhooks: WebhookSettings = WebhookSettings()
    client: ClientSettings = ClientSettings()
    canary: CanarySettings = CanarySettings()
    log: LogSettings = LogSettings()
    tracing: TracingSettings = TracingSettings()

    @property
    def cache_path(self) -> Path:
        """The effective cache folder."""
        return self.cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "varve"

    @property
    def tenants_path(self) -> Path:
        """Path of the tenants' file that a stack imports."""
        return self.tenants_file or self.data / "tenants.json"

    @property
    def edge_socket(self) -> Path:
        """Address of the Edge process."""
        return self.store.socket or self.data / "edge.sock"

    def topic(self, name: str) -> str:
        """A topic's name on the broker."""
        spec = next((each for each in ALL if each.name == name), None)
        return f"{self.kafka.topic_prefix}{name}" if spec is None else self.kafka.topic(spec)


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process, read once."""
    return Settings()
