"""The newest correction of a memory, as the service remembers it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from memory.positions import LogPosition
from memory.records import Correction
from runtime.redis.client import GuardedRedis
from runtime.redis.sent_corrections import SentCorrection, SentCorrections, digest_of

pytestmark = pytest.mark.integration

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def correction(**fields: Any) -> Correction:
    base = {"id": "c1", "tenant": "acme", "user": "ann", "action": "correct", "memory_id": "m", "by": "k1", "time": NOON}
    return Correction.model_validate({**base, **fields})


def at(offset: int) -> LogPosition:
    return LogPosition("extractions", 2, offset)


async def test_the_newest_in_the_log_counts(redis: GuardedRedis) -> None:
    sent = SentCorrections(redis=redis)
    assert await sent.newest("acme", "m") is None
    first, second = correction(fields={"content": "a"}), correction(fields={"content": "b"})
    await sent.note(second, at(12))
    await sent.note(first, at(9))
    assert await sent.newest("acme", "m") == SentCorrection(2, 12, digest_of(second))
    await sent.note(first, at(100))
    assert await sent.newest("acme", "m") == SentCorrection(2, 100, digest_of(first))
    assert (await sent.newest("globex", "m"), await sent.newest("acme", "n")) == (None, None)


def test_a_digest_is_of_the_effect_alone() -> None:
    one = correction(fields={"content": "a", "properties": {"x": 1, "y": 2}})
    same = correction(
        id="c2", by="k2", reason="again", time=NOON.replace(year=2025), fields={"properties": {"y": 2, "x": 1}, "content": "a"}
    )
    assert digest_of(one) == digest_of(same)
    others = [
        correction(fields={"content": "a"}),
        correction(action="invalidate"),
        correction(fields={"content": "a", "properties": {"x": 1, "y": None}}),
        correction(memory_id="n", fields={"content": "a", "properties": {"x": 1, "y": 2}}),
    ]
    assert len({digest_of(each) for each in (one, *others)}) == 5
