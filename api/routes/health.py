"""``/healthz``: whether the process serves. Readiness and metrics are on the health page, which has a port of its own."""

from fastapi import APIRouter
from starlette.responses import Response

from api.json_http import JsonResponse
from api.responses import ALIVE

router = APIRouter(tags=["health"])


@router.get("/healthz", responses=ALIVE)
async def get_health() -> Response:
    """200 as soon as the process serves."""
    return JsonResponse({"status": "ok"})
