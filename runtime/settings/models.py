"""Settings of models: endpoints for LLMs and embeddings, the models that a recall calls, budgets, prompts."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from memory.redaction import RedactedKind
from runtime.settings.group import Group

ResponseFormat = Literal["auto", "json_schema", "json_object", "none"]


class LLMSettings(Group):
    """The LLM endpoints of the stages `extraction` and `merging`. Default: none; rules extract."""

    base_url: str | None = Field(default=None, description="OpenAI-compatible endpoint. Default: none, so rules extract.")
    api_key: SecretStr | None = Field(default=None, description="API key of the endpoint.")
    model: str = Field(default="", description="Name of the model.")
    fallbacks: tuple["EndpointSettings", ...] = Field(
        default=(),
        description="Further endpoints in order of priority: a JSON list of `{base_url, model, api_key}`. Each may also set "
        "`response_format`, `temperature`, `max_completion_tokens`, time-outs and limits.",
    )
    response_format: ResponseFormat = Field(default="auto", description="How to request JSON. `auto` finds out and remembers.")
    temperature: float = Field(default=0.0, ge=0, description="Sampling temperature.")
    max_completion_tokens: int = Field(default=4096, ge=16, description="Longest answer in tokens, including a reasoning model's thoughts.")
    context_tokens: int = Field(default=32_000, ge=512, description="Context length of the model. Prompts are cut to fit.")
    first_token_timeout_s: float = Field(default=30.0, gt=0, description="Time-out until the first token.")
    timeout_s: float = Field(default=120.0, gt=0, description="Time-out of a whole call.")
    hedge_after_s: float | None = Field(
        default=None, description="After this long without an answer, the next endpoint is asked as well. Default: off."
    )
    concurrency: int = Field(default=8, ge=1, description="Concurrent calls per endpoint, across all workers.")
    requests_per_minute: int | None = Field(default=None, ge=1, description="Request rate limit across all workers. Default: no limit.")
    tokens_per_minute: int | None = Field(default=None, ge=1, description="Token rate limit across all workers. Default: no limit.")
    queue_timeout_s: float = Field(default=60.0, gt=0, description="How long a call waits for its turn under these limits.")
    lease_s: float = Field(default=15.0, gt=0, description="Time after which the slot of a killed worker under these limits is free again.")
    cache_ttl_s: float = Field(default=7 * 86400.0, ge=0, description="How long an answer is kept for a redelivered window. 0: not at all.")
    price_table: Path | None = Field(
        default=None, description="JSON file `{model: {prompt, cached, completion}}` with prices per million tokens."
    )


class BudgetSettings(Group):
    """Budgets of LLM calls, per tenant and day (UTC)."""

    soft_tokens: int | None = Field(
        default=None,
        ge=0,
        description="Daily tokens per tenant above which Varve warns and defers windows to off-peak hours. Default: no limit.",
    )
    hard_tokens: int | None = Field(default=None, ge=0, description="Hard daily token limit per tenant. Default: no limit.")
    soft_cost: float | None = Field(default=None, ge=0, description="The soft limit as a cost. Needs the price table. Default: no limit.")
    hard_cost: float | None = Field(default=None, ge=0, description="The hard limit as a cost. Needs the price table. Default: no limit.")
    policy: Literal["wait", "offline"] = Field(
        default="wait",
        description="What happens to windows above the hard limit: `wait` for the next day, or extract `offline`, by rules.",
    )
    off_peak_start_hour: int | None = Field(
        default=None,
        ge=0,
        le=23,
        description="Hour (UTC) at which windows deferred by the soft limit are extracted. Default: nothing is deferred.",
    )
    off_peak_hours: int = Field(default=8, ge=1, le=24, description="Length of the off-peak time in hours.")
    reextraction_share: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="Share of the smaller daily limit up to which re-extractions may use it, together with the tenant's other calls. The "
        "rest is for live windows.",
    )

    @property
    def is_a_cost(self) -> bool:
        """Whether any limit is a cost, which requires a price table."""
        return self.soft_cost is not None or self.hard_cost is not None

    @property
    def for_reextractions(self) -> "BudgetSettings":
        """The budget of a re-extraction's calls: none is made once all calls of the day have used the share of the smaller limit."""
        tokens = [each for each in (self.soft_tokens, self.hard_tokens) if each is not None]
        costs = [each for each in (self.soft_cost, self.hard_cost) if each is not None]
        return BudgetSettings(
            hard_tokens=int(self.reextraction_share * min(tokens)) if tokens else None,
            hard_cost=self.reextraction_share * min(costs) if costs else None,
        )


