"""``GET /v1/status``: the reach of an API key."""

from fastapi import APIRouter
from starlette.responses import Response

from api.authentication import RecallCaller
from api.json_http import JsonResponse
from api.responses import KEY_STATUS

router = APIRouter(tags=["read"])


@router.get("/v1/status", responses=KEY_STATUS)
async def get_status(caller: RecallCaller) -> Response:
    """The tenant, the user and the scopes of the key, and the schema of the tenant's live generation."""
    tenant, key = caller.tenant, caller.key
    return JsonResponse(
        {
            "tenant": tenant.id,
            "user": key.user,
            "scopes": [*key.scopes],
            "schema": str(tenant.live_schema),
            "generation": tenant.generation,
        }
    )
