"""The record of sent and changed messages in Redis."""

from typing import Any

import pytest

from runtime.redis.client import GuardedRedis
from runtime.redis.message_outcomes import MessageOutcome, MessageOutcomes, SentMessage, SentMessages

pytestmark = pytest.mark.integration

MESSAGE: dict[str, Any] = {"user": "ann", "session": "s", "id": "m1", "text": "hello"}


def sent(*, epoch: str = "", tenant: str = "acme", **fields: Any) -> SentMessage:
    return SentMessage.of(tenant, {**MESSAGE, **fields}, epoch=epoch)


async def test_an_outcome_is_read_under_its_request(redis: GuardedRedis) -> None:
    outcomes = MessageOutcomes(redis=redis)
    await outcomes.write([MessageOutcome("acme", "r1", "edited"), MessageOutcome("globex", "r1", "unknown")])
    assert [await outcomes.read(tenant, "r1") for tenant in ("acme", "globex")] == ["edited", "unknown"]
    assert await outcomes.read("acme", "r2") is None


async def test_a_known_id_is_repeated_or_changed(redis: GuardedRedis) -> None:
    messages = SentMessages(redis=redis)
    assert await messages.note([sent(), sent(), sent(text="bye"), sent()]) == ["new", "repeated", "changed", "repeated"]
    assert await messages.note([sent(event_time="2024-05-01T00:00:00Z", metadata={"a": 1})]) == ["repeated"]
    assert await messages.note([]) == []


async def test_other_names_and_lives_are_new(redis: GuardedRedis) -> None:
    messages = SentMessages(redis=redis)
    others = [sent(user="bo"), sent(session="t"), sent(id="m2"), sent(tenant="globex"), sent(epoch="1")]
    assert await messages.note([sent(), *others]) == ["new"] * 6


async def test_the_latest_edit_is_a_repetition(redis: GuardedRedis) -> None:
    messages = SentMessages(redis=redis)

    async def edit(text: str, message_id: str = "m1") -> None:
        await messages.note_edit(SentMessage.edited("acme", session="s", user="ann", message_id=message_id, text=text, epoch=""))

    await messages.note([sent(role="user")])
    await edit("hi")
    assert await messages.note([sent(role="user", text="hi"), sent(role="user"), sent(role="user", text="bye")]) == [
        "repeated",
        "repeated",
        "changed",
    ]
    await edit("bye")
    again: dict[str, Any] = {"role": "user", "text": None, "content": "bye"}
    assert await messages.note([sent(**again), sent(role="user", text="hi"), sent(role="tool", text="bye")]) == [
        "repeated",
        "changed",
        "changed",
    ]
    await edit("hi", "m9")
    assert await messages.note([sent(id="m9", text="first")]) == ["new"], "only a known message has an edit"
