"""Settings of models that a recall calls synchronously."""

from pydantic import Field, SecretStr

from runtime.settings.group import Group


class RecallModelSettings(Group):
    """Common settings of these models."""

    base_url: str | None = Field(
        default=None, description="OpenAI-compatible endpoint. Default: none; recalls that ask for it are answered without it and say so."
    )
    api_key: SecretStr | None = Field(default=None, description="API key of the endpoint.")
    model: str = Field(default="", description="Name of the model.")
    deadline_s: float = Field(
        default=10.0, gt=0, le=60, description="Time limit of a call; at most three quarters of the recall's own deadline."
    )
    max_completion_tokens: int = Field(default=1024, ge=64, description="Longest answer in tokens, including a reasoning model's thoughts.")
    concurrency: int = Field(default=8, ge=1, description="Concurrent calls across all processes.")
    waiting: int = Field(
        default=64, ge=1, description="Recalls of a process that wait for the model; further ones are answered without it."
    )
    tokens_per_day: int | None = Field(
        default=None,
        ge=0,
        description="Daily token limit per tenant (UTC), separate from `VARVE_BUDGET__*`. Default: no limit.",
    )


class SiftSettings(RecallModelSettings):
    """Recalls with `mode=sift` (MemSifter): a reasoning proxy model ranks a user's sessions."""

    history_tokens: int = Field(
        default=24_000,
        ge=256,
        description="Tokens of the sessions shown to the model, as estimated; if there are more, the nearest are shown.",
    )
    memories: int = Field(default=1000, ge=10, le=5000, description="Memories read from the store to show their sessions.")


class ExpansionSettings(RecallModelSettings):
    """Recalls with `mode=expand`: a model writes possible answers to a query, which are searched, too."""

    deadline_s: float = Field(
        default=3.0, gt=0, le=60, description="Time limit of a call; at most three quarters of the recall's own deadline."
    )
    max_completion_tokens: int = Field(default=256, ge=64, description="Longest answer in tokens, including a reasoning model's thoughts.")
    cache_ttl_s: float = Field(default=86400.0, ge=0, description="How long the sentences for a question are kept in Redis. 0: not at all.")
