"""Examples from a tenant's recalls on a real Kafka: only with its consent, and without users who were erased."""

import argparse
import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from control import Draft
from control.erasure_changes import begin_erasure, extend_erasure
from memory.headers import FEEDBACK, KIND
from memory.keys import encode_key
from memory.records import Memory, MemoryChange
from memory.schema.method import TURN
from runtime.kafka import Producer, create_topics
from runtime.settings import Settings, SiftSettings
from tests.control_log import add_tenant, write
from tests.one_broker import one_broker
from tests.retrieval.judged_recalls import NOON, feedback_about, recall_record
from tests.stores.factories import memory
from training.runs import Run, RunError
from training.sift.data import command as data
from training.sift.data.examples import TEST, TRAIN, WARM_UP, UserExamples
from training.sift.data.recalls import read_tenant
from training.sift.learning import warm_up

pytestmark = pytest.mark.integration


def turns(user: str) -> list[Memory]:
    """Three sessions of two turns; the last one ends after the recall."""
    return [
        memory(
            f"I saw {number} herons on day {day}",
            id=f"{user}-{day}-{number}",
            user=user,
            type=TURN,
            speaker="Ann",
            session=f"s{day}",
            window_id=f"{user}-w{day}",
            event_time=at,
            said_at=at,
        )
        for day in range(3)
        for number in range(2)
        for at in [NOON + timedelta(days=day - 1.5, minutes=number)]
    ]


async def test_a_tenants_recalls_become_examples(
    make_settings: Callable[..., Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(kafka=one_broker(partitions=1), sift=SiftSettings(training_tenants=("acme",)))
    await create_topics(settings)
    await add_tenant(settings, "acme", schema="companion")
    async with Producer(kafka=settings.kafka) as producer:
        for user in ("ann", "bob", "cid"):
            for each in turns(user):
                change = MemoryChange(op="upsert", memory_id=each.id, tenant="acme", memory=each)
                await producer.send(settings.topic("memories"), key=encode_key("acme", each.id), value=change.to_json())
            recall = recall_record(f"Which birds did {user} see?", user=user)
            said = feedback_about(recall, [f"{user}-1-0", f"{user}-2-0", "unknown"], [f"{user}-0-0"], user=user)
            key = encode_key("acme", user)
            await producer.send(settings.topic("recalls"), key=key, value=recall.to_json())
            position = await producer.send(settings.topic("recalls"), key=key, value=said.to_json(), headers=((KIND, FEEDBACK),))
        await producer.send(settings.topic("memories"), key=encode_key("acme", "ann-0-1"), value=None)

    with pytest.raises(RunError, match="'umbrella' has not agreed"):
        await read_tenant(settings, "umbrella")
    ann, *_ = await read_tenant(settings, "acme")
    assert [each.lines[0].partition(" ")[2] for each in ann.sessions] == [f"Ann: I saw 0 herons on day {day}" for day in range(3)]
    assert [len(each.lines) for each in ann.sessions] == [1, 2, 2], "a deleted memory is not shown"
    [query] = ann.queries
    assert (query.text, query.sessions) == ("Which birds did ann see?", ("s0", "s1"))
    assert query.gold == {"s1"}

    monkeypatch.setattr(data, "Settings", lambda: settings)
    run = tmp_path / "run"
    arguments = argparse.Namespace(run=run, data=[], tenant=["acme"], seed=7, test_share=0.2, history_tokens=24_000)
    await asyncio.to_thread(lambda: list(data.run(arguments)))
    kept = [each.user for name in (TRAIN, TEST) for each in Run(run).read(name, UserExamples)]
    assert sorted(kept) == [f"tenant-acme/{user}" for user in ("ann", "bob", "cid")]

    parser = argparse.ArgumentParser()
    warm_up.add_arguments(parser)
    warmed = parser.parse_args([], argparse.Namespace(run=run))
    await asyncio.to_thread(lambda: list(warm_up.run(warmed)))
    assert (run / WARM_UP).exists()

    def erase(draft: Draft) -> None:
        subject = begin_erasure(draft, "acme", "bob", at=NOON).subject
        extend_erasure(draft, subject, {"recalls": {0: position.offset}, "memories": {0: position.offset + 100}})

    await write(settings, erase)
    await asyncio.to_thread(lambda: list(data.run(arguments)))
    kept = [each.user for name in (TRAIN, TEST) for each in Run(run).read(name, UserExamples)]
    assert sorted(kept) == [f"tenant-acme/{user}" for user in ("ann", "cid")]
    assert not [each for each in run.rglob("*") if each.is_file() and b"bob" in each.read_bytes()]
    assert not (run / WARM_UP).exists(), "it is made again, without the erased user"
