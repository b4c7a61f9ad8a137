"""A batch that failed is tried again, with all its effects."""

from datetime import UTC, datetime
from pathlib import Path

from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.records import Message, SessionCommand, Window
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, SessionSettings
from streams.delivery.records import ConsumedRecord
from streams.sessions.codec import SessionCodec
from streams.sessions.handler import SessionsHandler
from tests.control_log import known_tenants
from tests.streams.harness import PartitionHarness, delivered, plain_settings

KEY = encode_key("acme", "s1")
SAID_AT = datetime(2024, 5, 1, tzinfo=UTC)


def _steps(folder: Path) -> PartitionHarness:
    settings = plain_settings(
        folder, kafka=KafkaSettings(partitions=1), sessions=SessionSettings(wait_timeout_s=60, out_of_orderness_s=0, idle_partition_s=10)
    )
    tenants = known_tenants({"acme": "companion"})
    return PartitionHarness(SessionsHandler(partition=0, settings=settings, tenants=tenants, tail=None, metrics=Metrics()), SessionCodec())


def _message(offset: int) -> ConsumedRecord:
    message = Message(tenant="acme", user="ada", session="s1", id=f"m{offset}", text="hello", event_time=SAID_AT)
    return delivered("messages", offset, KEY, message.to_json())


def _flush_of_tenant(offset: int) -> ConsumedRecord:
    command = SessionCommand(command="flush", tenant="acme")
    return delivered("messages", offset, encode_key("acme"), command.to_json(), headers=((KIND, COMMAND),))


async def test_a_retried_flush_of_all_sessions_closes_them(tmp_path: Path) -> None:
    steps = _steps(tmp_path)
    await steps.process([_message(0)])
    records = [_flush_of_tenant(1)]
    assert (await steps.process_uncommitted(records)).outputs
    steps.state.discard()
    again = await steps.process_uncommitted(records)
    assert [Window.from_json(output.value or b"").closed_by for output in again.outputs] == ["flush"]


async def test_the_first_record_of_a_failed_batch_works_alone(tmp_path: Path) -> None:
    steps = _steps(tmp_path)
    await steps.process([_message(0)])
    first, second = _flush_of_tenant(1), _flush_of_tenant(2)
    await steps.process_uncommitted([first, second])
    steps.state.discard()
    assert len((await steps.process([first])).outputs) == 1
    assert (await steps.process([second])).outputs == []


async def test_a_session_opened_by_a_failed_batch_is_closed(tmp_path: Path) -> None:
    steps = _steps(tmp_path)
    opening = _message(0)
    await steps.process_uncommitted([opening])
    steps.state.discard()
    assert (await steps.process_uncommitted([opening])).outputs == []
    steps.state.discard()
    assert (await steps.process([_flush_of_tenant(1)])).outputs == []
