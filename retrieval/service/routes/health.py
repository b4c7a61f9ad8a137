"""``/healthz``, ``/readyz`` and ``/metrics``."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from memory.errors import VarveError
from retrieval.service.dependencies import AppDependencies, Dependencies
from retrieval.service.json_http import JsonResponse
from runtime.kafka import check_topics
from runtime.metrics import CONTENT_TYPE

router = APIRouter(tags=["health"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The health of one dependency."""

    ok: bool
    needed: bool
    """Whether the service cannot work without it."""
    problem: str | None = None


@router.get("/healthz")
async def healthz() -> Response:
    """200 as soon as the process serves."""
    return JsonResponse({"status": "ok"})


@router.get("/readyz")
async def readyz(dependencies: AppDependencies) -> Response:
    """The health of each dependency by name; 503 if one that is needed is unavailable."""
    checks = dict(
        await asyncio.gather(
            _check(dependencies, "kafka", check_topics(dependencies.settings)),
            _check(
                dependencies,
                "store",
                dependencies.store.prepare(model=dependencies.embedder.name, dimension=dependencies.embedder.dimension),
            ),
            _check(dependencies, "redis", dependencies.redis.ping(), needed=False),
            _check(dependencies, "embedder", dependencies.embedder.embed_query("ready")),
        )
    )
    ready = all(check.ok or not check.needed for check in checks.values())
    return JsonResponse({"ready": ready, "checks": checks}, status_code=200 if ready else 503)


@router.get("/metrics")
async def show_metrics(dependencies: AppDependencies) -> Response:
    """All metrics in Prometheus' text format."""
    return Response(dependencies.metrics.render(), media_type=CONTENT_TYPE)


async def _check(dependencies: Dependencies, name: str, probe: Awaitable[object], *, needed: bool = True) -> tuple[str, Check]:
    limit = dependencies.settings.service.probe_timeout_s
    try:
        async with asyncio.timeout(limit):
            await probe
    except TimeoutError:
        return name, Check(ok=False, needed=needed, problem=f"no answer in {limit:g} s")
    except VarveError as error:
        return name, Check(ok=False, needed=needed, problem=str(error))
    return name, Check(ok=True, needed=needed)
