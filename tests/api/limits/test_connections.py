"""The connection that is closed for a newer one."""

import asyncio
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.config import Config
from uvicorn.server import ServerState

from api.http.one_write_transport import OneWriteTransport
from api.limits.connection_table import ConnectionTable
from api.limits.slow_reader import ReaderWatch
from api.limits.timeouts import BoundedProtocol, bounded_protocol
from runtime.metrics import Metrics
from runtime.settings import ServiceSettings

Step = tuple[str, int]

steps = st.lists(st.tuples(st.sampled_from(("add", "sends", "began", "ended", "remove")), st.integers(0, 9)), max_size=60)


@given(st.integers(1, 4), steps)
def test_only_connections_without_work_are_closed(limit: int, taken: list[Step]) -> None:
    table = ConnectionTable[int](limit=limit)
    present: dict[int, str] = {}
    for step, name in taken:
        match step:
            case "add" if name not in present:
                before = dict(present)
                victim = table.add(name)
                present[name] = "silent"
                if victim is None:
                    assert len(before) < limit
                    continue
                assert len(before) == limit
                waiting = [each for state in ("silent", "idle", "sending") for each, kept in before.items() if kept == state]
                assert victim == (waiting[0] if waiting else name)
                del present[victim]
            case "sends" | "began" | "ended" if name in present:
                record, state = {
                    "sends": (table.body_began, "sending"),
                    "began": (table.request_began, "busy"),
                    "ended": (table.request_ended, "idle"),
                }[step]
                record(name)
                if present[name] != state:
                    present.pop(name)
                    present[name] = state
            case "remove":
                table.remove(name)
                present.pop(name, None)
            case _:
                pass
        assert len(table) == len(present) <= limit


def test_silent_connections_are_closed_before_idle_ones() -> None:
    table = ConnectionTable[str](limit=3)
    for name in ("asked", "silent", "silent too"):
        assert table.add(name) is None
    table.request_began("asked")
    table.request_ended("asked")
    assert table.add("a") == "silent"
    assert table.add("b") == "silent too"
    for name in ("a", "b"):
        table.request_began(name)
    assert table.add("c") == "asked"


def test_a_body_in_drops_does_not_keep_its_place() -> None:
    table = ConnectionTable[str](limit=2)
    for name in ("slow", "quick"):
        table.add(name)
        table.body_began(name)
    table.body_began("slow")
    table.request_began("quick")
    assert table.add("new") == "slow"


def test_removed_connections_stay_removed() -> None:
    table = ConnectionTable[str](limit=1)
    assert table.add("first") is None
    assert table.add("second") == "first"
    table.request_began("first")
    assert len(table) == 1


def test_limits_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ConnectionTable[str](limit=0)


class Written:
    """A transport that keeps what is written to it."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    def close(self) -> None:
        self.writes.append(b"closed")


async def test_a_head_is_written_with_the_body() -> None:
    raw = Written()
    transport = OneWriteTransport(cast("asyncio.Transport", raw), asyncio.get_running_loop())
    for part in (b"HTTP/1.1 200 OK\r\n\r\n", b"body", b"more"):
        transport.write(part)
    await asyncio.sleep(0)
    assert raw.writes == [b"HTTP/1.1 200 OK\r\n\r\nbody", b"more"]


async def test_a_head_without_a_body_is_not_held_back() -> None:
    raw = Written()
    transport = OneWriteTransport(cast("asyncio.Transport", raw), asyncio.get_running_loop())
    transport.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await asyncio.sleep(0)
    assert raw.writes == [b"HTTP/1.1 200 OK\r\n\r\n"]
    transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    transport.close()
    assert raw.writes[1:] == [b"HTTP/1.1 204 No Content\r\n\r\n", b"closed"]


class Connected(asyncio.Transport):
    """A transport whose client has not read some bytes."""

    def __init__(self, unread: int) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.unread = unread
        self.ends: list[str] = []
        self.protocol: asyncio.Protocol | None = None

    def write(self, data: Any) -> None:
        self.unread += len(data)
        if self.protocol is not None:
            self.protocol.pause_writing()

    def get_write_buffer_size(self) -> int:
        return self.unread

    def is_closing(self) -> bool:
        return bool(self.ends)

    def close(self) -> None:
        self.ends.append("closed")

    def abort(self) -> None:
        self.ends.append("aborted")


def connected_to(client: Connected, settings: ServiceSettings) -> BoundedProtocol:
    config = Config(lambda *_: None, lifespan="off", log_config=None)
    config.load()
    protocol = bounded_protocol(settings, Metrics())(config=config, server_state=ServerState(), app_state={})  # type: ignore[call-arg]
    protocol.connection_made(client)
    return cast("BoundedProtocol", protocol)


async def test_a_closed_connection_keeps_no_unread_answer() -> None:
    config = Config(lambda *_: None, lifespan="off", log_config=None)
    config.load()
    protocol = bounded_protocol(ServiceSettings(max_connections=1), Metrics())
    transports = [Connected(unread) for unread in (0, 1, 0)]
    for each in transports:
        protocol(config=config, server_state=ServerState(), app_state={}).connection_made(each)  # type: ignore[call-arg]
    assert [each.ends for each in transports] == [["closed"], ["aborted"], []]
    assert transports[2].unread == 0


async def test_a_little_reading_does_not_end_the_watch() -> None:
    client = Connected(0)
    slow = connected_to(client, ServiceSettings(write_timeout_s=0.01))
    client.unread = 100_000
    slow.pause_writing()
    client.unread = 10_000
    slow.resume_writing()
    async with asyncio.timeout(60):
        while not client.ends:  # noqa: ASYNC110 - a transport has no event
            await asyncio.sleep(0.001)
    assert client.ends == ["aborted"]


@pytest.mark.parametrize(("is_read", "ends"), [(True, []), (False, ["aborted"])])
async def test_bytes_written_meanwhile_hide_no_reading(is_read: bool, ends: list[str]) -> None:
    client = Connected(0)
    client.protocol = served = connected_to(client, ServiceSettings(write_timeout_s=3600))
    served.transport.write(b"x" * 1000)
    if is_read:
        client.unread = 0
        served.transport.write(b"x" * 1000)
    served._reader.look()
    assert client.ends == ends
    served.connection_lost(None)


async def test_only_a_slow_reader_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.limits.slow_reader.LEAST_READ", 100)
    unread, cuts = 1000, 0

    def cut_off() -> None:
        nonlocal cuts
        cuts += 1

    watch = ReaderWatch(unread=lambda: unread, timeout_s=3600, cut_off=cut_off)
    watch.note_written(1000)
    watch.start()
    for written, left in ((0, 900), (500, 1300), (0, 50), (200, 200), (0, 100), (0, 0)):
        watch.note_written(written)
        unread = left
        watch.start()
        watch.look()
        assert not cuts, (written, left)
    watch.note_written(1000)
    unread = 1000
    watch.start()
    unread = 901
    watch.look()
    assert cuts == 1
    watch.stop()
