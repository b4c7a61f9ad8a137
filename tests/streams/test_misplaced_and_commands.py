"""What other producers may do to the messages topic, and what commands and time do: on a real broker."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.headers import ORIGIN
from memory.keys import encode_key, partition_of
from runtime.kafka import create_topics
from runtime.settings import SessionSettings, Settings
from runtime.tenants import add_tenant
from streams.delivery.records import FORWARDED
from tests.streams.flow import TENANT, flow_settings, serving
from tests.streams.message_ledger import MessageLedger, foreign_partition, records_of, stage_done

pytestmark = pytest.mark.integration

OTHER = "globex"


@pytest.fixture
async def settings(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path) -> Settings:
    base = flow_settings(kafka=kafka, topic_prefix=topic_prefix, redis_url=redis_url, data=tmp_path, socket=tmp_path / "none.sock")
    settings = base.model_copy(update={"sessions": SessionSettings(message_count=4, message_cap=6, idle_partition_s=1.0)})
    for tenant in (TENANT, OTHER):
        add_tenant(settings.tenants_path, tenant, schema="companion")
    await create_topics(settings)
    return settings


async def test_no_partitioner_splits_a_session(settings: Settings) -> None:
    ledger = MessageLedger(settings)
    partitions = settings.kafka.partitions
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
    async with serving(settings, ["sessions"]):
        await ledger.send(records)
        await stage_done(settings, "sessions")
        await ledger.send(reversed(records[::3]))
        await stage_done(settings, "sessions")
        await stage_done(settings, "sessions")
        await ledger.send(ledger.flush(TENANT))
        await stage_done(settings, "sessions")
    windows = await ledger.windows()
    got = {session: sorted(message.id or "" for window in each for message in window.messages) for session, each in windows.items()}
    assert got == {session: sorted(ids) for session, ids in ledger.expected_ids.items()}
    forwarded = [record for record in await records_of(settings, "messages") if dict(record.headers).get(FORWARDED)]
    origins = [dict(record.headers)[ORIGIN] for record in forwarded]
    assert misplaced > 0
    assert len(origins) == len(set(origins)) >= misplaced
    for record in forwarded:
        assert record.partition == partition_of(record.key, partitions)
    assert await records_of(settings, "dead-letters") == []


async def test_a_flush_closes_only_its_own_sessions(settings: Settings) -> None:
    ledger = MessageLedger(settings)
    named = [(tenant, f"s{number}") for tenant in (TENANT, OTHER) for number in range(4)]
    async with serving(settings, ["sessions"]):
        await ledger.send([ledger.message(*session) for session in named])
        await ledger.send(ledger.flush(TENANT, "s1"))
        await stage_done(settings, "sessions")
        assert set(await ledger.windows()) == {(TENANT, "s1")}
        await ledger.send(ledger.flush(TENANT))
        await stage_done(settings, "sessions")
        assert set(await ledger.windows()) == {session for session in named if session[0] == TENANT}
    assert {window.closed_by for each in (await ledger.windows()).values() for window in each} == {"flush"}


async def test_silence_closes_windows_by_the_messages_own_time(settings: Settings) -> None:
    ledger = MessageLedger(settings)
    quiet, chatty = [name for name in map("s{}".format, range(40)) if partition_of(encode_key(TENANT, name), 2) == 0][:2]
    then = datetime(2024, 5, 1, tzinfo=UTC)
    async with serving(settings, ["sessions"]):
        await ledger.send([ledger.message(TENANT, quiet, time=then)])
        # The partition's time moves by another session's messages, years behind the wall clock.
        await ledger.send([ledger.message(TENANT, chatty, time=then + timedelta(seconds=1800))])
        await stage_done(settings, "sessions")
        await ledger.send([ledger.message(TENANT, chatty, time=then + timedelta(seconds=1900))])
        await _window_of(ledger, quiet)
    windows = await ledger.windows()
    assert set(windows) == {(TENANT, quiet)}
    assert windows[TENANT, quiet][0].closed_by == "idle"


async def _window_of(ledger: MessageLedger, session: str) -> None:
    while (TENANT, session) not in await ledger.windows():
        await stage_done(ledger.settings, "sessions")
