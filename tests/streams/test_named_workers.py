"""A worker with a static group membership gets its partitions back after a restart; no other worker gets them meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from runtime.settings import Settings
from streams.engine.state.folders import tables_folder
from streams.run import serve_stage
from tests.streams.flow import NewFlow, caught_up, send_sample
from tests.streams.harness import until

pytestmark = pytest.mark.integration

SESSIONS = tuple(f"s-{number}" for number in range(6))


@asynccontextmanager
async def working(settings: Settings, name: str) -> AsyncIterator[Path]:
    """A worker of the sessions stage; gives the folder of its tables."""
    kafka = settings.kafka.model_copy(update={"group_instance_id": name, "session_timeout_s": 120.0, "request_timeout_s": 120.0})
    own = settings.model_copy(update={"kafka": kafka, "data": settings.data / name})
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as worker:
        worker.create_task(serve_stage("sessions", own, stop))
        try:
            yield tables_folder(own.data, "sessions") / "0"
        finally:
            stop.set()


def partitions_in(folder: Path) -> set[str]:
    return {each.parent.name for each in folder.glob("*/CURRENT")}


async def test_a_restarted_worker_keeps_its_partition(new_flow: NewFlow) -> None:
    settings = await new_flow()
    # The first one may be alone at first, and have both: what counts is where they stand once both are there.
    async with working(settings, "b") as b:
        await until(lambda: len(partitions_in(b)) == 2)
        async with working(settings, "a") as a:
            await until(lambda: len(partitions_in(a)) == 1)
            for session in SESSIONS:
                await send_sample(settings, session=session)
            await caught_up(settings, ["sessions"])
            own = partitions_in(a)
            before = {path.name: path.stat().st_mtime_ns for path in (b / next(iter(own))).iterdir()}
        async with working(settings, "a") as a:
            for session in SESSIONS:
                await send_sample(settings, session=f"{session}-again")
            await caught_up(settings, ["sessions"])
            assert partitions_in(a) == own
            after = {path.name: path.stat().st_mtime_ns for path in (b / next(iter(own))).iterdir()}
    assert after == before, "the other worker opened the tables of this partition again: it had taken it over"
