"""``/v1/usage`` and ``/v1/admin/usage``: model calls by day, tenant, stage and model, and budgets. The counterpart of ``varve usage``."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Final, NamedTuple

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from api.auth.authentication import OperateCaller, require_operator
from api.dependencies import AppDependencies, Dependencies
from api.http.json_http import JsonResponse
from api.http.openapi import refusals
from api.limits.admission import TOPIC_RESULTS
from api.limits.route_admission import TOPICS_TURN
from api.response_models.console import USAGE as USAGE_VIEW
from api.writes.control_changes import tenant_of
from control.documents import Tenant
from memory.errors import RecordError
from memory.keys import encode_key, partition_of
from memory.records import Usage
from memory.records.limits import Time
from memory.records.message import Name
from memory.topics import USAGE
from models.llm.budget import Amount
from models.llm.daily_budget import read_totals
from models.llm.usage import UsageTotal
from runtime.errors import RedisUnavailableError
from runtime.kafka import KafkaOffsets, read_topic
from runtime.logs import logger

tenants_router = APIRouter(tags=["operate"])
operators_router = APIRouter(tags=["operators"])

_log = logger(__name__)

_DEFAULT: Final = timedelta(days=7)
_SHOWN: Final = {"soft_tokens", "hard_tokens", "soft_cost", "hard_cost", "policy", "reextraction_share"}
_MOST_ROWS: Final = 10_000
_MOST_BUDGETS: Final = 200
_PIECE: Final = 200
"""Records between two turns of other requests."""

_Since = Annotated[Time | None, Query(description="Only calls at this time or later. Default: of the last seven days.")]


class _Group(NamedTuple):
    day: date
    tenant: str
    stage: str
    purpose: str
    model: str


@tenants_router.get("/v1/usage", responses=USAGE_VIEW)
async def get_usage(request: Request, caller: OperateCaller, dependencies: AppDependencies, since: _Since = None) -> Response:
    """The tenant's model calls by day, stage, purpose and model, and its budget for extraction and merging with today's use."""
    caller.require_every_user()
    since = since or dependencies.clock.now() - _DEFAULT
    async with dependencies.admission.turn(request, caller.tenant, results=TOPIC_RESULTS):
        totals = await _totals(dependencies, since, tenant=caller.tenant.id)
    return JsonResponse(await _shown(dependencies, totals, since, tenants={caller.tenant.id: caller.tenant}))


@operators_router.get("/v1/admin/usage", dependencies=[require_operator("viewer"), TOPICS_TURN], responses=USAGE_VIEW | refusals(404))
async def get_operators_usage(
    dependencies: AppDependencies,
    tenant: Annotated[Name | None, Query(description="Only this tenant. Default: all tenants.")] = None,
    since: _Since = None,
) -> Response:
    """Model calls by day, tenant, stage, purpose and model, and the tenants' budgets with today's use."""
    draft = dependencies.tenants.draft()
    known = draft.tenants() if tenant is None else {tenant: tenant_of(draft, tenant)}
    since = since or dependencies.clock.now() - _DEFAULT
    totals = await _totals(dependencies, since, tenant=tenant)
    if tenant is None:
        tokens: dict[str, int] = {}
        for group, total in totals.items():
            tokens[group.tenant] = tokens.get(group.tenant, 0) + _tokens(total)
        names = sorted(tokens, key=lambda name: (-tokens[name], name))[:_MOST_BUDGETS]
        known = {name: known[name] for name in names if name in known}
    return JsonResponse(await _shown(dependencies, totals, since, tenants=known))


async def _totals(dependencies: Dependencies, since: datetime, *, tenant: str | None) -> dict[_Group, UsageTotal]:
    """Sums the usage records since a time. Those of one tenant are in one partition."""
    settings = dependencies.settings
    topic = settings.topic(USAGE.name)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        starts = await offsets.offsets_since([topic], since)
    if tenant is not None:
        number = partition_of(encode_key(tenant), len(starts))
        starts = {partition: offset for partition, offset in starts.items() if partition.partition == number}
    totals: dict[_Group, UsageTotal] = {}
    read = unreadable = 0
    async for record in read_topic(topic, settings.kafka, start=starts):
        read += 1
        if read % _PIECE == 0:
            await asyncio.sleep(0)
        try:
            call = Usage.from_json(record.value or b"")
        except RecordError:
            unreadable += 1
            continue
        if call.time >= since and tenant in (None, call.tenant):
            group = _Group(call.time.date(), call.tenant, call.stage, call.purpose, call.model)
            totals[group] = totals.get(group, UsageTotal()).plus(call)
    if unreadable:
        _log.warning("usage_records_unreadable", topic=topic, records=unreadable)
    return totals


async def _shown(
    dependencies: Dependencies, totals: Mapping[_Group, UsageTotal], since: datetime, *, tenants: Mapping[str, Tenant]
) -> dict[str, Any]:
    groups = sorted(sorted(totals, key=lambda group: -_tokens(totals[group]))[:_MOST_ROWS])
    return {
        "since": since,
        "rows": [{**group._asdict(), **totals[group]._asdict()} for group in groups],
        "truncated": len(groups) < len(totals),
        "priced": dependencies.settings.llm.price_table is not None,
        "budgets": await _budgets(dependencies, [*tenants.values()]),
    }


async def _budgets(dependencies: Dependencies, tenants: Sequence[Tenant]) -> list[dict[str, Any]]:
    used: Sequence[Amount] | None = None
    try:
        used = await read_totals(dependencies.redis, [each.id for each in tenants], dependencies.clock.now())
    except RedisUnavailableError as error:
        _log.warning("budgets_not_read", error=str(error))
    limits = [dependencies.settings.budget.overridden_by(each.budget) for each in tenants]
    return [
        {
            "tenant": tenant.id,
            **limit.model_dump(mode="json", include=_SHOWN),
            "used_tokens": None if used is None else used[index].tokens,
            "used_cost": None if used is None else used[index].cost,
        }
        for index, (tenant, limit) in enumerate(zip(tenants, limits, strict=True))
    ]


def _tokens(total: UsageTotal) -> int:
    return total.prompt_tokens + total.completion_tokens
