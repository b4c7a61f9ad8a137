"""``/v1/overview`` and ``/v1/admin/overview``: the progress of the stages, for a tenant and for operators."""

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.auth.authentication import RecallCaller, require_operator
from api.dependencies import AppDependencies
from api.http.json_http import JsonResponse
from api.limits.route_admission import TURN
from api.response_models.console import OVERVIEW
from api.stage_overview import Reading
from runtime.kafka.parked_note import ParkedNote

tenants_router = APIRouter(tags=["read"])
operators_router = APIRouter(tags=["operators"])

_SHOWN: Final = ("lag", "oldest_s", "retention_left_s", "unfinished")


@tenants_router.get("/v1/overview", responses=OVERVIEW)
async def get_overview(request: Request, caller: RecallCaller, dependencies: AppDependencies) -> Response:
    """The freshness of each stage, and the tenant's parked records and memories.

    The stages serve all tenants: their lag and rates are for operators. A key that is bound to a user sees no numbers of its tenant.
    """
    async with dependencies.admission.turn(request, caller.tenant):
        reading = await dependencies.overview.read()
    tenant, is_bound = caller.tenant, caller.key.user is not None
    stages = []
    for stage in reading.stages:
        parked = None if is_bound else _parked_of(tenant.id, stage.parked)
        stages.append(
            {
                "name": stage.name,
                "lag": None,
                "parked": parked,
                "parked_by_tenant": {tenant.id: parked} if parked else {},
                "rate": None,
                "oldest_s": stage.oldest_s,
                "retention_left_s": None,
                "unfinished": None,
            }
        )
    memories = None if is_bound else dependencies.quotas.memories_of(tenant)
    return JsonResponse({"read_at": reading.at, "over_s": None, "stages": stages, "rates": [], "memories": memories})


@operators_router.get("/v1/admin/overview", dependencies=[require_operator("viewer"), TURN], responses=OVERVIEW)
async def get_operators_overview(dependencies: AppDependencies) -> Response:
    """Lag, rate, freshness and parked records of each stage, over all tenants.

    Rates need a second reading: repeat the request after some seconds. What only a worker's own metrics contain, such as its retries, is
    on its metrics page.
    """
    return JsonResponse(_of_all_tenants(await dependencies.overview.read()))


def _of_all_tenants(reading: Reading) -> dict[str, object]:
    rates = reading.rates
    stages = [
        {
            "name": stage.name,
            **{name: getattr(stage, name) for name in _SHOWN},
            "parked": stage.parked.count,
            "parked_by_tenant": dict(stage.parked.tenants),
            "rate": None if rates is None else rates.stages[stage.name],
        }
        for stage in reading.stages
    ]
    return {
        "read_at": reading.at,
        "over_s": None if rates is None else rates.over_s,
        "stages": stages,
        "rates": [{"at": each.at, "stages": dict(each.stages)} for each in reading.history],
        "memories": None,
    }


def _parked_of(tenant: str, note: ParkedNote) -> int | None:
    """A tenant's parked records. None: unknown, as the note names only the tenants with the most."""
    if tenant in note.tenants:
        return note.tenants[tenant]
    return 0 if sum(note.tenants.values()) >= note.count else None
