"""``/v1/admin/trust``: trust in the sources of a tenant's memories. The counterpart of ``varve trust``."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends
from pydantic import Field
from starlette.responses import Response

from api.auth.authentication import require_operator
from api.dependencies import AppDependencies
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import body_schema, json_body
from api.limits.route_admission import TURN
from api.response_models.admin import TRUST, TRUST_CHANGED
from api.writes.control_changes import Settle, TenantQuery, tenant_of, write
from control.access_keys import OperatorKey
from control.draft import Draft
from control.tenant_trust import TenantTrust
from control.trust_changes import change_trust
from memory.records.message import Name
from memory.records.trust import EntityTrust, TrustLevel
from memory.sources import SourceName
from memory.trust import MAX_RULES

router = APIRouter(tags=["operators"])

_PATH: Final = "/v1/admin/trust"

_Admin = Annotated[OperatorKey, require_operator("admin")]


class TrustChange(RequestModel):
    """Levels of trust to set."""

    tenant: Name
    sources: dict[SourceName, TrustLevel | None] = Field(default_factory=dict, max_length=MAX_RULES)
    """By source: `role:NAME`, `speaker:NAME`, `tool:NAME`, `app:NAME`, `channel:NAME` or `source:NAME`; `tool:*` is every tool without
    its own level. Null removes a level. Sources that are left out keep theirs."""
    entities_from: EntityTrust | None = None
    """The lowest level of what changes entities; null: unchanged."""


@router.get(_PATH, dependencies=[require_operator("viewer"), TURN], responses=TRUST | refusals(404))
async def get_trust(tenant: TenantQuery, dependencies: AppDependencies) -> Response:
    """A tenant's levels of trust in the sources of its memories."""
    return JsonResponse(_view(tenant, tenant_of(dependencies.tenants.draft(), tenant).trust))


@router.post(_PATH, openapi_extra=body_schema(TrustChange), responses=TRUST_CHANGED | refusals(404, 409))
async def update_trust(
    operator: _Admin, body: Annotated[TrustChange, Depends(json_body(TrustChange))], dependencies: AppDependencies, settle: Settle = None
) -> Response:
    """Sets levels of trust. A memory has the lowest level of its sources.

    Untrusted memories change no entity; distrusted ones leave entities and recalls until their source is trusted again. A query service
    applies the levels to what was extracted before, every `VARVE_TRUST__INTERVAL_S`.
    """
    now = dependencies.clock.now()

    def change(draft: Draft) -> dict[str, Any]:
        return _view(body.tenant, change_trust(draft, body.tenant, now=now, sources=body.sources, entities_from=body.entities_from))

    return await write(dependencies, operator, change, action="trust set", settle=bool(settle))


def _view(tenant: str, trust: TenantTrust) -> dict[str, Any]:
    shown = trust.model_dump(mode="json", include={"sources", "entities_from", "version", "changed_at"})
    return {"tenant": tenant, **shown, "is_applied": trust.is_applied}
