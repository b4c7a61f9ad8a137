"""An ``add`` of mem0's as Varve's messages: what is stored is never many times as much as was sent."""

from datetime import UTC, datetime
from typing import Any

import pytest

from api.mem0.owners import Owner
from api.mem0.translation import MAX_MESSAGES, MAX_METADATA, RequestError, messages_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SAID = {"role": "user", "content": "I moved to Oslo."}


def messages(**body: Any) -> list[dict[str, Any]]:
    return messages_of(body, Owner(user_id="ann"), now=NOW)


def test_each_message_has_the_metadata() -> None:
    found = messages(messages=[SAID] * MAX_MESSAGES, metadata={"source": "x" * (MAX_METADATA - 20)})
    assert len(found) == MAX_MESSAGES
    assert all(len(each["metadata"]["source"]) == MAX_METADATA - 20 for each in found)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"messages": [SAID] * (MAX_MESSAGES + 1)}, "messages: at most 1000, found 1001"),
        ({"messages": [SAID], "metadata": {"source": "x" * MAX_METADATA}}, "metadata: at most 16000 characters"),
        ({"messages": [SAID], "metadata": {"numbers": [10**4000] * 4}}, "metadata: at most 16000 characters"),
    ],
)
def test_a_request_has_a_bound(body: dict[str, Any], problem: str) -> None:
    with pytest.raises(RequestError, match=problem):
        messages(**body)
