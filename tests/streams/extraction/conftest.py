"""A tenant of agents."""

from pathlib import Path

import pytest

from runtime.settings import Settings
from runtime.tenants import TenantDirectory
from tests.streams.laid_down import SCHEMA, TENANT
from tests.streams.steps import plain_settings, tenants_of


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return plain_settings(tmp_path)


@pytest.fixture
def tenants(settings: Settings) -> TenantDirectory:
    return tenants_of(settings, {TENANT: SCHEMA})
