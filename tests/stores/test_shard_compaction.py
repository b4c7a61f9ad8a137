"""Compaction removes deleted points, and nothing else, from the files of a shard in use."""

import asyncio
import random
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from memory.records import Memory
from stores.edge.client import EdgeStore
from stores.edge.folder import is_served
from stores.edge.owner import Compactor, Owner
from stores.edge.search import best
from stores.edge.shard import Shard
from stores.errors import StoreUnavailableError
from stores.filters import MemoryFilter, TombstoneFilter
from stores.points import memory_of, step_payload, tombstone_payload
from stores.port import RecallQuery, StepPoint, TenantScope
from stores.query_plan import plan_query
from tests.stores.factories import (
    ANN,
    DIMENSION,
    LATE_DIMENSION,
    MODEL,
    NOON,
    at,
    deletions,
    embedding,
    memory,
    point,
    prepared_shard,
    put_in_shard,
    step,
)
from tests.streams.harness import until

ACME = MemoryFilter.everything(TenantScope("acme"))
SECRET = "Zanzibar"
"""Storage compresses texts, and leaves a word as it is where it stands first."""


@pytest.fixture
def shard(tmp_path: Path) -> Iterator[Shard]:
    shard = prepared_shard(tmp_path / "data")
    yield shard
    shard.close()


def secrets(number: int) -> list[Memory]:
    return [memory(f"{SECRET} {each} is where Ann's money lies", user="ann") for each in range(number)]


def delete(shard: Shard, *ids: str, offset: int = 1) -> None:
    shard.delete(ACME, {each: tombstone_payload(at(offset), NOON) for each in ids})


def rewrite(shard: Shard) -> None:
    for _ in shard.compaction():
        pass


def files_with_secret(folder: Path) -> list[str]:
    """The files with the secret."""
    found = []
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):  # an owner may remove it meanwhile
            if SECRET.encode() in path.read_bytes():
                found.append(path.name)
    return found


def shown(shard: Shard) -> tuple[dict[str, str], list[tuple[str, float]], list[str | None]]:
    """All that can be asked of a shard: its records, scores, checkpoints."""
    text = "who has a red bicycle or a note"
    plan = plan_query(
        RecallQuery(filter=MemoryFilter(scope=TenantScope("acme")), text=text, embedding=embedding(text), limit=100, prefetch=100)
    )
    found = [(memory_of(each.record).id, round(each.score, 5)) for each in best(shard.recall(plan, explain=False), 100)]
    steps = MemoryFilter(scope=TenantScope("acme"), steps_of=ANN, generation=None)
    records = shard.scroll(ACME, start=None, limit=1000) | shard.scroll(steps, start=None, limit=1000)
    return records, sorted(found), [str(shard.checkpoint_of(each)) for each in range(3)]


def test_no_file_contains_a_deleted_memory(shard: Shard, tmp_path: Path) -> None:
    for each in (*secrets(20), *(memory(f"note {number}") for number in range(100))):
        put_in_shard(shard, each)
    delete(shard, *(each.id for each in secrets(20)))
    shard.flush()
    before = shown(shard)
    assert files_with_secret(tmp_path)

    rewrite(shard)

    assert files_with_secret(tmp_path) == []
    assert shown(shard) == before
    assert len(before[0]) == 100


def test_no_file_contains_a_former_text(shard: Shard, tmp_path: Path) -> None:
    [first] = secrets(1)
    put_in_shard(shard, first)
    put_in_shard(shard, first.model_copy(update={"content": "Ann has moved"}), offset=1)
    shard.flush()
    assert files_with_secret(tmp_path)

    rewrite(shard)

    assert files_with_secret(tmp_path) == []
    assert [memory_of(each).content for each in shard.scroll(ACME, start=None, limit=9).values()] == ["Ann has moved"]


def test_a_rewritten_shard_is_loaded_again(shard: Shard, tmp_path: Path) -> None:
    put_in_shard(shard, memory("note"))
    for _ in range(2):
        rewrite(shard)
    before = shown(shard)
    shard.close()
    assert len([each for each in (tmp_path / "data").iterdir() if each.is_dir()]) == 1

    loaded = Shard(tmp_path / "data")
    loaded.prepare(MODEL, DIMENSION, LATE_DIMENSION)

    assert shown(loaded) == before
    loaded.close()


@pytest.mark.parametrize("seed", range(2))
def test_writes_between_its_steps_are_kept(shard: Shard, tmp_path: Path, seed: int) -> None:
    twin, draw = prepared_shard(tmp_path / "twin"), random.Random(seed)
    for shard_ in (shard, twin):
        write(shard_, random.Random(seed), times=100, offset=0)

    for offset, _ in enumerate(shard.compaction(), start=1):
        state = draw.getstate()
        write(twin, draw, times=4, offset=offset)
        draw.setstate(state)
        write(shard, draw, times=4, offset=offset)
        assert shard.points == twin.points

    assert shown(shard) == shown(twin)
    shard.close()
    loaded = Shard(tmp_path / "data")
    assert shown(loaded) == shown(twin)
    for each in (loaded, twin):
        each.close()


def write(shard: Shard, draw: random.Random, *, times: int, offset: int) -> None:
    """Writes, deletes and purges, drawn at random; nothing is written twice at one offset."""
    for each in range(times):
        place, number = offset * 1000 + each, draw.randrange(80)
        match draw.randrange(6):
            case 0 | 1:
                put_in_shard(shard, memory(f"note {number}"), offset=place)
            case 2:
                stored = memory(f"note {number}")
                put_in_shard(shard, stored.model_copy(update={"content": f"bicycle {place}"}), offset=place)
            case 3:
                delete(shard, memory(f"note {number}").id, offset=place)
            case 4:
                payload = step_payload(StepPoint(step(number), at(place)))
                shard.put_steps({step(number).id: payload})
            case _:
                shard.set_checkpoint(at(place, partition=number % 3))
                if number < 10:
                    shard.purge(TombstoneFilter(NOON + timedelta(hours=1)))


