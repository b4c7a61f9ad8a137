"""``varve webhooks``, as it is typed, on a real broker."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from api.webhooks.errors import SecretMissingError, TargetRefusedError
from api.webhooks.payload import delivery_id
from api.webhooks.topic import delivery_record, read_deliveries
from control.errors import ChangeRefusedError
from memory.records import WebhookDelivery
from runtime.clocks import SystemClock
from runtime.kafka import Producer, create_topics
from runtime.settings import Settings
from tests.api.webhooks.receiver import is_signed
from tests.control_log import add_tenant
from tests.one_broker import one_broker
from tests.varve.typed_commands import TypedCommands
from varve.cli.webhooks import TrialFailedError

pytestmark = pytest.mark.integration


@pytest.fixture
def settings(make_settings: Callable[..., Settings]) -> Settings:
    settings = make_settings(kafka=one_broker(partitions=2))
    asyncio.run(_prepared(settings))
    return settings


async def _prepared(settings: Settings) -> None:
    await create_topics(settings)
    await add_tenant(settings, "acme", schema="companion")


@pytest.fixture
def run(settings: Settings) -> TypedCommands:
    return TypedCommands(settings, "webhooks", VARVE_SIGNING__SECRET="m" * 32, VARVE_WEBHOOKS__ALLOW_PRIVATE="true", COLUMNS="200")


Request = tuple[dict[str, str], bytes]


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[Request], list[int]]]:
    """The URL of a receiver, its requests, and the status that it answers."""
    requests: list[Request] = []
    status = [204]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(status[0])
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", requests, status
    server.shutdown()
    server.server_close()


def test_webhooks_as_typed(settings: Settings, run: TypedCommands, receiver: tuple[str, list[Request], list[int]]) -> None:
    url, requests, status = receiver
    webhook, secret = run("add", "acme", url, "--kind", "event", "--label", "crm").split()
    assert run("test", "acme", webhook).endswith("was delivered\n")
    headers, body = requests[-1]
    assert is_signed(secret, headers, body)

    status[0] = 500
    with pytest.raises(TrialFailedError, match="status 500"):
        run("test", "acme", webhook)

    asyncio.run(_dead_letter(settings, webhook))
    row = run("list", "acme").splitlines()[1].split("\t")
    assert row == [webhook, "crm", url, "event", "0", "1", "status 500"]
    assert secret not in run("list", "acme")
    assert run("redrive", "acme", webhook) == "deliveries to send again: 1\n"
    [redriven] = asyncio.run(read_deliveries(settings, "acme", webhook))
    assert (redriven.state, redriven.attempts, redriven.redriven) == ("pending", 0, 1)

    _, second = run("rotate", "acme", webhook).split()
    status[0] = 204
    run("test", "acme", webhook)
    assert all(is_signed(each, *requests[-1]) for each in (secret, second))
    run("remove", "acme", webhook)
    assert run("list", "acme").splitlines()[1:] == []
    with pytest.raises(ChangeRefusedError, match="it has: none"):
        run("redrive", "acme", webhook)


async def _dead_letter(settings: Settings, webhook: str) -> None:
    now = SystemClock().now()
    dead = WebhookDelivery(
        id=delivery_id("acme", webhook, 0, 7),
        tenant="acme",
        webhook=webhook,
        event="memory.deleted",
        memory_id="m",
        partition=0,
        offset=7,
        changed_at=now,
        state="dead",
        attempts=12,
        problem="status 500",
        dead_at=now,
    )
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([delivery_record(settings.topic("webhook-deliveries"), dead)])


def test_impossible_options_are_refused(run: TypedCommands) -> None:
    with pytest.raises(SecretMissingError, match="VARVE_SIGNING__SECRET"):
        run("add", "acme", "https://8.8.8.8/", VARVE_SIGNING__SECRET=None)
    for url in ("http://8.8.8.8/", "https://127.0.0.1/", "https://[::ffff:10.0.0.1]/"):
        with pytest.raises(TargetRefusedError):
            run("add", "acme", url, VARVE_WEBHOOKS__ALLOW_PRIVATE="false")
    with pytest.raises(ChangeRefusedError, match="kinds"):
        run("add", "acme", "https://8.8.8.8/", "--kind", "rumour")
