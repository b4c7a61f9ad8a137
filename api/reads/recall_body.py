"""The request bodies of ``/v1/recall`` and ``/v1/context``."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from api.auth.caller import Caller
from api.http.openapi import RequestModel
from api.problems import ProblemError
from memory.errors import KeyFormatError
from memory.keys import entity_key, entity_key_parts, key_part
from memory.records.limits import RequestTime
from memory.records.message import Id, Name
from memory.schema.methods import method_name
from memory.schema.model import MemorySchema
from memory.trust import MinTrust
from retrieval.context import MIN_TOKENS
from retrieval.request import MOST_SIFTED, HistoryContent, RecallMode, SiftOptions
from runtime.settings import RecallSettings
from stores.port import MemoryFilter, TenantScope
from stores.position import FeedPosition

_MAX_NAMES: Final = 64
"""Most kinds, types or keys of one request. The store compares each of them with every candidate."""
_LONGEST_KEY: Final = 4096
"""Characters of an entity's key."""
_MAX_DEADLINE_MS: Final = 60_000
_MAX_PARTITIONS: Final = 1024
_MAX_WHY_NOT: Final = 20
_MAX_TOKENS: Final = 100_000
_MAX_RESULTS: Final = 1000
_LONGEST_WINDOW_S: Final = 10_000 * 86_400


def _not_blank(query: str) -> str:
    if not query.strip():
        raise ValueError("a query needs more than white space")
    return query


def _entity_key(key: str) -> str:
    try:
        entity_key_parts(key)
    except KeyFormatError as error:
        raise ValueError(f"{error}; write it as a memory's entity_key") from error
    return key


