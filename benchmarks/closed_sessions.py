"""``python -m benchmarks.closed_sessions``: time in which a partition of the sessions stage starts, by the number of its closed sessions.

The rows of closed sessions are kept forever, so a start must not read them. One table in RocksDB grows from size to size; at each size a
new process opens it and recovers a thousand open windows. Writes ``build/reports/closed_sessions.json``.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psutil

from benchmarks.reports import benchmark_parser, write_report
from control.state import ControlState
from control.tenants import TenantDirectory
from control.view import FixedControlView
from memory.keys import encode_key
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.state.partition_state import PartitionState, StateChange, pack
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.stages.sessions.codec import SessionCodec, SessionsRow
from streams.stages.sessions.handler import SessionsHandler
from streams.stages.sessions.partition_rows import OpenWindowMark, mark_key
from streams.stages.sessions.windows import SessionState

_OPEN_SESSIONS: Final = 1000
_BATCH: Final = 10_000
_TENANT: Final = "acme"
_CLOSED: Final = SessionState(tenant=_TENANT, session="", sequence=3, last_offset=10**9, last_event_ms=1_790_000_000_000)


def rows(start: int, stop: int) -> Iterator[StateChange]:
    """The rows of closed sessions."""
    codec = SessionCodec()
    for number in range(start, stop):
        yield _row(codec, replace(_CLOSED, session=_name(number)))


def open_rows() -> Iterator[StateChange]:
    """The rows of the sessions with an open window, each with its mark."""
    codec = SessionCodec()
    for number in range(_OPEN_SESSIONS):
        state = replace(
            _CLOSED,
            session=f"open-{number:06d}",
            raw_messages=[b"{}" * 150],
            ids=["m1"],
            authors=["ada"],
            tokens=70,
            size=301,
            first_offset=1,
        )
        yield _row(codec, state)
        yield StateChange(mark_key(encode_key(_TENANT, state.session)), pack(1, codec.encode(OpenWindowMark())))


def grow(folder: Path, start: int, stop: int) -> None:
    """Adds closed sessions to the table in a folder."""
    store = RocksDBStore(folder)
    store.open()
    for first in range(start, stop, _BATCH):
        store.write(list(rows(first, min(stop, first + _BATCH))), stop)
    if not start:
        store.write(list(open_rows()), stop)
    store.close()


async def start(folder: Path) -> dict[str, object]:
    """Opens the table and recovers the handler, as a worker does that keeps its tables."""
    before = psutil.Process().memory_info().rss
    began = time.perf_counter()
    store = RocksDBStore(folder)
    store.open()
    opened = time.perf_counter()
    settings = Settings()
    handler = SessionsHandler(
        partition=0, settings=settings, tenants=TenantDirectory(FixedControlView(ControlState())), tail=None, metrics=Metrics()
    )
    state = PartitionState[SessionsRow](store, SessionCodec(), cache_bytes=settings.delivery.state_cache_bytes)
    await handler.recover(state, datetime.now(UTC))
    recovered = time.perf_counter()
    found: dict[str, object] = {
        "open_ms": round((opened - began) * 1000, 1),
        "recover_ms": round((recovered - opened) * 1000, 1),
        "resident_mb": round((psutil.Process().memory_info().rss - before) / 1e6, 1),
        "table_mb": round(store.size_bytes() / 1e6, 1),
    }
    store.close()
    return found


def _row(codec: SessionCodec, state: SessionState) -> StateChange:
    return StateChange(encode_key(_TENANT, state.session), pack(1, codec.encode(state)))


def _name(number: int) -> str:
    """A name as long as a UUID, in an order that is not that of the numbers."""
    return f"{number * 2654435761 % 2**32:08x}-0000-4000-8000-{number:012d}"


def main() -> None:
    """Measures, prints and writes the report."""
    parser = benchmark_parser("closed_sessions", __doc__)
    parser.add_argument(
        "--sessions", type=int, nargs="*", default=[10_000, 1_000_000, 10_000_000], help="numbers of closed sessions, rising"
    )
    parser.add_argument("--start", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.start:
        print(json.dumps(asyncio.run(start(arguments.start))))
        return
    report: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="varve-") as folder:
        table, written = Path(folder) / "table", 0
        for count in arguments.sessions:
            grow(table, written, count)
            written = count
            # A separate process: RocksDB's memory of the writing does not count.
            child = subprocess.run(
                [sys.executable, "-m", "benchmarks.closed_sessions", "--start", str(table)], check=True, capture_output=True
            )
            report[str(count)] = json.loads(child.stdout)
            print(json.dumps({count: report[str(count)]}), flush=True)
    write_report(arguments.report, report)


if __name__ == "__main__":
    main()