def test_a_death_at_any_step_loses_nothing(shard: Shard, tmp_path: Path) -> None:
    for number in range(24):
        put_in_shard(shard, memory(f"note {number}"))
    copy, pointer = tmp_path / "copy", tmp_path / "data" / "engine.json"
    known = pointer.read_bytes()
    for number, _ in enumerate(shard.compaction(), start=24):
        put_in_shard(shard, memory(f"note {number}"))
        if number % 20 == 0 or pointer.read_bytes() != known:
            known = pointer.read_bytes()
            # What a killed process leaves. The engine's files are mostly holes.
            subprocess.run(["cp", "-r", "--sparse=always", tmp_path / "data", copy], check=True)
            loaded = Shard(copy)
            assert loaded.count(ACME) == number + 1
            assert len([each for each in copy.iterdir() if each.is_dir()]) == 1
            loaded.close()
            shutil.rmtree(copy)
    assert b"shard-2" in known


def test_a_drop_in_the_middle_ends_it(shard: Shard, tmp_path: Path) -> None:
    for number in range(24):
        put_in_shard(shard, memory(f"note {number}"))
    steps = shard.compaction()
    for _ in range(20):
        next(steps)

    shard.drop()

    assert [each.name for each in (tmp_path / "data").iterdir()] == []
    shard.prepare(MODEL, DIMENSION, LATE_DIMENSION)
    put_in_shard(shard, memory("another"))
    assert [*steps] == []
    assert shard.count(ACME) == 1


def test_compaction_keeps_changes_made_during_it(shard: Shard, tmp_path: Path) -> None:
    put_in_shard(shard, memory("note"))
    steps = shard.compaction()
    while b"shard-2" not in (tmp_path / "data" / "engine.json").read_bytes():
        next(steps)
    for _ in range(5):
        next(steps)  # the old folder is half removed

    shard.drop()
    shard.prepare(MODEL, DIMENSION, LATE_DIMENSION)
    put_in_shard(shard, memory("another"))
    for _ in steps:
        pass

    shard.close()
    loaded = Shard(tmp_path / "data")
    assert loaded.count(ACME) == 1
    loaded.close()


def test_a_failure_does_not_change_the_shard(shard: Shard, tmp_path: Path) -> None:
    for number in range(24):
        put_in_shard(shard, memory(f"note {number}"))
    steps = shard.compaction()
    for _ in range(24):
        next(steps)
    shutil.rmtree(tmp_path / "data" / "shard-2")  # its disk is lost; the shard notices with the next segment of its log
    for number in range(10):
        put_in_shard(shard, memory(f"{number}" * 100_000))

    with pytest.raises(Exception, match="No such file"):
        for _ in steps:
            pass

    assert shard.count(ACME) == 34
    assert shard.waste.is_there
    rewrite(shard)
    assert shard.count(ACME) == 34


def test_a_full_disk_is_not_filled_further(shard: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_shard(shard, memory("note"))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - 1000, 1000))
    with pytest.raises(StoreUnavailableError, match="MB free, but compacting the shard needs"):
        rewrite(shard)
    assert shard.count(ACME) == 1


def test_only_replaced_memories_are_waste(shard: Shard) -> None:
    put_in_shard(shard, memory("note"))
    for offset in range(3):
        shard.set_checkpoint(at(offset))
    assert not shard.waste.is_there

    put_in_shard(shard, memory("note"), offset=1)
    assert shard.waste.is_there
    rewrite(shard)
    assert not shard.waste.is_there

    delete(shard, memory("note").id, offset=2)
    assert shard.waste.is_there


def test_memories_replaced_during_a_compaction_are_waste(shard: Shard) -> None:
    put_in_shard(shard, memory("note"))
    for offset, _ in enumerate(shard.compaction(), start=1):
        put_in_shard(shard, memory("note"), offset=offset)
    assert shard.waste.is_there


@pytest.fixture
async def store(shard: Shard) -> AsyncIterator[EdgeStore]:
    """A client of an owner that compacts its shard at once."""
    with tempfile.TemporaryDirectory() as short:
        path, stopping = Path(short) / "edge.sock", asyncio.Event()
        serving = asyncio.create_task(
            Owner(shard=shard, path=path, compactor=Compactor(shard, interval_s=0.02, rest_ratio=0)).serve(stopping)
        )
        built = EdgeStore(path=path)
        await until(lambda: is_served(path))
        await built.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
        yield built
        await built.close()
        stopping.set()
        await serving


async def test_an_owner_rewrites_its_shard_while_asked(store: EdgeStore, shard: Shard, tmp_path: Path) -> None:
    others = [memory(f"note {number}") for number in range(30)]
    await store.upsert([point(each) for each in (*secrets(10), *others)])
    await store.delete(TenantScope("acme"), deletions(*(each.id for each in secrets(10)), position=at(1)))
    assert files_with_secret(tmp_path)

    async with asyncio.timeout(60):
        while shard.waste.is_there or files_with_secret(tmp_path):
            for _ in range(50):  # a look at all files takes as long and blocks the owner's loop
                assert await store.count(TenantScope("acme")) == 30

    assert sorted(each.content for each in await store.scroll(TenantScope("acme"))) == sorted(each.content for each in others)
