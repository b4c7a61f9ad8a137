"""Response models of ``/v1/admin/reextractions``."""

from datetime import datetime
from typing import Final

from api.http.openapi import ResponseModel, Responses, answers
from api.response_models.admin import Changed


class EstimateView(ResponseModel):
    """An estimated re-extraction."""

    windows: int
    """Windows to extract; an edited window counts once for each revision."""
    messages: int
    calls: int
    """Model calls."""
    prompt_tokens: int
    cached_tokens: int
    """Prompt tokens that the provider's prefix cache is expected to contain."""
    completion_tokens: int
    cost: float | None
    """In the currency of the price table. Null: there is none."""
    duration_s: float | None
    """Null: neither a rate nor the time of earlier calls is known."""


class EstimateReport(EstimateView):
    """An estimate with its basis."""

    model: str | None
    """Null: rules extract, and no model is called."""
    basis: str
    """Basis of the estimated tokens."""
    tenants: dict[str, EstimateView]
    """By tenant; tenants without windows are left out."""


class ReextractionBudgetView(ResponseModel):
    """The limits of a re-extraction. Null: no limit."""

    tokens: int | None
    cost: float | None
    calls_per_minute: int | None


class ReextractionView(ResponseModel):
    """A re-extraction."""

    generation: str
    tenants: list[str]
    state: str
    """`running`, also once it has caught up; `paused`, `cancelling`, `cancelled` or `done`."""
    reason: str
    """Why it is paused."""
    started_at: datetime
    started_by: str
    since: datetime | None
    """Only windows that closed at this time or later. Null: all windows."""
    budget: ReextractionBudgetView
    estimate: EstimateView


class ReextractionViews(ResponseModel):
    """All re-extractions."""

    reextractions: list[ReextractionView]


class BudgetWaitView(ResponseModel):
    """A tenant whose windows wait for the next day."""

    tenant: str
    until: datetime
    """When they continue."""
    reason: str


class ReextractionProgress(ReextractionView):
    """A re-extraction with its progress."""

    workers: int
    """Running workers."""
    waits_for_erasure: bool
    """Whether its worker has stopped until an erasure of a user is finished."""
    waits_for_budget: list[BudgetWaitView]
    """Tenants of whose daily budget the share of re-extractions is used up. Their windows wait for the next day (UTC)."""
    yields_to: str | None
    """The live stage that it waits for, with its backlog: live traffic goes first. Null: none."""
    caught_up: bool
    """Whether all windows that have closed are extracted."""
    share: float
    """Share of the windows that is done, in [0, 1]."""
    windows: int
    """Windows of the estimate."""
    windows_left: int
    parked: int
    """Windows that wait because the model does not answer."""
    left_s: float | None
    """Estimated seconds until it has caught up. Null: unknown, or it does not run."""
    calls: int
    tokens: int
    """Used tokens, including the reservations of running calls."""
    cost: float
    tokens_left: int | None
    cost_left: float | None
    advice: str
    """The next step of the operator."""


class ReextractionChanged(Changed):
    """A re-extraction that was changed."""

    state: str
    reason: str


ESTIMATED: Final[Responses] = answers(EstimateReport, description="The estimate.")
REEXTRACTIONS: Final[Responses] = answers(ReextractionViews, description="The re-extractions, the oldest first.")
REEXTRACTION_PROGRESS: Final[Responses] = answers(ReextractionProgress, description="The re-extraction.")
REEXTRACTION_CHANGED: Final[Responses] = answers(ReextractionChanged, description="The change is written.")