def _in_either_spelling(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The keys as given, and as the values of events produce them: a key does not show which of its parts are values of events."""
    alike = (entity_key(*(key_part(part) or part for part in entity_key_parts(key))) for key in keys)
    return tuple(dict.fromkeys(each for both in zip(keys, alike, strict=True) for each in both))


EntityKey = Annotated[str, Field(min_length=1, max_length=_LONGEST_KEY), AfterValidator(_entity_key)]


class WrittenPosition(RequestModel):
    """The position of a record in Kafka, from an earlier response."""

    topic: Name
    partition: int = Field(ge=0, le=2**31 - 1)
    offset: int = Field(ge=0, le=2**63 - 1)


class Written(RequestModel):
    """A message, as in the response of ``POST /v1/messages``, or a change of one. Further fields of that response are ignored."""

    model_config = ConfigDict(extra="ignore")

    id: Id
    position: WrittenPosition


class At(RequestModel):
    """The ``positions`` of an earlier response."""

    memories: tuple[WrittenPosition, ...] = Field(min_length=1, max_length=_MAX_PARTITIONS)
    """Positions of the change feed, one per partition. The response had no memory from partitions that are missing."""
    session: WrittenPosition | None = None
    """Has no effect, since a recall returns the newest messages of a session: so that the positions can be sent as they are."""

    @model_validator(mode="after")
    def _one_of_each_partition(self) -> Self:
        if len({each.partition for each in self.memories}) < len(self.memories):
            raise ValueError("a partition has one position; send the positions of a response unchanged")
        return self

    @property
    def positions(self) -> tuple[FeedPosition, ...]:
        """The positions in the feed."""
        return tuple(FeedPosition(each.partition, each.offset) for each in self.memories)


class SiftBody(RequestModel):
    """Options of ``mode=sift``."""

    history: HistoryContent | None = None
    """The content of the sessions that the model reads: ``turns``, the archived messages, or ``events``, what was extracted. Default:
    ``turns`` if the tenant's method archives messages, else ``events``."""
    sessions: int | None = Field(default=None, ge=1, le=MOST_SIFTED)
    """Number of sessions that the model ranks. Default: the setting."""
    reasoning: bool | None = None
    """Whether the model reasons before it ranks. Default: the setting."""

    def options(self, schema: MemorySchema) -> SiftOptions:
        """The options of the recall.

        Args:
            schema: The tenant's schema.

        Raises:
            ProblemError: 422 if turns are asked for and the tenant's method does not archive them.
        """
        method = schema.method
        if self.history == "turns" and (method is None or not method.archives_turns):
            raise ProblemError(
                422,
                "invalid",
                f"sift.history: the tenant's method {method_name(schema)!r} archives no messages; use events, or a method with "
                "Archive.Turns",
            )
        return SiftOptions(history=self.history, sessions=self.sessions, reasoning=self.reasoning)


class QueryBody(RequestModel):
    """The common fields of a recall and a context."""

    query: Annotated[str, Field(min_length=1, max_length=10_000, json_schema_extra={"pattern": r"\S"}), AfterValidator(_not_blank)]
    user: Id | None = None
    """Only this user's memories, and also the user's nearest entities. Default: the whole tenant's memories."""
    session: Id | None = None
    """The session whose newest messages to return with the results."""
    kinds: tuple[Literal["event", "entity", "summary", "segment"], ...] = Field(default=(), max_length=_MAX_NAMES)
    """Only memories of these kinds. Default: any."""
    types: tuple[Name, ...] = Field(default=(), max_length=_MAX_NAMES)
    """Only memories of these event or entity types. Default: any."""
    sessions: tuple[Id, ...] = Field(default=(), max_length=_MAX_NAMES)
    """Only memories of these sessions. Default: any."""
    keys: tuple[EntityKey, ...] = Field(default=(), max_length=_MAX_NAMES)
    """Keys of entities: only these entities, their summaries, and the events that updated them. Default: any."""
    since: RequestTime | None = None
    """Only memories that may have happened at this time or later."""
    until: RequestTime | None = None
    """Only memories that may have happened before this time."""
    min_trust: MinTrust | None = None
    """Only memories whose sources all have at least this level of trust: ``normal`` or ``trusted``. Default: also untrusted ones."""
    as_of: RequestTime | None = None
    """Only memories that happened at this time or before, and entities as they were then. Default: as they are now."""
    profile: Name | None = None
    """The ranker: ``learned``, ``weighted``, ``memx``, or a profile of the deployment. Default: the setting."""
    mode: RecallMode | None = None
    """``fast``: no model. ``sift``: a proxy model ranks the sessions of the results. ``expand``: a model adds sentences to the query, which
    are also searched. The model may take up to three quarters of the time until the deadline. Default: the mode of the memory method, or
    else ``fast``."""
    sift: SiftBody | None = None
    """Only with ``mode=sift``."""
    keyword_quota: int | None = Field(default=None, ge=0, le=_MAX_RESULTS)
    """Most results from the keyword graph, at most half of all. 0: the graph is not searched. Default: the setting."""
    time_weight: float | None = Field(default=None, ge=0, le=1)
    """Weight of the age in a result's score; with ``business_weight`` at most 1. Default: the setting."""
    business_weight: float | None = Field(default=None, ge=0, le=1)
    """Weight of the importance and of the type's weight in a result's score. Default: the setting."""
    freshness_window_s: float | None = Field(default=None, ge=0, le=_LONGEST_WINDOW_S)
    """Memories younger than this have the full score of ``time_weight``; it halves with age after that. Default: the setting."""
    min_confidence: float | None = Field(default=None, ge=0, le=1)
    """With a lower confidence that the memories answer the query, there are no results. Default: the setting."""
    deadline_ms: int | None = Field(default=None, ge=1, le=_MAX_DEADLINE_MS)
    """Milliseconds from the arrival of the request: parts that are late are left out. Default: the setting."""

    after: Written | None = None
    """A message of the session that must be readable, in its tail or in the index: waits for it, up to three quarters of the time."""

    at: At | None = None
    """Positions of an earlier response: only memories up to these. Waits for the store to reach them, up to three quarters of the time."""

    @model_validator(mode="after")
    def _begins_before_it_ends(self) -> Self:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ValueError("since must be before until: no memory can match")
        return self

    @model_validator(mode="after")
    def _waits_for_one_thing(self) -> Self:
        if self.after is not None and self.at is not None:
            raise ValueError("after reads newer memories, and at reads earlier ones: send only one of them")
        return self

    @model_validator(mode="after")
    def _options_match_the_mode(self) -> Self:
        if self.sift is not None and self.mode != "sift":
            raise ValueError(f"sift has options of the mode 'sift', and the mode is {self.mode!r}: set the mode, or omit sift")
        return self

    @model_validator(mode="after")
    def _written_in_the_session(self) -> Self:
        if self.after is not None and self.session is None:
            raise ValueError("after needs the session that the message was sent in")
        return self

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
            min_trust=self.min_trust,
            at=() if self.at is None else self.at.positions,
            generation=caller.tenant.generation,
        )

    def check_weights(self, settings: RecallSettings) -> None:
        """Checks that the weights leave a share of the score for the query.

        Args:
            settings: The defaults of weights that the body does not have.

        Raises:
            ProblemError: 422 if the weights exceed 1 together.
        """
        weights = {
            "time_weight": (self.time_weight, settings.time_weight),
            "business_weight": (self.business_weight, settings.business_weight),
        }
        if sum(default if given is None else given for given, default in weights.values()) > 1:
            shown = (
                f"{default:g} (VARVE_RECALL__{name.upper()})" if given is None else f"{given:g}"
                for name, (given, default) in weights.items()
            )
            raise ProblemError(422, "invalid", f"time_weight and business_weight: together at most 1, got {' and '.join(shown)}")


class RecallBody(QueryBody):
    """A query to the memory."""

    limit: int | None = Field(default=None, ge=1, le=_MAX_RESULTS)
    """Most results. Default: the setting."""
    explain: bool = False
    """Adds the parts of each score, and each result's rank among the candidates by each part."""
    why_not: tuple[Name, ...] = Field(default=(), max_length=_MAX_WHY_NOT)
    """Ids of memories or messages: explains why each is not returned. Messages are those of the body's session if it has one."""


class ContextBody(QueryBody):
    """A query for a text that a prompt can include."""

    tokens: int | None = Field(default=None, ge=MIN_TOKENS, le=_MAX_TOKENS)
    """Most tokens of the text. Default: the setting."""
    said: bool = False
    """An event that a model worded is followed by the words of its first message."""
