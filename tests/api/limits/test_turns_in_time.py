"""A read waits for its turn to its deadline, and no longer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.requests import Request

from api.limits.admission import Admission
from api.problems import ProblemError
from control.tenants import Tenant
from runtime.metrics import Metrics
from runtime.settings import ServiceSettings
from tests.control_log import known_tenants

PATIENT = ServiceSettings(reads_at_once=1, read_queue_timeout_s=3600)


async def never() -> dict[str, Any]:
    await asyncio.Event().wait()
    return {}


class Reads:
    """The reads of one tenant, one at a time."""

    def __init__(self, settings: ServiceSettings = PATIENT) -> None:
        self.metrics = Metrics()
        self._admission = Admission(settings=settings, metrics=self.metrics)
        self._tenant: Tenant = known_tenants({"acme": "companion"}).get("acme")

    @asynccontextmanager
    async def turn(self, *, until: float | None = None) -> AsyncIterator[None]:
        async with self._admission.turn(Request({"type": "http"}, never), self._tenant, until=until):
            yield

    async def refusal(self, *, until: float | None) -> ProblemError:
        with pytest.raises(ProblemError) as refused:
            async with self.turn(until=until):
                raise AssertionError("it had no turn")
        return refused.value


def in_s(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


async def test_a_read_waits_no_longer_than_its_deadline() -> None:
    reads = Reads()
    async with reads.turn():
        for seconds in (0.02, -1):
            refused = await reads.refusal(until=in_s(seconds))
            assert (refused.status_code, refused.kind) == (429, "too-many-reads")
            assert "by the request's deadline" in str(refused.detail)
            assert int((refused.headers or {})["Retry-After"]) > 0
    assert reads.metrics.registry.get_sample_value("varve_reads_waiting") == 0
    async with reads.turn(until=in_s(3600)):
        pass


async def test_a_later_deadline_makes_no_read_wait_longer() -> None:
    reads = Reads(ServiceSettings(reads_at_once=1, read_queue_timeout_s=0.02))
    async with reads.turn():
        for until in (in_s(3600), None):
            assert "within 0.02 s" in str((await reads.refusal(until=until)).detail)


async def test_a_turn_that_is_free_is_not_refused() -> None:
    async with Reads().turn(until=in_s(-1)):
        pass
