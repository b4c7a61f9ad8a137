"""``/v1/admin/reextractions``: extraction of all history into a generation. The counterpart of ``varve generations start`` and others.

A worker (``varve generations work``) does the work; these routes write the control log, which it follows.
"""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path
from pydantic import AwareDatetime, Field
from starlette.responses import Response

from api.auth.authentication import require_operator
from api.dependencies import AppDependencies, Dependencies
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import body_schema, json_body
from api.limits.route_admission import TURN
from api.problems import ProblemError
from api.response_models.reextractions import ESTIMATED, REEXTRACTION_CHANGED, REEXTRACTION_PROGRESS, REEXTRACTIONS
from api.writes.control_changes import apply_by_operator, operator_name, tenant_of
from control.access_keys import OperatorKey
from control.documents import GenerationName
from control.draft import Draft
from control.generations.reextraction_changes import (
    ReextractionRequest,
    cancel_reextraction,
    pause_reextraction,
    tenants_of_new,
)
from control.reextraction import Estimate, Reextraction, RunBudget
from control.writer import Written
from memory.records.message import Name

router = APIRouter(tags=["operators"])

_PATH: Final = "/v1/admin/reextractions"
_MOST_TENANTS: Final = 10_000
_FIELDS: Final = {"generation", "tenants", "state", "reason", "started_at", "started_by", "since", "budget", "estimate"}

_Admin = Annotated[OperatorKey, require_operator("admin")]
_Generation = Annotated[str, Path(min_length=1, max_length=64, description="The generation that the re-extraction builds.")]
_Rate = Annotated[int, Field(ge=1, le=1_000_000)]
_Tokens = Annotated[int, Field(ge=1, le=2**53)]
_Cost = Annotated[float, Field(gt=0, le=1e15, allow_inf_nan=False)]


class EstimateBody(RequestModel):
    """A re-extraction to estimate."""

    tenants: tuple[Name, ...] = Field(default=(), max_length=_MOST_TENANTS)
    """Empty: all tenants."""
    schema_name: Annotated[str, Field(min_length=1, max_length=300)] | None = Field(default=None, alias="schema")
    """A schema of the control log or a shipped schema; null: the live generation's."""
    method: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    """A shipped memory method that extends the schema; null: that of the schema."""
    since: AwareDatetime | None = None
    """Only windows that closed at this time or later; null: all windows."""
    calls_per_minute: _Rate | None = None
    """Most model calls in a minute; without a model, windows. Null: no limit."""


class ReextractionBody(EstimateBody):
    """A re-extraction to start."""

    generation: GenerationName
    """The generation to build."""
    budget_tokens: _Tokens | None = None
    """Most tokens of prompts and answers; null: no limit."""
    budget_cost: _Cost | None = None
    """Most money, in the currency of the price table; null: no limit."""
    confirmed: bool = False
    """Whether the estimate was read. Without it, the answer is 409 with the estimate."""


class BudgetBody(RequestModel):
    """New limits of a re-extraction; null: unchanged. They count from its start."""

    budget_tokens: _Tokens | None = None
    budget_cost: _Cost | None = None
    calls_per_minute: _Rate | None = None


@router.post(
    f"{_PATH}/estimate",
    dependencies=[require_operator("viewer"), TURN],
    openapi_extra=body_schema(EstimateBody),
    responses=ESTIMATED | refusals(404, 409),
)
async def estimate_reextraction(body: Annotated[EstimateBody, Depends(json_body(EstimateBody))], dependencies: AppDependencies) -> Response:
    """Estimates windows, model calls, tokens, cost and time of a re-extraction, by the service's model and price table.

    Reads all windows. Nothing is written, and no model is called.
    """
    known = dependencies.tenants.draft()
    tenants = [tenant_of(known, each).id for each in body.tenants] or list(known.tenants())
    return JsonResponse(await _estimated(dependencies, body, _request(body, tenants)))


@router.get(_PATH, dependencies=[require_operator("viewer"), TURN], responses=REEXTRACTIONS)
async def list_reextractions(dependencies: AppDependencies) -> Response:
    """All re-extractions, the oldest first, including ended ones."""
    known = dependencies.tenants.draft().reextractions()
    return JsonResponse({"reextractions": [each.model_dump(mode="json", include=_FIELDS) for each in known]})


@router.get(f"{_PATH}/{{generation}}", dependencies=[require_operator("viewer"), TURN], responses=REEXTRACTION_PROGRESS | refusals(404))
async def get_reextraction(generation: _Generation, dependencies: AppDependencies) -> Response:
    """A re-extraction with its progress: windows, calls, what is spent and left, and the estimated time that it still takes."""
    from streams.operations.reextraction.progress import read_progress

    found = await read_progress(dependencies.settings, dependencies.tenants.draft(), generation, redis=dependencies.redis)
    return JsonResponse(found.as_json())


