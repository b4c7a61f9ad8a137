"""Think and rank: the proxy model that ranks sessions."""

from pydantic import Field, SecretStr

from runtime.settings.group import Group


class SiftSettings(Group):
    """Recalls with `mode=sift` (MemSifter): a reasoning proxy model ranks a user's sessions."""

    base_url: str | None = Field(
        default=None, description="OpenAI-compatible endpoint of the proxy model; none: `mode=sift` is answered as any recall, and says so."
    )
    api_key: SecretStr | None = Field(default=None, description="Its API key.")
    model: str = Field(default="", description="Its model's name.")
    deadline_s: float = Field(
        default=10.0, gt=0, le=60, description="What it has for an answer, and at most three quarters of the recall's own deadline."
    )
    history_tokens: int = Field(
        default=24_000, ge=256, description="Tokens of the sessions that it is shown, as estimated; where there are more, the nearest."
    )
    memories: int = Field(default=1000, ge=10, le=5000, description="Memories that are read of the store, to show their sessions.")
    max_completion_tokens: int = Field(default=1024, ge=64, description="Longest answer, with what it thinks.")
    concurrency: int = Field(default=8, ge=1, description="Calls at once, over all processes.")
    waiting: int = Field(default=64, ge=1, description="Recalls of a process that wait for it; one more is answered without it.")
    tokens_per_day: int | None = Field(
        default=None,
        ge=0,
        description="Tokens that the calls of a tenant may take in a day (UTC), apart from `VARVE_BUDGET__*`; none if unset.",
    )
