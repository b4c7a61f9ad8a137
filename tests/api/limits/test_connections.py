"""The connection that is closed for a newer one."""

import asyncio
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.limits.timeouts import ConnectionTable, OneWriteTransport

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