@router.post(_PATH, openapi_extra=body_schema(ReextractionBody), responses=REEXTRACTION_CHANGED | refusals(404, 409))
async def create_reextraction(
    operator: _Admin, body: Annotated[ReextractionBody, Depends(json_body(ReextractionBody))], dependencies: AppDependencies
) -> Response:
    """Starts a re-extraction. Without ``confirmed``, 409 with the member ``estimate``; nothing is started then.

    A worker must run: ``varve generations work GENERATION``.
    """
    from streams.operations.reextraction.start import start

    known = dependencies.tenants.draft()
    for tenant in body.tenants:
        tenant_of(known, tenant)
    tenants = tenants_of_new(known, body.generation, body.tenants)
    budget = RunBudget(tokens=body.budget_tokens, cost=body.budget_cost, calls_per_minute=body.calls_per_minute)
    asked = _request(body, tenants, generation=body.generation)
    estimated = await _estimated(dependencies, body, asked)
    if not body.confirmed:
        raise ProblemError(
            409, "change-refused", "read the estimate, and repeat the request with confirmed=true", members={"estimate": estimated}
        )
    size = {name: value for name, value in estimated.items() if name not in ("tenants", "model", "basis")}
    written = await start(
        dependencies.settings,
        asked,
        writer=dependencies.control,
        redis=dependencies.redis,
        estimate=Estimate.model_validate(size),
        budget=budget,
        by=operator_name(operator),
    )
    return await _known(dependencies, written)


@router.post(f"{_PATH}/{{generation}}/pause", responses=REEXTRACTION_CHANGED | refusals(404, 409))
async def pause_running_reextraction(operator: _Admin, generation: _Generation, dependencies: AppDependencies) -> Response:
    """Pauses a re-extraction; its worker finishes the running calls. One that is paused already keeps its reason."""
    reason = f"paused by {operator_name(operator)}"

    def change(draft: Draft) -> dict[str, Any]:
        return _state(pause_reextraction(draft, generation, reason=reason))

    return JsonResponse(await apply_by_operator(dependencies, operator, change, action="reextraction pause", settle=False))


@router.post(f"{_PATH}/{{generation}}/resume", openapi_extra=body_schema(BudgetBody), responses=REEXTRACTION_CHANGED | refusals(404, 409))
async def resume_paused_reextraction(
    operator: _Admin,
    generation: _Generation,
    body: Annotated[BudgetBody, Depends(json_body(BudgetBody))],
    dependencies: AppDependencies,
) -> Response:
    """Continues a paused re-extraction where it stopped; a running one gets only the new limits."""
    from streams.operations.reextraction.start import resume

    given = {"tokens": body.budget_tokens, "cost": body.budget_cost, "calls_per_minute": body.calls_per_minute}
    written = await resume(
        dependencies.settings,
        generation,
        writer=dependencies.control,
        by=operator_name(operator),
        limits={name: value for name, value in given.items() if value is not None},
    )
    return await _known(dependencies, written)


@router.post(f"{_PATH}/{{generation}}/cancel", responses=REEXTRACTION_CHANGED | refusals(404, 409))
async def cancel_unfinished_reextraction(operator: _Admin, generation: _Generation, dependencies: AppDependencies) -> Response:
    """Cancels a re-extraction: its worker stops, and removes all that was produced. 409 once a tenant was switched to it.

    Without a running worker, ``varve generations cancel`` removes it.
    """

    def change(draft: Draft) -> dict[str, Any]:
        return _state(cancel_reextraction(draft, generation))

    return JsonResponse(await apply_by_operator(dependencies, operator, change, action="reextraction cancel", settle=False))


def _request(body: EstimateBody, tenants: list[str], *, generation: str = "") -> ReextractionRequest:
    return ReextractionRequest(tenants=tenants, generation=generation, schema=body.schema_name, method=body.method, since=body.since)


async def _estimated(dependencies: Dependencies, body: EstimateBody, request: ReextractionRequest) -> dict[str, Any]:
    from streams.operations.reextraction.estimate import estimate_reextraction as estimate

    return (await estimate(dependencies.settings, request, calls_per_minute=body.calls_per_minute)).as_json()


async def _known(dependencies: Dependencies, written: Written[Reextraction]) -> Response:
    """The response of a change, once this process knows it."""
    await dependencies.tenants.wait_for(written.position, timeout_s=dependencies.settings.control.write_timeout_s)
    place = {"position": written.position, "changed": bool(written.documents), "settled": False}
    return JsonResponse({**_state(written.result), **place})


def _state(run: Reextraction) -> dict[str, Any]:
    return {"state": run.state, "reason": run.reason}
