"""``/healthz``, ``/readyz`` and ``/metrics``."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from memory.errors import VarveError
from retrieval.service.answers import JsonAnswer
from retrieval.service.parts import Parts, PartsOfApp
from runtime.kafka import check_topics
from runtime.metrics import CONTENT_TYPE
from runtime.redis import redis_faults

router = APIRouter(tags=["health"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How one dependency is."""

    ok: bool
    needed: bool
    """Whether the service is of no use without it."""
    problem: str | None = None


@router.get("/healthz")
async def healthz() -> Response:
    """The process serves."""
    return JsonAnswer({"status": "ok"})


@router.get("/readyz")
async def readyz(parts: PartsOfApp) -> Response:
    """Each dependency by name; 503 when one that is needed is down."""
    checks = dict(
        await asyncio.gather(
            _check(parts, "kafka", check_topics(parts.settings)),
            _check(parts, "store", parts.store.prepare(model=parts.embedder.name, dimension=parts.embedder.dimension)),
            _check(parts, "redis", _ping(parts), needed=False),
            _check(parts, "embedder", parts.embedder.embed_query("ready")),
        )
    )
    ready = all(check.ok or not check.needed for check in checks.values())
    return JsonAnswer({"ready": ready, "checks": checks}, status_code=200 if ready else 503)


@router.get("/metrics")
async def show_metrics(parts: PartsOfApp) -> Response:
    """All metrics in Prometheus' text format."""
    return Response(parts.metrics.render(), media_type=CONTENT_TYPE)


async def _check(parts: Parts, name: str, doing: Awaitable[object], *, needed: bool = True) -> tuple[str, Check]:
    limit = parts.settings.service.probe_timeout_s
    try:
        async with asyncio.timeout(limit):
            await doing
    except TimeoutError:
        return name, Check(ok=False, needed=needed, problem=f"no answer in {limit:g} s")
    except VarveError as error:
        return name, Check(ok=False, needed=needed, problem=str(error))
    return name, Check(ok=True, needed=needed)


async def _ping(parts: Parts) -> None:
    with redis_faults("a ping"):
        await parts.redis.ping()
