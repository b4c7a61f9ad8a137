"""Webhooks on a real broker: tenants, changes of the feed, and the background work, in this process or another."""

import asyncio
import json
import os
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from api.webhooks.service import Webhooks
from api.webhooks.signing import SigningSecrets
from api.webhooks.topic import read_deliveries
from control.tenants import follow_tenants
from control.webhook_changes import add_webhook
from memory.records import Memory, WebhookDelivery
from runtime.clocks import SystemClock
from runtime.kafka import Producer
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.stages.feed import tombstone_record, upsert_record
from tests.api.running_service import memory
from tests.control_log import write


async def hook(settings: Settings, tenant: str, url: str, *, with_content: bool = True) -> tuple[str, str]:
    """Adds a webhook. Returns its id and its secret."""
    webhook_id, secret_id = f"wh_{uuid.uuid4().hex[:12]}", uuid.uuid4().hex[:12]
    now = datetime.now(UTC)
    await write(settings, lambda draft: add_webhook(draft, tenant, webhook_id, secret_id, url=url, now=now, with_content=with_content))
    return webhook_id, SigningSecrets.of(settings.signing).shown(tenant, webhook_id, secret_id)


async def publish(settings: Settings, *memories: Memory) -> None:
    """Writes memories to the change feed."""
    topic = settings.topic("memories")
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([upsert_record(topic, each) for each in memories])


async def unpublish(settings: Settings, deleted: Memory) -> None:
    """Writes the deletion of a memory to the change feed."""
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([tombstone_record(settings.topic("memories"), deleted.tenant, deleted.id)])


def memories(tenant: str, user: str, count: int) -> list[Memory]:
    return [memory(tenant, user, f"{user} says number {each}") for each in range(count)]


@asynccontextmanager
async def delivering(settings: Settings, metrics: Metrics | None = None) -> AsyncIterator[None]:
    """Runs the background work in this process."""
    metrics = metrics or Metrics()
    async with follow_tenants(settings, metrics) as tenants, Producer(kafka=settings.kafka) as producer:
        work = Webhooks(settings=settings, tenants=tenants, producer=producer, metrics=metrics, clock=SystemClock())
        task = asyncio.create_task(work.run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def dead_letters(settings: Settings, tenant: str, webhook: str) -> list[WebhookDelivery]:
    return [each for each in await read_deliveries(settings, tenant, webhook) if each.state == "dead"]


@asynccontextmanager
async def delivering_process(settings: Settings) -> AsyncIterator[asyncio.subprocess.Process]:
    """Runs the background work in a separate process."""
    groups = {name: getattr(settings, name).model_dump(mode="json") for name in ("kafka", "webhooks")}
    secret = settings.signing.secret
    assert secret is not None
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.api.webhooks.webhook_flow"),
        env={**os.environ, "WEBHOOK_SETTINGS": json.dumps({**groups, "signing": {"secret": secret.get_secret_value()}})},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _run() -> None:
    async with delivering(Settings(**json.loads(os.environ["WEBHOOK_SETTINGS"]))):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_run())