class EndpointSettings(Group):
    """A further OpenAI-compatible endpoint; unset values are those of the first endpoint."""

    base_url: str = Field(description="Its address.")
    api_key: SecretStr | None = Field(default=None, description="Its API key.")
    model: str = Field(description="Its model's name.")
    response_format: ResponseFormat | None = Field(default=None, description="How to ask for JSON.")
    temperature: float | None = Field(default=None, ge=0, description="Sampling temperature.")
    max_completion_tokens: int | None = Field(
        default=None, ge=16, description="Maximum length of an answer in tokens, including a reasoning model's thoughts."
    )
    first_token_timeout_s: float | None = Field(default=None, gt=0, description="Time-out until the first token.")
    timeout_s: float | None = Field(default=None, gt=0, description="Time-out of a whole call.")
    concurrency: int | None = Field(default=None, ge=1, description="Concurrent calls of all workers together.")
    requests_per_minute: int | None = Field(default=None, ge=1, description="Requests per minute of all workers together.")
    tokens_per_minute: int | None = Field(default=None, ge=1, description="Tokens per minute of all workers together.")


class ExtractionSettings(Group):
    """The stage `extraction`: limits of the prompt, calls per window, and thresholds for repeated events."""

    summary_tokens: int = Field(default=400, ge=0, description="Longest session summary in a prompt, in estimated tokens.")
    entity_tokens: int = Field(default=250, ge=16, description="Longest entity in a prompt, in estimated tokens.")
    entities_tokens: int = Field(default=2000, ge=0, description="All entities in a prompt together, in estimated tokens.")
    window_tokens: int = Field(
        default=8000, ge=256, description="All messages in a prompt together, in estimated tokens; the longest are cut first."
    )
    attempts: int = Field(
        default=3,
        ge=1,
        description="Times that the model is asked for a window, each with one repair, before the window becomes a dead letter.",
    )
    context_ttl_s: float = Field(
        default=7 * 86400.0,
        ge=1,
        description="How long a window's entities and a session's history are kept, so that a repeated extraction gets the same prompt.",
    )
    duplicate_similarity: float = Field(
        default=0.95, gt=0, le=1, description="Cosine from which two events of a session that differ in no fact are merged."
    )
    doubtful_similarity: float = Field(
        default=0.85, gt=0, le=1, description="Cosine from which an LLM is asked whether two events are the same. Below it both stay."
    )


class MergingSettings(Group):
    """Merging of entities' texts (`LLM_MERGE`)."""

    attempts: int = Field(default=2, ge=1, description="Times that the model is asked for a merge before the rule merges.")
    lookup_wait_s: float = Field(
        default=10.0,
        gt=0,
        description="Longest time that a question which looks up similar memories waits until the index has what was in the log before it. "
        "Then it looks up what there is.",
    )


