"""What the tests of the events stage share."""

import pytest

from runtime.settings import Settings
from runtime.tenants import TenantDirectory
from tests.streams.events.events_stage import assigned
from tests.streams.harness import PartitionHarness


@pytest.fixture
def stage(settings: Settings, tenants: TenantDirectory) -> PartitionHarness:
    return assigned(settings, tenants)
