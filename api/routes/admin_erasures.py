"""``/v1/admin/erasures``: erasures of users, with receipts. The counterpart of ``varve erase`` and ``varve erasures list``."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends
from starlette.responses import Response

from api.admin_responses import ERASING, ERASURES
from api.authentication import require_operator
from api.control_changes import TenantQuery, operator_name, tenant_of
from api.dependencies import AppDependencies
from api.erasure_requests import erasure_fields, request_erasure
from api.json_http import JsonResponse
from api.openapi import RequestModel, refusals
from api.request_body import body_schema, json_body
from api.route_admission import TURN
from control.document import Label
from control.documents import OperatorKey
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
    return JsonResponse({"erasures": await erasure_fields(dependencies, every)})


@router.post(_PATH, status_code=202, openapi_extra=body_schema(NewErasure), responses=ERASING | refusals(404, 409))
async def start_erasure(
    operator: _Admin, body: Annotated[NewErasure, Depends(json_body(NewErasure))], dependencies: AppDependencies
) -> Response:
    """Erases a user everywhere, permanently, after this answer. It takes a minute or two; then the list of erasures has the receipt.

    Users requested during another user's erasure are erased together after it. A request repeated during the erasure runs once more
    after it. If this process stops, another continues; where `resumable` is false, none does until the request is repeated.
    """
    begun = await request_erasure(dependencies, body.tenant, body.user, reason=body.reason, by=operator_name(operator))
    return JsonResponse(begun, status_code=202)
