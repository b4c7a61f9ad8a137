"""``/v1/admin/holds``: legal holds of users and tenants. The counterpart of ``varve holds``."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from api.auth.authentication import require_operator
from api.dependencies import AppDependencies
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import body_schema, json_body
from api.limits.route_admission import TURN
from api.response_models.erasures import HOLD_CHANGED, HOLDS
from api.writes.control_changes import Settle, TenantQuery, operator_name, tenant_of, write
from control.access_keys import OperatorKey
from control.document_base import Label
from control.draft import Draft
from control.hold import Reason
from control.hold_changes import place_hold, release_hold
from memory.records.message import Name

router = APIRouter(tags=["operators"])

_PATH: Final = "/v1/admin/holds"

_Admin = Annotated[OperatorKey, require_operator("admin")]
_Held = Annotated[Name | None, Query(description="The user. Default: the hold on every user of the tenant.")]
_Why = Annotated[Label, Query(description="The reason. It is stored forever: do not name a person in it.")]


class NewHold(RequestModel):
    """A legal hold on a user, or on every user of a tenant."""

    tenant: Name
    user: Name | None = None
    """The user. Null: every user of the tenant."""
    reason: Reason
    """The reason, such as the reference of the case. It is stored forever: do not name a person in it."""


@router.get(_PATH, dependencies=[require_operator("viewer"), TURN], responses=HOLDS | refusals(404))
async def list_holds(
    dependencies: AppDependencies,
    tenant: Annotated[str | None, Query(min_length=1, max_length=256, description="Only this tenant. Default: all tenants.")] = None,
) -> Response:
    """Legal holds, the oldest first, including released ones: whose, since when, by whom, and why. Users are named by a digest."""
    known = dependencies.tenants.draft()
    if tenant is not None:
        tenant_of(known, tenant)
    names = {"tenant", "subject", "reason", "placed_at", "placed_by", "released_at", "released_by", "release_reason"}
    return JsonResponse({"holds": [each.model_dump(mode="json", include=names) for each in known.holds(tenant)]})


@router.post(_PATH, openapi_extra=body_schema(NewHold), responses=HOLD_CHANGED | refusals(404, 409))
async def create_hold(
    operator: _Admin, body: Annotated[NewHold, Depends(json_body(NewHold))], dependencies: AppDependencies, settle: Settle = None
) -> Response:
    """Places a legal hold: until its release, retention removes nothing and erasures are refused (`legal-hold`).

    Refused with 409 while an erasure of the user is under way. A hold in force gets the new reason.
    """
    now, by = dependencies.clock.now(), operator_name(operator)

    def change(draft: Draft) -> dict[str, Any]:
        return {"subject": place_hold(draft, body.tenant, body.user, at=now, by=by, reason=body.reason).subject}

    return await write(dependencies, operator, change, action="hold place", settle=settle is None or settle)


@router.delete(_PATH, responses=HOLD_CHANGED | refusals(404, 409))
async def delete_hold(
    operator: _Admin,
    tenant: TenantQuery,
    dependencies: AppDependencies,
    user: _Held = None,
    reason: _Why = "",
    settle: Settle = None,
) -> Response:
    """Releases a legal hold; it stays in the list. Erasures that were refused have to be requested again."""
    now, by = dependencies.clock.now(), operator_name(operator)

    def change(draft: Draft) -> dict[str, Any]:
        return {"subject": release_hold(draft, tenant, user, at=now, by=by, reason=reason).subject}

    return await write(dependencies, operator, change, action="hold release", settle=bool(settle))
