"""A large read of one tenant lets a small read of another tenant finish first."""

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.requests import Request

from api.limits.admission import Admission
from control.tenants import Tenant
from runtime.metrics import Metrics
from runtime.pieces import PIECE_S, TURNS_BETWEEN_PIECES, map_in_pieces
from runtime.settings import ServiceSettings
from tests.control_log import known_tenants

PIECES = 30


@pytest.fixture
def tenants() -> dict[str, Tenant]:
    directory = known_tenants({"flood": "companion", "quiet": "companion"})
    return {name: directory.get(name) for name in ("flood", "quiet")}


async def never() -> dict[str, Any]:
    await asyncio.Event().wait()
    return {}


@pytest.mark.parametrize(("results", "others"), [(1000, "quiet"), (10, "quiet"), (1000, "flood")])
async def test_only_large_reads_give_way_to_others(tenants: dict[str, Tenant], results: int, others: str) -> None:
    admission = Admission(settings=ServiceSettings(tenant_share=1.0), metrics=Metrics(), patience_s=60)
    clock: Iterator[float] = itertools.count(0.0, PIECE_S)
    order: list[str] = []
    begun = asyncio.Event()

    async def large() -> None:
        async with admission.turn(Request({"type": "http"}, never), tenants["flood"], results=results):
            begun.set()
            await map_in_pieces(lambda _: order.append("large"), range(PIECES), monotonic=clock.__next__)

    async def small() -> None:
        async with admission.turn(Request({"type": "http"}, never), tenants[others]):
            for _ in range(PIECES * TURNS_BETWEEN_PIECES * 2):
                await asyncio.sleep(0)
            order.append("small")

    working = asyncio.create_task(large())
    await begun.wait()
    await small()
    gave_way = order.index("small") < PIECES / 2
    assert gave_way == (results == 1000 and others == "quiet")
    await working
    assert order.count("large") == PIECES
