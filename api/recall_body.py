"""What a caller asks of the memory, as ``/v1/recall`` and ``/v1/context`` take it."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from api.authentication import Caller
from api.openapi import RequestModel
from api.problems import ProblemError
from memory.errors import KeyFormatError
from memory.keys import entity_key, entity_key_parts, key_part
from memory.records.limits import Time
from memory.records.message import Name
from memory.schema.model import MemorySchema
from retrieval.context import MIN_TOKENS
from retrieval.request import RecallRequest
from runtime.settings import RecallSettings
from stores.port import MemoryFilter, TenantScope
from stores.position import FeedPosition

RecallMode = Literal["fast", "expand", "sift"]
"""What a model does for a recall before it searches."""

_MAX_NAMES: Final = 64
"""Most kinds, types or keys of one request. Each is a condition that the store compares every candidate with."""
_LONGEST_KEY: Final = 4096
"""Of an entity's key, in characters."""
_MAX_DEADLINE_MS: Final = 60_000
_MAX_PARTITIONS: Final = 1024
_MAX_WHY_NOT: Final = 20
_MAX_TOKENS: Final = 100_000
_MAX_RESULTS: Final = 1000


def _not_blank(query: str) -> str:
    if not query.strip():
        raise ValueError("a query has to be more than white space")
    return query


def _entity_key(key: str) -> str:
    try:
        entity_key_parts(key)
    except KeyFormatError as error:
        raise ValueError(f"{error}; write it as a memory's entity_key") from error
    return key


