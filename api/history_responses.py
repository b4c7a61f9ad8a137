"""Response models of an entity's history, also for the OpenAPI document."""

from typing import Any, Final, Literal

from pydantic import Field, JsonValue

from api.openapi import ResponseModel, Responses, answers
from memory.records.limits import Time
from operators.history_walk import CandidateOutcome, SeenChange, SeenStep


class HistoryChange(ResponseModel):
    """One change of one property."""

    property: str
    op: Literal["apply", "retract"]
    value: JsonValue
    """The input of the property's operator."""
    event_time: Time
    source_id: str
    """The source event or patch."""
    evidence: list[str]
    """The ids of its source messages."""
    extractor: str | None
    fate: CandidateOutcome | None
    """The outcome of the change; null for a retraction."""
    by: str | None
    """The step that replaced or retracted it."""

    @classmethod
    def of(cls, seen: SeenChange) -> "HistoryChange":
        """The change in the form of the response."""
        change, applied = seen.change, seen.change.op == "apply"
        return cls(
            property=change.property,
            op="apply" if applied else "retract",
            value=change.value,
            event_time=change.event_time,
            source_id=change.source_id,
            evidence=change.message_ids,
            extractor=change.extractor or None,
            fate=seen.fate if applied else None,
            by=seen.by if applied else None,
        )


class HistoryStep(ResponseModel):
    """One step of an entity's history."""

    id: str
    kind: Literal["extraction", "correction", "expiry", "merged"]
    """The cause: a window was extracted, a memory was corrected, events expired, or a model merged a text."""
    recorded_at: Time
    """The time at which it became known."""
    time: Time
    """Event time of the source event or patch."""
    user: str | None
    """The user whose messages it was extracted from."""
    changes: list[HistoryChange]
    before: dict[str, JsonValue]
    """The previous values of the changed properties."""
    after: dict[str, JsonValue]
    """Their new values."""

    @classmethod
    def of(cls, seen: SeenStep) -> "HistoryStep":
        """The step in the form of the response."""
        contribution = seen.contribution
        return cls(
            id=seen.id,
            kind="merged" if contribution.merged is not None else contribution.cause,
            recorded_at=seen.recorded_at,
            time=contribution.time,
            user=contribution.user,
            changes=[HistoryChange.of(each) for each in seen.changes],
            before=seen.before,
            after=seen.after,
        )


class History(ResponseModel):
    """A page of an entity's steps, the oldest first."""

    type: str
    key: str
    steps: list[HistoryStep]
    next: str | None
    """The value of `after` for the next page; null: this is the last page."""
    total: int = Field(ge=0)
    """Number of steps on all pages."""
    complete: bool
    """Whether no older steps were dropped; the number of stored steps is limited."""


HISTORY: Final[Responses] = answers(History, description="The steps, in the order in which they became known.")


def page_of(steps: list[SeenStep], *, start: int, limit: int) -> dict[str, Any]:
    """The fields of a page of steps."""
    shown = steps[start : start + limit]
    return {
        "steps": [HistoryStep.of(each) for each in shown],
        "next": shown[-1].id if shown and start + limit < len(steps) else None,
        "total": len(steps),
    }
