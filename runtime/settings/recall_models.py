"""Models that a recall asks while its caller waits."""

from pydantic import Field, SecretStr

from runtime.settings.group import Group


class RecallModelSettings(Group):
    """Any of them."""

    base_url: str | None = Field(
        default=None, description="OpenAI-compatible endpoint of the model; none: what asks for it is answered without it, and says so."
    )
    api_key: SecretStr | None = Field(default=None, description="Its API key.")
    model: str = Field(default="", description="Its model's name.")
    deadline_s: float = Field(
        default=10.0, gt=0, le=60, description="What it has for an answer, and at most three quarters of the recall's own deadline."
    )
    max_completion_tokens: int = Field(default=1024, ge=64, description="Longest answer, with what it thinks.")
    concurrency: int = Field(default=8, ge=1, description="Calls at once, over all processes.")
    waiting: int = Field(default=64, ge=1, description="Recalls of a process that wait for it; one more is answered without it.")
    tokens_per_day: int | None = Field(
        default=None,
        ge=0,
        description="Tokens that the calls of a tenant may take in a day (UTC), apart from `VARVE_BUDGET__*`; none if unset.",
    )


class SiftSettings(RecallModelSettings):
    """Recalls with `mode=sift` (MemSifter): a reasoning proxy model ranks a user's sessions."""

    history_tokens: int = Field(
        default=24_000, ge=256, description="Tokens of the sessions that it is shown, as estimated; where there are more, the nearest."
    )
    memories: int = Field(default=1000, ge=10, le=5000, description="Memories that are read of the store, to show their sessions.")


class ExpansionSettings(RecallModelSettings):
    """Recalls with `mode=expand`: a model says in which words a query may be answered, and these are searched, too."""

    deadline_s: float = Field(
        default=3.0, gt=0, le=60, description="What it has for an answer, and at most three quarters of the recall's own deadline."
    )
    max_completion_tokens: int = Field(default=256, ge=64, description="Longest answer, with what it thinks.")
    cache_ttl_s: float = Field(default=86400.0, ge=0, description="How long an answer is kept in Redis for the same query; 0: not at all.")
