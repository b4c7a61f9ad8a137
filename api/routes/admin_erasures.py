"""``/v1/admin/erasures``: erasures of users, with receipts. The counterpart of ``varve erase`` and ``varve erasures list``."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends
from starlette.responses import Response

from api.admin_responses import ERASING, ERASURES
from api.authentication import require_operator
from api.control_changes import TenantQuery, carried_out, tenant_of
from api.dependencies import AppDependencies
from api.json_http import JsonResponse
from api.openapi import RequestModel, refusals
from api.problems import ProblemError
from api.request_body import body_schema, json_body
from api.route_admission import TURN
from control.document import Label
from control.documents import OperatorKey
from control.draft import Draft
from control.erasure_changes import begin_erasure
from control.unfinished_erasures import ErasureRequest
from memory.records.message import Name

router = APIRouter(tags=["operators"])

_PATH: Final = "/v1/admin/erasures"

_Admin = Annotated[OperatorKey, require_operator("admin")]


class NewErasure(RequestModel):
    """A user to erase."""

    tenant: Name
    user: Name
    reason: Label = ""
    """The reason. It is stored forever, in the control log and the audit, so it must not contain names."""


@router.get(_PATH, dependencies=[require_operator("viewer"), TURN], responses=ERASURES | refusals(404))
async def list_erasures(tenant: TenantQuery, dependencies: AppDependencies) -> Response:
    """A tenant's erasures with their receipts, the oldest request first. Users are named by a digest."""
    known = dependencies.tenants.draft()
    tenant_of(known, tenant)
    every = known.erasures(tenant)
    running = await dependencies.erasures.running(every)
    content = [
        {
            **each.model_dump(mode="json", include={"subject", "reason", "requested_at", "finished_at", "gone_by", "found", "remains"}),
            "running": each.subject in running,
            "problem": dependencies.erasures.problem_of(each.subject) if each.finished_at is None else None,
        }
        for each in every
    ]
    return JsonResponse({"erasures": content})


@router.post(_PATH, status_code=202, openapi_extra=body_schema(NewErasure), responses=ERASING | refusals(404, 409))
async def start_erasure(
    operator: _Admin, body: Annotated[NewErasure, Depends(json_body(NewErasure))], dependencies: AppDependencies
) -> Response:
    """Erases a user everywhere, permanently, after this answer. It takes a minute or two; then the list of erasures has the receipt.

    Users requested during another user's erasure are erased together after it. A request repeated during the erasure runs once more
    after it. If this process stops, another continues; where `resumable` is false, none does until the request is repeated.
    """
    erasures = dependencies.erasures
    if not erasures.is_equipped:
        raise ProblemError(409, "not-equipped", "this process cannot run erasures: start it with `varve serve`, or use `varve erase`")

    tenant_of(dependencies.tenants.draft(), body.tenant)  # a rejected request must leave no name
    noted = ErasureRequest(
        tenant=body.tenant, user=body.user, by=f"operator {operator.id} {operator.label}".strip(), asked_at=dependencies.clock.now()
    )

    def change(draft: Draft) -> dict[str, Any]:
        erasure = begin_erasure(draft, body.tenant, body.user, at=noted.asked_at, reason=body.reason)
        return {"subject": erasure.subject}

    resumable = await erasures.note(noted)
    begun = await carried_out(dependencies, operator, change, action="erasure begin", settle=False)
    erasures.start(noted)
    return JsonResponse({**begun, "resumable": resumable}, status_code=202)
