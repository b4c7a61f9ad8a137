"""Addresses that webhooks must not reach, at the configuration and at every connection."""

import asyncio
import socket
import ssl
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from api.webhooks.addresses import parse_url, require_public, require_public_host
from api.webhooks.errors import TargetRefusedError
from api.webhooks.sender import open_sender
from api.webhooks.signing import SigningSecrets
from control.webhooks import Webhook, WebhookSecret
from runtime.clocks import SystemClock
from runtime.settings import WebhookSettings
from tests.api.webhooks.receiver import receiving
from varve.embedded.ports import free_port

TLS: Final = Path(__file__).parents[2] / "tls"
SECRETS = SigningSecrets(["a master secret of the tests only"])


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "100.100.100.200",
        "169.254.169.254",
        "168.63.129.16",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:8.8.8.8",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:db8::1",
        "3fff::1",
        "fec0::1",
        "5f00::1",
        "64:ff9b::808:808",
        "64:ff9b:1::808:808",
        "2001:0:808:808::1",
        "2002:808:808::",
        "192.0.0.8",
        "192.88.99.1",
        "nonsense",
    ],
)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    with pytest.raises(TargetRefusedError):
        require_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450::1"])
def test_public_addresses_are_accepted(address: str) -> None:
    require_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "ftp://example.com",
        "https://",
        "https:///hook",
        "example.com/hook",
        "https://user:secret@example.com/hook",
        "https://example.com/hook#part",
        "https://example.com:99999/",
        "https://example.com:0/",
        "https://exa mple.com/",
        "https://example.com\\@127.0.0.1/",
        "https://[::1/",
        "https://example.com/\n",
        "https://example..com/",
        "https://../hook",
        f"https://{'a' * 64}.example/",
    ],
)
def test_urls_of_another_form_are_refused(url: str) -> None:
    with pytest.raises(TargetRefusedError):
        parse_url(url, allow_private=False)


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1/", "https://localhost/", "https://[::1]:8443/", "https://2130706433/", "https://0x7f.1/"]
)
async def test_hosts_with_private_addresses_are_refused(url: str) -> None:
    parts = parse_url(url, allow_private=False)
    with pytest.raises(TargetRefusedError):
        await require_public_host(parts)


class ChangingResolver(AbstractResolver):
    """Resolves a name to a public address once, and to this machine from then on, as an attacker's name server does."""

    def __init__(self) -> None:
        self.asked = 0

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        self.asked += 1
        address = "8.8.8.8" if self.asked == 1 else "127.0.0.1"
        return [ResolveResult(hostname=host, host=address, port=port, family=socket.AF_INET, proto=0, flags=socket.AI_NUMERICHOST)]

    async def close(self) -> None:
        return None


def webhook(url: str) -> Webhook:
    return Webhook(id="wh_0000", url=url, created=SystemClock().now(), secrets=(WebhookSecret(id="0000"),))


async def test_a_changed_address_is_refused_when_connecting(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = ChangingResolver()
    assert (await resolver.resolve("rebinding.example"))[0]["host"] == "8.8.8.8"
    # The receiver speaks no TLS: only the check of URLs is loosened, so that a missing check of addresses would reach it.
    monkeypatch.setattr("api.webhooks.sender.parse_url", lambda url, *, allow_private: None)
    async with receiving() as receiver, open_sender(SECRETS, WebhookSettings(timeout_s=5), resolver=resolver) as sender:
        port = receiver.url.partition("//127.0.0.1:")[2]
        failure = await sender.send("acme", webhook(f"http://rebinding.example:{port}"), message_id="m", body=b"{}")
    assert receiver.requests == []
    assert failure is not None
    assert failure.problem == "the address 127.0.0.1 is not public"


async def test_an_address_in_the_url_is_refused_when_connecting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.webhooks.sender.parse_url", lambda url, *, allow_private: None)
    async with receiving() as receiver, open_sender(SECRETS, WebhookSettings(timeout_s=5)) as sender:
        failure = await sender.send("acme", webhook(receiver.url), message_id="m", body=b"{}")
    assert receiver.requests == []
    assert failure is not None
    assert failure.problem == "the address 127.0.0.1 is not public"


async def test_endless_answers_and_redirects_are_not_followed() -> None:
    async def endless(_: Any) -> aiohttp.web.Response:
        return aiohttp.web.Response(status=307, headers={"Location": "/again"}, body=b"x" * 1_000_000)

    async with receiving(endless) as receiver, open_sender(SECRETS, WebhookSettings(allow_private=True, timeout_s=5)) as sender:
        failure = await sender.send("acme", webhook(receiver.url), message_id="m", body=b"{}")
    assert len(receiver.requests) == 1
    assert failure is not None
    assert failure.problem == "status 307"


async def test_a_silent_receiver_ends_at_the_time_out() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    with server:
        async with open_sender(SECRETS, WebhookSettings(allow_private=True, timeout_s=0.2)) as sender:
            failure = await sender.send("acme", webhook(url), message_id="m", body=b"{}")
    assert failure is not None
    assert failure.problem == "no answer within 0.2 s"


async def test_a_failed_connection_says_why() -> None:
    certified = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certified.load_cert_chain(TLS / "server.pem")
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=certified)
    certified_port = server.sockets[0].getsockname()[1]
    async with server, receiving() as plain, open_sender(SECRETS, WebhookSettings(allow_private=True, timeout_s=5)) as sender:
        problems = []
        for url in (
            f"https://127.0.0.1:{certified_port}",
            plain.url.replace("http:", "https:"),
            "https://nowhere.invalid",
            f"https://127.0.0.1:{free_port()}",
        ):
            failure = await sender.send("acme", webhook(url), message_id="m", body=b"{}")
            assert failure is not None
            problems.append(failure.problem)
    assert "certificate is refused: unable to get local issuer certificate" in problems[0]
    assert problems[1:] == ["no TLS connection: does the receiver speak https?", "the host cannot be resolved", "no connection"]