def _in_either_spelling(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The keys as they are written, and as events' values give them: a key alone does not tell which of its parts are of those."""
    alike = (entity_key(*(key_part(part) or part for part in entity_key_parts(key))) for key in keys)
    return tuple(dict.fromkeys(each for both in zip(keys, alike, strict=True) for each in both))


EntityKey = Annotated[str, Field(min_length=1, max_length=_LONGEST_KEY), AfterValidator(_entity_key)]


class WrittenPosition(RequestModel):
    """Where a record lies in Kafka, as an answer said it."""

    topic: Name
    partition: int = Field(ge=0, le=2**31 - 1)
    offset: int = Field(ge=0, le=2**63 - 1)


class Written(RequestModel):
    """A message, as ``POST /v1/messages`` answered for it."""

    id: Name
    position: WrittenPosition


class At(RequestModel):
    """What an earlier answer rested on, of its ``positions``."""

    memories: tuple[WrittenPosition, ...] = Field(min_length=1, max_length=_MAX_PARTITIONS)
    """Places of the change feed, one of a partition. Of a partition that is not named, the answer had no memory."""

    @model_validator(mode="after")
    def _one_of_each_partition(self) -> Self:
        if len({each.partition for each in self.memories}) < len(self.memories):
            raise ValueError("a partition has one position; send what an answer's positions say")
        return self

    @property
    def positions(self) -> tuple[FeedPosition, ...]:
        """The places in the feed."""
        return tuple(FeedPosition(each.partition, each.offset) for each in self.memories)


class QueryBody(RequestModel):
    """What a recall and a context have in common."""

    query: Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S"), AfterValidator(_not_blank)]
    user: Name | None = None
    """Only this user's memories, and with them this user's nearest entities; None: the whole tenant's memories."""
    session: Name | None = None
    """The session whose newest messages to return with the results."""
    kinds: tuple[Literal["event", "entity", "summary", "segment"], ...] = Field(default=(), max_length=_MAX_NAMES)
    """Only memories of these kinds; empty: any."""
    types: tuple[Name, ...] = Field(default=(), max_length=_MAX_NAMES)
    """Only memories of these event or entity types; empty: any."""
    sessions: tuple[Name, ...] = Field(default=(), max_length=_MAX_NAMES)
    """Only memories that come of these sessions; empty: any."""
    keys: tuple[EntityKey, ...] = Field(default=(), max_length=_MAX_NAMES)
    """Keys of entities: only these entities, their summaries, and the events that have fed them; empty: any."""
    since: Time | None = None
    """Only memories whose event time is not before this one."""
    until: Time | None = None
    """Only memories whose event time is before this one."""
    as_of: Time | None = None
    """Only what had happened by then, and the entities as they were; None: as they are now."""
    profile: Name | None = None
    """How results are ranked: ``learned``, ``weighted``, ``memx``, or a profile of the deployment's own; None: the setting."""
    mode: RecallMode = "fast"
    """``sift``: a proxy model ranks the sessions that the results come of. ``expand``: a model adds sentences to the query, which are
    searched, too. Either may take up to three quarters of the time to the deadline."""
    keyword_quota: int | None = Field(default=None, ge=0, le=_MAX_RESULTS)
    """Most results that the keyword graph leads to, and never more than half of them; 0: it is not asked. None: the setting."""
    time_weight: float | None = Field(default=None, ge=0, le=1)
    """How much of a result's score its age makes; None: the setting. With ``business_weight`` at most 1."""
    business_weight: float | None = Field(default=None, ge=0, le=1)
    """How much of a result's score its importance and its type's weight make; None: the setting."""
    min_confidence: float | None = Field(default=None, ge=0, le=1)
    """Where the recall is less sure that the memories answer the query, it has no results; None: the setting."""
    deadline_ms: int | None = Field(default=None, ge=1, le=_MAX_DEADLINE_MS)
    """From when the request comes in, in milliseconds: what is not found by then is left out; None: the setting."""

    after: Written | None = None
    """A message of the session that has to be there, in its tail or in the index: this waits for it, up to three quarters of the time."""

    at: At | None = None
    """Positions of an earlier answer: only memories as old as these, which are waited for up to three quarters of the time."""

    @model_validator(mode="after")
    def _waits_for_one_thing(self) -> Self:
        if self.after is not None and self.at is not None:
            raise ValueError("after asks for what is new, and at for what was: send one of them")
        return self

    @model_validator(mode="after")
    def _written_in_the_session(self) -> Self:
        if self.after is not None and self.session is None:
            raise ValueError("after needs the session that the message was sent in")
        return self

    def request_of(
        self,
        caller: Caller,
        schema: MemorySchema,
        *,
        settings: RecallSettings,
        limit: int | None,
        explain: bool = False,
        trace: bool = False,
    ) -> RecallRequest:
        """The recall of the memories that this asks for.

        Args:
            caller: Whose key it came with.
            schema: The tenant's.
            settings: What holds where this says nothing.
            limit: Most results; None: the setting.
            explain: Whether the parts of each score are asked for.
            trace: Whether it is asked what became of each candidate.

        Raises:
            ProblemError: 403 if it names another user than the key's; 422 if its weights, or one of them and the setting's other, exceed 1
                together.
        """
        self._require_room_for_the_origin(settings)
        return RecallRequest(
            filter=self.memory_filter(caller),
            query=self.query,
            limit=limit,
            type_weights={event_type.name: event_type.weight for event_type in schema.event_types},
            profile=self.profile,
            keyword_quota=self.keyword_quota,
            time_weight=self.time_weight,
            business_weight=self.business_weight,
            min_confidence=self.min_confidence,
            explain=explain,
            trace=trace,
        )

    def memory_filter(self, caller: Caller) -> MemoryFilter:
        """The memories that may be returned.

        Args:
            caller: The owner of the request's key, which determines the tenant.

        Raises:
            ProblemError: 403 if the body names another user than the key's.
        """
        return MemoryFilter(
            scope=TenantScope(caller.tenant.id, caller.user_of(self.user)),
            kinds=self.kinds,
            types=self.types,
            sessions=self.sessions,
            keys=_in_either_spelling(self.keys),
            since=self.since,
            until=self.until,
            as_of=self.as_of,
            at=() if self.at is None else self.at.positions,
            generation=caller.tenant.generation,
        )

    def _require_room_for_the_origin(self, settings: RecallSettings) -> None:
        weights = {
            "time_weight": (self.time_weight, settings.time_weight),
            "business_weight": (self.business_weight, settings.business_weight),
        }
        if sum(set_ if asked is None else asked for asked, set_ in weights.values()) > 1:
            told = (
                f"{set_:g} (VARVE_RECALL__{name.upper()})" if asked is None else f"{asked:g}" for name, (asked, set_) in weights.items()
            )
            raise ProblemError(422, "invalid", f"time_weight and business_weight: together at most 1, got {' and '.join(told)}")


class RecallBody(QueryBody):
    """A query to the memory."""

    limit: int | None = Field(default=None, ge=1, le=_MAX_RESULTS)
    """Most results; None: the setting."""
    explain: bool = False
    """Adds the parts of each score, and each result's place among the candidates by each of them."""
    why_not: tuple[Name, ...] = Field(default=(), max_length=_MAX_WHY_NOT)
    """Ids of memories or messages: tells of each where it stopped. Of messages, those of the body's session where one is given."""


class ContextBody(QueryBody):
    """What a prompt needs to know."""

    tokens: int | None = Field(default=None, ge=MIN_TOKENS, le=_MAX_TOKENS)
    """Most tokens of the block; None: the setting."""
    said: bool = False
    """An event that a model worded stands there with what its first message says."""
