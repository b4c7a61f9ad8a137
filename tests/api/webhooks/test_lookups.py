"""Lookups of receivers' hosts, with a name server that does not answer."""

import asyncio
import socket
import threading
from typing import Any

import pytest

from api.webhooks.lookups import HostLookups


async def test_a_slow_name_server_delays_no_other_host(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answers = threading.Event()
    look_up = socket.getaddrinfo

    def getaddrinfo(host: str, *args: Any, **options: Any) -> list[Any]:
        asked.append(host)
        if host == "slow.example":
            answers.wait(30)
        return look_up("127.0.0.1", *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    lookups = HostLookups()
    slow = [asyncio.create_task(lookups.resolve("slow.example", 443)) for _ in range(100)]
    try:
        async with asyncio.timeout(20):
            for _ in range(2):
                [found] = await lookups.resolve("fast.example", 443)
                assert (found["hostname"], found["host"], found["port"]) == ("fast.example", "127.0.0.1", 443)
            await asyncio.to_thread(answers.set)  # the threads of the loop are free
            assert all(await asyncio.gather(*slow))
    finally:
        answers.set()
        await lookups.close()
    assert sorted(asked) == ["fast.example", "fast.example", "slow.example"]


async def test_a_host_that_nobody_knows_is_an_error() -> None:
    lookups = HostLookups()
    with pytest.raises(socket.gaierror):
        await lookups.resolve("nowhere.invalid", 443)
    await lookups.close()
