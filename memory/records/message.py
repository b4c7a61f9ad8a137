"""Records of the ``messages`` topic: raw messages, and commands to the sessions stage."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from memory.messages.message_time import SaidTime
from memory.records.base import Record, Value
from memory.records.limits import ForeignJson, Time
from memory.texts.text import problem_of_id
from memory.times import checked_zone_name

Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]
"""1 to 256 characters."""


def _checked_id(text: str) -> str:
    problem = problem_of_id(text)
    if problem is not None:
        raise ValueError(problem)
    return text


Id = Annotated[Name, AfterValidator(_checked_id)]
"""The id of a tenant, a user, a session or a message: 1 to 256 characters, one of them visible, without control characters; not ``.`` or
``..``."""

Role = Literal["user", "assistant", "system", "tool"]

TimeZoneName = Annotated[str, StringConstraints(max_length=64), AfterValidator(checked_zone_name)]
"""An IANA name such as ``Europe/Oslo``."""

ClosedBy = Literal["pause", "message_count", "token_count", "size", "idle", "flush", "user"]
"""Reason for which a window closed. ``pause``: a pause after its message count was reached. ``user``: a message of another user with the
id of one of its messages, because results name messages by their ids."""


STATEMENT: Final = "varve.statement"
"""Name of a tool call that states the text of its message as an event, word for word. Neither a model nor a rule decides about it."""


class ToolCall(Value):
    """One tool invocation of an agent trace."""

    id: Name | None = None
    """The id by which a result in a later message names the call. Default: none."""
    name: Name
    """The tool's name."""
    arguments: ForeignJson = None
    result: ForeignJson = None
    success: bool | None = None
    error: str | None = None
    duration_ms: float | None = Field(default=None, ge=0)


class ToolResult(Value):
    """The result of a tool call of an earlier message in the session. Extraction joins both."""

    call_id: Name | None = None
    """The ``id`` of the call. Default: the oldest call of that tool without an id and without a result."""
    name: Name | None = None
    """The tool's name."""
    content: ForeignJson = None
    success: bool | None = None


class Message(Record):
    """One raw message: a chat turn, an utterance of a meeting, a step of an agent."""

    tenant: Id
    user: Id
    """The user to whose memory it belongs."""
    session: Id
    id: Id | None = None
    """Unique in its session; a repeated id is the same message. Default: derived from its position in the log."""
    role: Role = "user"
    speaker: str | None = None
    """Name of the speaker. Default: the role."""
    text: str = ""
    event_time: SaidTime
    """Time at which it was said, not its arrival time."""
    time_zone: TimeZoneName | None = None
    """Time zone of the user's days and weeks. Default: the tenant's, or else the UTC offset of ``event_time``."""
    metadata: dict[str, ForeignJson] = Field(default_factory=dict)
    tool_call: ToolCall | None = None
    tool_calls: list[ToolCall] = Field(default_factory=list)
    """The calls of a turn with several, instead of ``tool_call``."""
    tool_results: list[ToolResult] = Field(default_factory=list)
    """Results of earlier calls."""
    automated: bool = False
    """Whether a program sent it by itself, such as a scheduler's heartbeat: it stays in the log and is never extracted."""
    from_recall: bool = False
    """Whether a recall inserted the text: context for the reader, never extracted again."""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All tool calls of the message."""
        return (*(() if self.tool_call is None else (self.tool_call,)), *self.tool_calls)


class SessionCommand(Record):
    """A command to the sessions stage. It is in the ``messages`` log itself, so a replay closes the same windows at the same messages."""

    command: Literal["flush", "timer", "erase", "expire"]
    tenant: Name | None = None
    """None: every tenant's sessions in the partition."""
    session: Name | None = None
    """None: every session of the tenant in the partition."""
    user: Name | None = None
    """For an erasure: the user whose open windows are discarded, in every session of the tenant in the partition."""
    window_sequence: int | None = None
    """For a timer: the window it was set for; it does nothing to a later one."""
    last_offset: int | None = None
    """For a timer: the newest message it has seen; it does nothing if a newer one came."""
    windows: list[int] | None = None
    """For an expiry: the closed windows of the session that the stage forgets, because the tenant keeps raw messages no longer."""


class Window(Record):
    """A closed run of one session's messages, in the order of the log."""

    id: str
    tenant: Name
    user: Name
    """The user of its messages; of a shared window, the first of its users."""
    users: list[Name] = Field(default_factory=list)
    """The users of a shared window, which closed with messages of several users, in order. Empty: the window is not shared."""
    session: Name
    sequence: int = Field(ge=0)
    """The window's number in its session, from 0."""
    revision: int = Field(default=0, ge=0)
    """How often its messages have changed since it closed. A later revision replaces the earlier ones."""
    messages: list[Message]
    """Its messages without the deleted ones. Empty: all were deleted."""
    ended_at: Time | None = None
    """The newest event time of the messages that it closed with. Set if messages have changed since."""
    token_count: int = Field(default=0, ge=0)
    """An estimate of the messages' tokens, as the token cap counts them."""
    closed_by: ClosedBy
    source_partition: int = Field(ge=0)
    first_offset: int = Field(ge=0)
    """Offset of its first message in its partition of ``messages``."""
    last_offset: int = Field(ge=0)

    @model_validator(mode="before")
    @classmethod
    def _first_of_users(cls, fields: Any) -> Any:
        """Sets ``user`` of a shared window. Its record names ``users`` only, so that it is found under each of them."""
        if isinstance(fields, dict) and "user" not in fields and isinstance(users := fields.get("users"), list) and users:
            return {**fields, "user": users[0]}
        return fields
