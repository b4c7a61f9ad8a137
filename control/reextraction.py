"""The document of a re-extraction: a generation that is built from all windows of some tenants, with its budget and its progress."""

from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from control.document_base import Document
from memory.keys import encode_key
from memory.records.base import Value
from memory.records.message import Name

REEXTRACTION: Final = "reextraction"
"""First part of the document's key."""

State = Literal["running", "paused", "cancelling", "cancelled", "done"]
"""``running``: its worker extracts windows, also once it has caught up. ``cancelling``: its results are being removed. ``done``: every
tenant was switched to the generation."""
UNFINISHED: Final[frozenset[State]] = frozenset({"running", "paused", "cancelling"})

Count = Annotated[int, Field(ge=0, le=2**53)]
Money = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]


class RunBudget(Value):
    """Limits of the model calls of a re-extraction. Default: no limit."""

    tokens: Annotated[int, Field(ge=1, le=2**53)] | None = None
    """Most tokens of prompts and answers."""
    cost: Annotated[float, Field(gt=0, le=1e15, allow_inf_nan=False)] | None = None
    """Most money, in the currency of the price table."""
    calls_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Most calls in a minute; windows in a minute if no model extracts."""


class Estimate(Value):
    """Estimated size of a re-extraction."""

    windows: Count
    """Windows to extract; an edited window counts once for each revision."""
    messages: Count
    """Messages in these windows."""
    calls: Count
    """Model calls, without repetitions after unusable answers."""
    prompt_tokens: Count
    cached_tokens: Count = 0
    """Prompt tokens that the provider's prefix cache is expected to contain."""
    completion_tokens: Count
    cost: Money | None = None
    """Cost by the price table. None: there is no price table."""
    duration_s: Money | None = None
    """Duration in seconds. None: neither a rate nor the time of earlier calls is known."""

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers."""
        return self.prompt_tokens + self.completion_tokens


class Reextraction(Document):
    """One re-extraction. The document stays after its end, so that the control log shows what was started, by whom, and its estimate."""

    generation: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    """The generation that it builds."""
    tenants: tuple[Name, ...] = Field(min_length=1)
    """The tenants whose windows it extracts."""
    state: State = "running"
    reason: str = ""
    """Why it is paused or was cancelled."""
    started_at: AwareDatetime
    started_by: str
    since: AwareDatetime | None = None
    """Only windows that closed at this time or later. None: all windows."""
    budget: RunBudget = RunBudget()
    estimate: Estimate
    """The estimate that was confirmed at the start."""
    first_position: Count = 0
    """Sum of the offsets at which it started, over the partitions of ``windows``."""
    running_since: AwareDatetime
    """Time of the last start or resumption."""
    position_then: Count = 0
    """Sum of the committed offsets at that time."""
    switched: tuple[Name, ...] = ()
    """The tenants that were switched to the generation, also those that have gone back since."""

    @property
    def key(self) -> bytes:
        """Its key in the log."""
        return reextraction_key(self.generation)

    @property
    def is_unfinished(self) -> bool:
        """Whether it has neither ended nor been cancelled completely."""
        return self.state in UNFINISHED


def reextraction_key(generation: str) -> bytes:
    """The key of the document of a generation's re-extraction."""
    return encode_key(REEXTRACTION, generation)
