"""The bodies of deliveries."""

import json
from datetime import UTC, datetime

import pytest

from api.webhooks.payload import body_of
from memory.records import WebhookDelivery
from tests.api.running_service import memory

CHANGED = datetime(2024, 5, 6, 12, tzinfo=UTC)


@pytest.mark.parametrize(("with_content", "max_bytes"), [(True, 100_000), (True, 10), (False, 100_000)])
def test_every_body_says_when_a_memory_ends(with_content: bool, max_bytes: int) -> None:
    delivery = WebhookDelivery(
        id="msg_0", tenant="acme", webhook="wh_0000", event="memory.upserted", memory_id="m", partition=0, offset=7, changed_at=CHANGED
    )
    valid = memory("acme", "ann", "I moved to Bergen.")
    ended = valid.model_copy(update={"expires_at": CHANGED})
    bodies = [json.loads(body_of(delivery, each, with_content=with_content, max_bytes=max_bytes))["data"] for each in (valid, ended)]
    assert [each.get("expires_at") for each in bodies] == [None, "2024-05-06T12:00:00Z"]
    assert [each.get("content_too_large") for each in bodies] == [True if max_bytes == 10 else None] * 2
    assert ["memory" in each for each in bodies] == [with_content and max_bytes > 10] * 2