class EmbeddingSettings(Group):
    """The embedding model. `extraction`, `merging`, `index` and the query service need the same values."""

    kind: Literal["minilm", "openai", "fastembed"] = Field(
        default="minilm", description="`minilm` (bundled), `openai` (any compatible endpoint) or `fastembed`."
    )
    model: str = Field(default="all-MiniLM-L6-v2", description="Name of the model, stored with every point.")
    base_url: str | None = Field(default=None, description="Address of the embeddings endpoint (`openai`).")
    api_key: SecretStr | None = Field(default=None, description="API key of the endpoint.")
    dimension: int = Field(default=384, ge=1, description="Dimension of the dense vectors.")
    compute_type: Literal["int8", "float32"] = Field(default="int8", description="Arithmetic of the bundled model.")
    threads: int = Field(default=1, ge=1, description="Threads of the bundled model, per process.")
    max_chars: int = Field(
        default=8000,
        ge=1,
        description="Longer texts are cut to this many characters before they are sent to an endpoint. 8000 characters are about 2,000 "
        "tokens of English or 8,000 of Chinese; for a model with a limit of 512 tokens use 1500 or 400.",
    )
    redact: tuple[RedactedKind, ...] = Field(
        default=(),
        description='Kinds of personal data that an endpoint (`openai`) does not see, for all tenants, as JSON: `["email", "phone"]`. '
        "Placeholders take its place.",
    )
    batch_size: int = Field(default=32, ge=1, description="Texts in one batch.")
    cache_entries: int = Field(
        default=2000, ge=0, description="Embeddings kept in memory by content hash; each takes about 22 kB with token vectors."
    )
    handover_s: float = Field(
        default=60.0,
        ge=0,
        description="How long vectors of the extraction stage wait in Redis for the index stage, so that no text is embedded twice. 0: the "
        "index embeds each text.",
    )


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


SiftFilter = Literal["recall", "bm25", "cosine"]
"""How ``sift`` selects the sessions that its model reads."""


class SiftSettings(RecallModelSettings):
    """Recalls with `mode=sift` (MemSifter): a reasoning proxy model ranks a user's sessions."""

    history_tokens: int = Field(
        default=24_000,
        ge=256,
        description="Tokens of the sessions shown to the model, as estimated; `VARVE_SIFT__FILTER` selects them if there are more.",
    )
    filter: SiftFilter = Field(
        default="recall",
        description="How the sessions are selected if not all fit: by the `recall` scores of their memories, by `bm25`, or by `cosine`.",
    )
    sessions: int = Field(default=10, ge=1, le=15, description="Sessions that the model ranks. A request may override it.")
    reasoning: bool = Field(
        default=True, description="The model reasons before it ranks. A request may override it. Without, it is faster and less accurate."
    )
    training_tenants: tuple[str, ...] = Field(
        default=(),
        description="Tenants that have agreed that their memories, recalls and feedback train the model, as a JSON list. Default: none.",
    )
    memories: int = Field(
        default=2000, ge=10, le=10_000, description="Memories read from the store to show their sessions; of more, the nearest 64 sessions."
    )


class ExpansionSettings(RecallModelSettings):
    """Recalls with `mode=expand`: a model writes possible answers to a query, which are searched, too."""

    deadline_s: float = Field(
        default=3.0, gt=0, le=60, description="Time limit of a call; at most three quarters of the recall's own deadline."
    )
    max_completion_tokens: int = Field(default=256, ge=64, description="Longest answer in tokens, including a reasoning model's thoughts.")
    cache_ttl_s: float = Field(default=86400.0, ge=0, description="How long the sentences for a question are kept in Redis. 0: not at all.")


class TopicsSettings(RecallModelSettings):
    """Recalls of a memory method with the retriever `topics` (MemoChat): a model selects topics of past conversations."""

    deadline_s: float = Field(
        default=3.0, gt=0, le=60, description="Time limit of a call; at most three quarters of the recall's own deadline."
    )
    max_completion_tokens: int = Field(default=256, ge=64, description="Longest answer in tokens, including a reasoning model's thoughts.")
    topics: int = Field(
        default=60, ge=2, le=500, description="Topics shown to the model, about 50 tokens each; if there are more, the nearest are shown."
    )
