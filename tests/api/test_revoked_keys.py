"""A key that was revoked opens nothing when the command returns, in however many processes."""

import asyncio
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from runtime.kafka import create_topics
from runtime.settings import Settings
from tests.api.service_process import DEADLINE_S, service_process
from tests.control_log import add_tenant
from tests.one_broker import one_broker
from varve.cli.application import app

pytestmark = pytest.mark.integration

PROCESSES = 3


async def prepared(settings: Settings) -> str:
    await create_topics(settings)
    return await add_tenant(settings, "acme", schema="companion")


def test_a_revoked_key_is_refused_by_three_processes(make_settings: Callable[..., Settings], tmp_path: Path) -> None:
    settings = make_settings(kafka=one_broker(partitions=1))
    headers = {"X-API-Key": asyncio.run(prepared(settings))}
    environment = {
        "VARVE_KAFKA__BOOTSTRAP": settings.kafka.bootstrap,
        "VARVE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
        "VARVE_CONTROL__LEASE_S": "5",
    }
    with ExitStack() as stack:
        urls = []
        for number in range(PROCESSES):
            (folder := tmp_path / f"service-{number}").mkdir()
            urls.append(stack.enter_context(service_process(folder, **environment)).url)

        def answers() -> list[httpx.Response]:
            return [httpx.get(f"{url}/v1/sessions/s", headers=headers, timeout=DEADLINE_S) for url in urls]

        deadline = time.monotonic() + DEADLINE_S
        while not all("Redis does not answer" in answer.text for answer in answers()):
            assert time.monotonic() < deadline, "each process takes the key, and finds no Redis"

        def run(*arguments: str) -> str:
            result = CliRunner().invoke(app, arguments, env={"VARVE_DATA": str(tmp_path), **environment})
            assert result.exit_code == 0, result.output
            return result.stdout

        run("keys", "revoke", "acme", run("keys", "list", "acme").splitlines()[1].split("\t")[0])
        assert [answer.status_code for answer in answers()] == [401] * PROCESSES
