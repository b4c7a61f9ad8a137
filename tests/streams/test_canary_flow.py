"""The canary on the real stages, store and service."""

import pytest
from prometheus_client import CollectorRegistry
from varve_client import AsyncVarveClient

from runtime.settings import CanarySettings, Settings
from tests.api.running_service import serving as serving_http
from tests.control_log import add_key
from tests.streams.flow import TENANT, serving
from tests.streams.harness import until_true
from varve.canary.facts import USER
from varve.canary.run import Canary, CanaryMetrics

pytestmark = pytest.mark.integration


async def test_facts_are_remembered_until_newer_ones_hold(flow: Settings) -> None:
    key = await add_key(flow, TENANT)
    settings = CanarySettings(facts=1, goal_s=120.0, timeout_s=120.0)
    async with serving(flow), serving_http(flow) as http, AsyncVarveClient("http://varve", api_key=key, http=http) as service:
        canary = Canary(service=service, settings=settings, metrics=CanaryMetrics(CollectorRegistry()), first=0)
        assert [(await canary.run_round()).outcome for _ in range(3)] == ["fresh"] * 3

        async def only_the_newest_is_left() -> bool:
            found = await service.recall("What is the password of the north gate?", user=USER, limit=20)
            return {name for each in found.results for name in each.evidence} == {"varve-canary-2"}

        await until_true(only_the_newest_is_left)
