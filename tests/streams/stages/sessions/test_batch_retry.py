"""A batch that failed is tried again, with all its effects."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from control import ControlState
from control.tenants import TenantDirectory
from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.records import Message, SessionCommand, Window
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, SessionSettings
from streams.engine.records import ConsumedRecord
from streams.errors import TransientError
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from streams.stages.sessions.tail_writer import TailWriter
from streams.stages.sessions.windows import SessionState
from tests.control_log import add, apply_change, known_tenants
from tests.streams.harness import PartitionHarness, delivered, plain_settings

SAID_AT = datetime(2024, 5, 1, tzinfo=UTC)


@dataclass
class _Followed:
    """ControlView of the control log that is confirmed once a second."""

    state: ControlState = field(default_factory=ControlState)
    now: float = 1000.5
    is_current: bool = True

    @property
    def confirmed_at(self) -> float:
        return float(int(self.now))

    def require_current(self) -> None:
        """It is always current."""

    async def wait_for(self, position: int, *, timeout_s: float) -> None:
        raise NotImplementedError("nobody waits here")


class _ShownTails(list[str]):
    """The sessions whose tails were shown."""

    def window_changed(self, state: SessionState, *, partition: int) -> None:
        self.append(state.session)


def _steps(folder: Path, tenants: TenantDirectory | None = None, tail: Any = None) -> PartitionHarness:
    settings = plain_settings(
        folder, kafka=KafkaSettings(partitions=1), sessions=SessionSettings(wait_timeout_s=60, out_of_orderness_s=0, idle_partition_s=10)
    )
    tenants = tenants or known_tenants({"acme": "companion"})
    handler = SessionsHandler(partition=0, settings=settings, tenants=tenants, tail=cast(TailWriter | None, tail), metrics=Metrics())
    return PartitionHarness(handler, SessionCodec())


def _message(offset: int, *, tenant: str = "acme", session: str = "s1") -> ConsumedRecord:
    message = Message(tenant=tenant, user="ada", session=session, id=f"m{offset}", text="hello", event_time=SAID_AT)
    return delivered("messages", offset, encode_key(tenant, session), message.to_json())


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


async def test_the_first_record_of_a_failed_batch_runs_alone(tmp_path: Path) -> None:
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


async def test_many_unknown_tenants_wait_together(tmp_path: Path) -> None:
    followed = _Followed()
    steps = _steps(tmp_path, TenantDirectory(followed, monotonic=lambda: followed.now))
    records = [_message(offset, tenant=f"gone{offset}") for offset in range(40)]
    with pytest.raises(TransientError, match="'gone0' is not known yet"):
        await steps.process_uncommitted(records)
    steps.state.discard()
    followed.now += 1.0
    batch = await steps.process(records)
    assert [refusal.reason for refusal in batch.rejections] == ["unknown_tenant"] * 40


async def test_no_tail_is_published_after_a_waiting_message(tmp_path: Path) -> None:
    followed, shown = _Followed(), _ShownTails()
    apply_change(followed.state, add("acme", "companion"))
    steps = _steps(tmp_path, TenantDirectory(followed, monotonic=lambda: followed.now), shown)
    records = [_message(0), _message(1, tenant="new"), _message(2, session="s2")]
    with pytest.raises(TransientError):
        await steps.process_uncommitted(records)
    assert shown == ["s1"]
    steps.state.discard()
    apply_change(followed.state, add("new", "companion"))
    shown.clear()
    assert (await steps.process(records)).rejections == []
    assert shown == ["s1", "s1", "s2"]
