"""Response models of the routes for messages, corrections and dead letters, for the OpenAPI document."""

from typing import Any, Final, Literal

from pydantic import ConfigDict, Field, RootModel

from api.http.openapi import ResponseModel, Responses, Schema, answers

STATUS: Final[Schema] = {
    "Idempotency-Status": {
        "description": "With an `Idempotency-Key`: whether the response was stored, replayed, or not stored.",
        "schema": {"type": "string", "enum": ["kept", "replayed", "not-kept"]},
    }
}


LIMITS: Final = {
    "RateLimit-Policy": {"description": "The quotas that the request counts against, if any.", "schema": {"type": "string"}},
    "RateLimit": {"description": "The remainder of these quotas.", "schema": {"type": "string"}},
}


class Position(ResponseModel):
    """The position of a record in Kafka."""

    topic: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)


class Accepted(ResponseModel):
    """A message that is durable."""

    id: str
    position: Position
    repeated: bool = False
    """The id was sent within a day, with equal content: the message is stored once."""
    changed: bool = False
    """The id was sent within a day, with other content: the message was not stored. Edit it with `PUT`."""


class Outcome(ResponseModel):
    """The outcome of one message of a batch: its position, or the problem."""

    index: int = Field(ge=0)
    status: int
    id: str = ""
    position: Position | None = None
    repeated: bool = False
    """See `Accepted`."""
    changed: bool = False
    """See `Accepted`."""
    problem: dict[str, Any] = Field(default_factory=dict)


class Outcomes(ResponseModel):
    """The outcome of each message of a batch, in order."""

    items: list[Outcome]
    repeated: int = 0
    """Number of items with `repeated`."""
    changed: int = 0
    """Number of items with `changed`."""


class AcceptedMessages(RootModel[Accepted | Outcomes]):
    """The position of one message, or the outcome of each message of a batch."""


class MessageChanged(ResponseModel):
    """A change of a message that is durable."""

    id: str
    position: Position
    """The position of the change, for a recall's `after`."""
    outcome: Literal["edited", "deleted", "unchanged", "pending"]
    """`pending` (202): the sessions stage has not answered in time; the change is applied when it reaches the position."""


class Flushed(ResponseModel):
    """The position of the command in each partition that it was sent to."""

    positions: list[Position]


class Corrected(ResponseModel):
    """A correction that is durable, or that would change nothing."""

    id: str | None = None
    """Missing: nothing was recorded."""
    memory_id: str
    outcome: Literal["accepted", "unchanged"]
    """`unchanged`: the memory has these values already, or an equal correction is on its way; nothing was recorded."""
    position: Position | None = None
    """Missing: nothing was recorded."""


class RemainingContent(ResponseModel):
    """Content of an invalidated or replaced event that is left elsewhere."""

    what: Literal["event", "summary", "segment", "message"]
    """The kind of a memory, or `message` for a message in the log."""
    id: str
    reason: str


class Replaced(Corrected):
    """A correction that is durable."""

    remaining: list[RemainingContent] | None = None
    """The memories that still have the content or values of the event that the correction replaces. Missing: it replaces none, or the store
    could not be queried."""


class Invalidated(Corrected):
    """An invalidation that is durable."""

    remaining: list[RemainingContent] | None = None
    """The memories that still have the content of the event. Missing: the store could not be queried."""


class Deleted(Corrected):
    """A deletion that is durable."""

    remaining: list[RemainingContent] | None = None
    """The memories and messages that still have the content of the event. Missing: the store could not be queried, or the request is a
    repetition."""


class UserErasure(ResponseModel):
    """An erasure of a user that has begun."""

    subject: str
    """The SHA-256 that identifies the user in the receipt."""
    location: str
    """The path at which to poll the receipt; also in the header `Location`."""
    resumable: bool
    """Whether another process continues if this one stops. False: Redis is unavailable; repeat the request after a stop."""


class KeyStatus(ResponseModel):
    """The reach of an API key."""

    tenant: str
    user: str | None
    """The only user that the key may access. Null: all users of the tenant."""
    scopes: list[str]
    schema_ref: str = Field(alias="schema")
    """Name and revision of the schema of the live generation."""
    generation: str
    """The live generation; empty: the first."""


class DeadLetters(ResponseModel):
    """Dead letters without their content, and their total number."""

    dead_letters: list[dict[str, Any]]
    total: int


class DeadLetterView(ResponseModel):
    """A dead letter with its content."""

    model_config = ConfigDict(extra="allow")

    place: str
    """Its position, `partition/offset`."""
    state: str
    headers: list[list[str | None]]
    """Name and value of each header."""


class Redriven(ResponseModel):
    """Number of redriven dead letters, number that a newer value has superseded, and the refused ones."""

    redriven: int
    superseded: int
    refused: list[str]


class Purged(ResponseModel):
    """Number of removed dead letters."""

    purged: int


class Alive(ResponseModel):
    """The process serves."""

    status: Literal["ok"]


MESSAGES: Final[Responses] = answers(
    AcceptedMessages,
    description="All messages were accepted: the position of one message, or the items of a batch.",
    headers=STATUS | LIMITS,
) | answers(Outcomes, status=207, description="Some items were rejected.", headers=STATUS | LIMITS)
FLUSHED: Final[Responses] = answers(
    Flushed, description="The windows close once the sessions stage reaches the positions.", headers=STATUS | LIMITS
)
CHANGED_MESSAGE: Final[Responses] = answers(
    MessageChanged,
    description="The message is changed; memories follow once the events stage and the index have processed the change.",
    headers=STATUS | LIMITS,
) | answers(MessageChanged, status=202, description="The change is durable, but not applied yet.", headers=STATUS | LIMITS)
REPLACED: Final[Responses] = answers(
    Replaced,
    description="The correction is durable; recalls show it once the events stage and the index have processed it.",
    headers=STATUS | LIMITS,
)
CORRECTED: Final[Responses] = answers(
    Corrected,
    description="The correction is durable; recalls show it once the events stage and the index have processed it.",
    headers=STATUS | LIMITS,
)
INVALIDATED: Final[Responses] = answers(
    Invalidated,
    description="The invalidation is durable; recalls show it once the events stage and the index have processed it.",
    headers=STATUS | LIMITS,
)
DELETED: Final[Responses] = answers(
    Deleted,
    description="The deletion is durable; recalls show it once the events stage and the index have processed it.",
    headers=STATUS | LIMITS,
)
USER_ERASURE: Final[Responses] = answers(
    UserErasure,
    status=202,
    description="The erasure has begun; poll its receipt.",
    headers={"Location": {"description": "Where to poll the receipt.", "schema": {"type": "string"}}} | LIMITS,
)
KEY_STATUS: Final[Responses] = answers(KeyStatus, description="The reach of the key.")
DEAD_LETTER_LIST: Final[Responses] = answers(DeadLetters, description="The dead letters, oldest first.")
DEAD_LETTER_CONTENT: Final[Responses] = answers(DeadLetterView, description="The dead letter.")
REDRIVEN: Final[Responses] = answers(Redriven, headers=STATUS)
PURGED: Final[Responses] = answers(Purged, headers=STATUS)
ALIVE: Final[Responses] = answers(Alive, description="The process serves.")
