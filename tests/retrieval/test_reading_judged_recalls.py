"""Training data from the topic of recalls: a tenant's judged recalls, without those of erased users."""

from collections.abc import Callable

import pytest

from control import Draft
from control.erasure_changes import begin_erasure, extend_erasure
from memory.headers import ERASURE, FEEDBACK, KIND
from memory.keys import distinct_key, encode_key
from memory.records import ErasureCommand
from retrieval.training.reading import read_judged
from runtime.kafka import OutgoingRecord, Producer, create_topics
from runtime.settings import Settings
from tests.control_log import add_tenant, write
from tests.one_broker import one_broker
from tests.retrieval.judged_recalls import NOON, feedback_about, recall_record

pytestmark = pytest.mark.integration


async def test_recalls_of_the_erased_teach_nothing(make_settings: Callable[..., Settings]) -> None:
    settings = make_settings(kafka=one_broker(partitions=1))
    await create_topics(settings)
    await add_tenant(settings, "acme", schema="companion")
    topic = settings.topic("recalls")
    recalls = [recall_record(f"Who is {user}?", user=user) for user in ("ann", "bob")]
    command = ErasureCommand(tenant="acme", user="ann")
    async with Producer(kafka=settings.kafka) as producer:
        for recall in recalls:
            key = encode_key("acme", recall.user or "")
            said = feedback_about(recall, ["m0"], ["m1"], user=recall.user)
            await producer.send(topic, key=key, value=recall.to_json())
            await producer.send(topic, key=key, value=said.to_json(), headers=((KIND, FEEDBACK),))
        erased = OutgoingRecord(topic, distinct_key("acme", "ann"), command.to_json(), headers=((KIND, ERASURE),))
        (position,) = await producer.send_many([erased])
    found = await read_judged(settings, "acme")
    assert {each.question[0] for each in found.recalls} == {"ann", "bob"}
    assert not found.left_out

    def erase(draft: Draft) -> None:
        subject = begin_erasure(draft, "acme", "ann", at=NOON).subject
        extend_erasure(draft, subject, {"recalls": {0: position.offset}})

    await write(settings, erase)
    found = await read_judged(settings, "acme")
    assert {each.question[0] for each in found.recalls} == {"bob"}
    assert not found.left_out
