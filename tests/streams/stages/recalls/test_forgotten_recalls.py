"""The recalls stage: it forgets an erased user's recalls in every generation, and no other user's."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from control.tenants import TenantDirectory
from memory.headers import ERASURE, KIND
from memory.keys import decode_key, encode_key, unmarked_key
from memory.records import ErasureCommand, RecalledEvent, RecallRecord, Touches
from streams.engine.records import ConsumedRecord
from streams.stages.recalls.handler import RecallsHandler, TouchedCodec
from tests.control_log import known_tenants
from tests.erased_users import command_record, now_erased
from tests.streams.harness import PartitionHarness, delivered, plain_settings

SAID_AT = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def known() -> TenantDirectory:
    return known_tenants({"acme": "companion", "umbrella": "companion"})


@pytest.fixture
def stage(tmp_path: Path, known: TenantDirectory) -> PartitionHarness:
    return PartitionHarness(RecallsHandler(settings=plain_settings(tmp_path), tenants=known), TouchedCodec())


def recall(offset: int, user: str, *, tenant: str = "acme", generation: str = "") -> ConsumedRecord:
    """One that has returned an event of the user's."""
    event = RecalledEvent(id=f"e-{user}", user=user, window_id="w")
    record = RecallRecord(id=f"r{offset}", tenant=tenant, user=user, memory_ids=[], events=[event], time=SAID_AT, generation=generation)
    return delivered("recalls", offset, encode_key(tenant, user), record.to_json())


def erasure(offset: int, user: str = "ann", *, tenant: str = "acme") -> ConsumedRecord:
    return command_record("recalls", ErasureCommand(tenant=tenant, user=user), offset)


async def test_a_user_is_forgotten_in_every_generation(stage: PartitionHarness) -> None:
    others = [recall(2, "anna"), recall(3, "ann/b"), recall(4, "ann", tenant="umbrella"), recall(5, "bob", generation="g2")]
    await stage.process([recall(0, "ann"), recall(1, "ann", generation="g2"), *others])
    assert len(stage.rows.rows) == 6
    batch = await stage.process([erasure(6)])
    assert (batch.outputs, batch.rejections) == ([], [])
    assert {decode_key(key) for key in stage.rows.rows} == {
        ("acme", "anna", "-"),
        ("acme", "ann/b", "-"),
        ("umbrella", "ann", "-"),
        ("acme", "bob", "g2"),
    }


async def test_a_row_of_the_same_batch_is_forgotten(stage: PartitionHarness) -> None:
    await stage.process([recall(0, "ann"), erasure(1)])
    assert stage.rows.rows == {}


async def test_an_erasure_repeated_forgets_nothing_more(stage: PartitionHarness) -> None:
    await stage.process([recall(0, "ann"), recall(1, "bob")])
    await stage.process([erasure(2)])
    rows = dict(stage.rows.rows)
    batch = await stage.process([erasure(2), erasure(3)])
    assert (batch.outputs, stage.rows.rows) == ([], rows)


async def test_a_recall_after_an_erasure_creates_new_touches(stage: PartitionHarness) -> None:
    await stage.process([recall(0, "ann")])
    await stage.process([erasure(1)])
    (output,) = (await stage.process([recall(2, "ann")])).outputs
    assert unmarked_key(output.key or b"") == encode_key("acme", "ann") != output.key
    assert [each.id for each in Touches.from_json(output.value or b"").events] == ["e-ann"]


async def test_a_replay_touches_no_event_of_the_user(stage: PartitionHarness, known: TenantDirectory) -> None:
    """Nor do other users' recalls of what was theirs."""
    log = [recall(0, "ann"), recall(1, "bob"), erasure(2)]
    await stage.process(log)
    now_erased(known, "acme", "ann", {"recalls": {0: 2}})
    batch = await stage.process(log)
    assert {unmarked_key(each.key or b"") for each in batch.outputs} <= {encode_key("acme", "bob")}
    assert {decode_key(key)[1] for key in stage.rows.rows} == {"bob"}
    (output,) = (await stage.process([recall(3, "ann")])).outputs
    assert unmarked_key(output.key or b"") == encode_key("acme", "ann"), "recalls after the reach belong to newer data"


async def test_only_the_unreadable_erasure_is_refused(stage: PartitionHarness) -> None:
    unreadable = delivered("recalls", 1, encode_key("acme", "ann"), b"{", headers=((KIND, ERASURE),))
    batch = await stage.process([recall(0, "ann"), unreadable, recall(2, "bob")])
    assert [(each.record.offset, each.reason) for each in batch.rejections] == [(1, "malformed")]
    assert len(stage.rows.rows) == 2
