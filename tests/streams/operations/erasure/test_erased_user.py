"""The data that a run has found of a user, and its receipt."""

from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest

from control.erasure import subject_of
from control.tenants import TenantDirectory
from memory.ids import entity_id
from memory.keys import distinct_key, encode_key, marked_key, partition_of
from stores.edge.owner import INTERVAL_S
from streams.operations.erasure.erased_user import ErasedUser, WrittenRecords
from streams.operations.erasure.removal import note_files
from tests.streams.agent_extractions import START, TENANT, extraction
from tests.streams.harness import plain_settings
from tests.streams.operations.erasure.traced_records import headers_of, patched, with_outcome

USER = "agent"


@pytest.fixture
def user(tenants: TenantDirectory) -> ErasedUser:
    found = ErasedUser(TENANT, USER, begun_at=START, partitions=8)
    found.begin_trace(tenants)
    return found


def test_a_user_is_known_by_digest_and_place(user: ErasedUser) -> None:
    assert user.subject == subject_of(TENANT, USER)
    assert user.home == partition_of(encode_key(TENANT, USER), 8)


def test_nothing_found_is_a_receipt_of_nothing(user: ErasedUser) -> None:
    assert set(user.found.values()) == {0}
    assert user.remains == ()


def test_a_receipt_counts_the_erased_records(user: ErasedUser) -> None:
    what = with_outcome(extraction(0, [("grep", 0), ("curl", 1)]), procedure="first read")
    user.trace.add(what.to_json(), headers_of(what))
    for window in ("w1", "w2", "w2"):
        user.windows.add(marked_key(user.key, window))
    user.sessions |= {"s1", "s2"}
    user.dead_letters = 4
    tools = {each.entity_key for each in user.trace.entities if not each.own}
    assert tools == {"grep", "curl"}
    shared = sum(not each.own for each in user.trace.entities)
    assert user.found == {"windows": 2, "sessions": 2, "events": 3, "entities": 1, "shared_entities": shared, "dead_letters": 4}


def test_the_receipt_describes_the_remaining_data(user: ErasedUser) -> None:
    what = patched(extraction(0, [("grep", 0)]), "tool_experience", "grep", "suggestions")
    user.trace.add(what.to_json(), headers_of(what))
    user.trace.add(b"{", ())
    user.leave("3 memories")
    memory_id = entity_id(TENANT, "tool_experience", "grep")
    assert user.remains == (
        "3 memories",
        f"text that patches wrote into suggestions of the tool_experience {memory_id}, which others share: read and correct it",
        "the results of 1 extractions that this version of Varve cannot read",
    )


def test_dead_letters_are_kept_longest(user: ErasedUser) -> None:
    assert timedelta(milliseconds=user.kept_ms) == timedelta(days=9)
    user.dead_letters = 1
    assert timedelta(milliseconds=user.kept_ms) == timedelta(days=30)


def test_records_without_marks_are_counted_separately() -> None:
    written = WrittenRecords()
    marked = [distinct_key("acme", "ann") for _ in range(3)]
    for key in [*marked, marked[0], encode_key("acme", "ann"), encode_key("acme", "ann")]:
        written.add(key)
    assert [*written.keys] == marked
    assert (written.unmarked, written.count) == (2, 5)


def test_the_embedded_store_rewrites_its_files_sooner(user: ErasedUser) -> None:
    """The receipt names one time for all disks: a compaction that waits for a day, and takes another, ends before it."""
    assert timedelta(milliseconds=user.kept_ms) > 2 * timedelta(seconds=INTERVAL_S)


@pytest.mark.parametrize("kind", ["edge", "server"])
async def test_the_receipt_lists_files_without_an_end(user: ErasedUser, tmp_path: Path, kind: str) -> None:
    settings = plain_settings(tmp_path)
    settings = settings.model_copy(update={"store": settings.store.model_copy(update={"kind": kind})})

    async def rewrite(_: object) -> tuple[str, ...]:
        return ("Redis keeps a file",)

    with patch("streams.operations.erasure.removal.rewrite_files", rewrite):
        await note_files(settings, [user], cast(Any, None))
    assert user.remains[0] == "Redis keeps a file"
    assert [each for each in user.remains if "Qdrant server keep deleted points" in each] == list(user.remains[1:])
    assert len(user.remains) == (2 if kind == "server" else 1)
