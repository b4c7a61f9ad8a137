"""Records of other producers in the messages topic, commands and timers: on a real broker."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memory.headers import ORIGIN
from memory.keys import encode_key, partition_of
from runtime.settings import SessionSettings, Settings
from streams.engine.records import FORWARDED
from tests.streams.flow import TENANT, NewFlow, serving
from tests.streams.message_ledger import MessageLedger, foreign_partition, records_of, stage_done

pytestmark = pytest.mark.integration

OTHER = "globex"


@pytest.fixture
async def flow(new_flow: NewFlow) -> Settings:
    """A flow of two tenants whose partitions are soon idle."""
    sessions = SessionSettings(message_count=4, message_cap=6, idle_partition_s=1.0)
    return await new_flow({TENANT: "companion", OTHER: "companion"}, sessions=sessions)


async def test_no_partitioner_splits_a_session(flow: Settings) -> None:
    ledger = MessageLedger(flow)
    partitions = flow.kafka.partitions
    records, misplaced = [], 0
    for number in range(80):
        record = ledger.message(TENANT, f"s{number % 8}")
        key = record.key or b""
        match number % 4:
            case 0:
                record = replace(record, partition=foreign_partition(key, partitions))
                misplaced += record.partition != partition_of(key, partitions)
            case 1:
                record = replace(record, key=None, partition=number % partitions)
                misplaced += 1
        records.append(record)
    # The producer's retries: everything once more, in another order.
    async with serving(flow, ["sessions"]):
        await ledger.send(records)
        await stage_done(flow, "sessions")
        await ledger.send(reversed(records[::3]))
        await stage_done(flow, "sessions")
        await stage_done(flow, "sessions")
        await ledger.send(ledger.flush(TENANT))
        await stage_done(flow, "sessions")
    windows = await ledger.windows()
    got = {session: sorted(message.id or "" for window in each for message in window.messages) for session, each in windows.items()}
    assert got == {session: sorted(ids) for session, ids in ledger.expected_ids.items()}
    forwarded = [record for record in await records_of(flow, "messages") if dict(record.headers).get(FORWARDED)]
    origins = [dict(record.headers)[ORIGIN] for record in forwarded]
    assert misplaced > 0
    assert len(origins) == len(set(origins)) >= misplaced
    for record in forwarded:
        assert record.partition == partition_of(record.key, partitions)
    assert await records_of(flow, "dead-letters") == []


async def test_a_flush_closes_only_its_own_sessions(flow: Settings) -> None:
    ledger = MessageLedger(flow)
    named = [(tenant, f"s{number}") for tenant in (TENANT, OTHER) for number in range(4)]
    async with serving(flow, ["sessions"]):
        await ledger.send([ledger.message(*session) for session in named])
        await ledger.send(ledger.flush(TENANT, "s1"))
        await stage_done(flow, "sessions")
        assert set(await ledger.windows()) == {(TENANT, "s1")}
        await ledger.send(ledger.flush(TENANT))
        await stage_done(flow, "sessions")
        assert set(await ledger.windows()) == {session for session in named if session[0] == TENANT}
    assert {window.closed_by for each in (await ledger.windows()).values() for window in each} == {"flush"}


async def test_silence_closes_windows_by_the_messages_own_time(flow: Settings) -> None:
    ledger = MessageLedger(flow)
    quiet, chatty = [name for name in map("s{}".format, range(40)) if partition_of(encode_key(TENANT, name), 2) == 0][:2]
    then = datetime(2024, 5, 1, tzinfo=UTC)
    async with serving(flow, ["sessions"]):
        await ledger.send([ledger.message(TENANT, quiet, time=then)])
        # Another session's messages move the partition's time, years before the wall clock.
        await ledger.send([ledger.message(TENANT, chatty, time=then + timedelta(seconds=1800))])
        await stage_done(flow, "sessions")
        await ledger.send([ledger.message(TENANT, chatty, time=then + timedelta(seconds=1900))])
        await _window_of(ledger, quiet)
    windows = await ledger.windows()
    assert set(windows) == {(TENANT, quiet)}
    assert windows[TENANT, quiet][0].closed_by == "idle"


async def _window_of(ledger: MessageLedger, session: str) -> None:
    while (TENANT, session) not in await ledger.windows():
        await stage_done(ledger.settings, "sessions")
