"""Fixtures of the tests of the events stage."""

import pytest

from control.tenants import TenantDirectory
from runtime.settings import Settings
from tests.streams.harness import PartitionHarness
from tests.streams.stages.events.events_stage import assigned


@pytest.fixture
def stage(settings: Settings, tenants: TenantDirectory) -> PartitionHarness:
    return assigned(settings, tenants)
