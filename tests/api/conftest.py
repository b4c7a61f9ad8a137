"""A running query service for the tests of one file."""

import uuid
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from runtime.kafka import create_topics
from runtime.redis.client import open_redis
from runtime.redis.recall_history import RecallHistory
from runtime.redis.session_tail import SessionTail
from runtime.settings import RedisSettings, ServiceSettings, Settings, StoreSettings
from tests.api.running_service import MEMORIES, PARTITIONS, PATIENCE_S, RunningService, index, serving
from tests.control_log import add_key, add_tenant
from tests.one_broker import one_broker
from tests.stores.edge_owner_process import EdgeOwnerProcess


@pytest.fixture(scope="module")
def edge_owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeOwnerProcess]:
    with EdgeOwnerProcess(tmp_path_factory.mktemp("service-edge")) as process:
        yield process


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(
    kafka: str, redis_url: str, edge_owner: EdgeOwnerProcess, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningService]:
    data = tmp_path_factory.mktemp("service")
    settings = Settings(
        data=data,
        kafka=one_broker(bootstrap=kafka, topic_prefix=f"t{uuid.uuid4().hex}.", partitions=PARTITIONS, max_record_bytes=50_000),
        # The machine may stop for seconds.
        redis=RedisSettings(url=redis_url, prefix=f"{uuid.uuid4()}:", timeout_s=PATIENCE_S),
        store=StoreSettings(socket=edge_owner.socket, timeout_s=PATIENCE_S),
        service=ServiceSettings(max_batch=50, max_body_bytes=200_000, probe_timeout_s=PATIENCE_S, produce_timeout_s=PATIENCE_S),
    )
    await create_topics(settings)
    keys = {tenant: await add_tenant(settings, tenant, schema="companion") for tenant in ("acme", "umbrella")}
    # A key that is made while the service runs has to be waited for.
    keys |= {f"acme/{user}": await add_key(settings, "acme", user=user) for user in ("ann", "bob")}
    await index(settings, MEMORIES)
    async with serving(settings) as http, open_redis(settings.redis) as redis:
        yield RunningService(
            settings=settings,
            keys=keys,
            http=http,
            tail=SessionTail(redis=redis),
            recall_history=RecallHistory(redis=redis),
        )
