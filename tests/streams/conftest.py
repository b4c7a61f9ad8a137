from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from runtime.kafka import create_topics
from runtime.settings import Settings
from runtime.tenants import TenantDirectory, add_tenant
from tests.retrieval.edge_owner_process import EdgeOwnerProcess
from tests.streams.agent_extractions import SCHEMA as AGENTS_SCHEMA
from tests.streams.agent_extractions import TENANT as AGENTS
from tests.streams.flow import DEFAULT_TENANTS, TENANT, NewFlow, flow_settings
from tests.streams.harness import plain_settings, tenants_of


@pytest.fixture
async def flow(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Settings]:
    """The settings of a flow on real parts, with its topics and a tenant."""
    with EdgeOwnerProcess(tmp_path / "edge") as edge:
        settings = flow_settings(kafka=kafka, topic_prefix=topic_prefix, redis_url=redis_url, data=tmp_path / "data", socket=edge.socket)
        add_tenant(settings.tenants_path, TENANT, schema="companion")
        await create_topics(settings)
        yield settings


@pytest.fixture
def new_flow(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path) -> NewFlow:
    """Makes the settings of a flow on real parts but without a vector store, with its topics and tenants."""

    async def make(tenants: Mapping[str, str] = DEFAULT_TENANTS, **groups: Any) -> Settings:
        base = flow_settings(kafka=kafka, topic_prefix=topic_prefix, redis_url=redis_url, data=tmp_path, socket=tmp_path / "none.sock")
        settings = base.model_copy(update=groups)
        tenants_of(settings, tenants)
        await create_topics(settings)
        return settings

    return make


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a stage whose handler is called without a broker."""
    return plain_settings(tmp_path)


@pytest.fixture
def tenants(settings: Settings) -> TenantDirectory:
    """A tenant of agents."""
    return tenants_of(settings, {AGENTS: AGENTS_SCHEMA})
