"""Recognises messages whose id was sent before, so that the response reports them."""

from collections.abc import Sequence
from typing import Any

from api.dependencies import Dependencies
from api.ingestion import AcceptedMessage, RejectedMessage
from control.errors import ControlLogBehindError
from runtime.errors import RedisUnavailableError
from runtime.sent_messages import Recognition, SentMessage, SentMessages


async def recognized(
    dependencies: Dependencies, tenant: str, messages: Sequence[Any], outcomes: Sequence[AcceptedMessage | RejectedMessage]
) -> list[Recognition]:
    """Whether each message of a request was sent before. A message without an id of its sender, or that was refused, counts as new.

    While Redis or the control log is unavailable, all count as new: the report is missing, and the sessions stage decides in the same way.

    Args:
        dependencies: Redis and the tenants.
        tenant: The tenant of the messages.
        messages: The parsed messages, as sent.
        outcomes: The outcome of each.
    """
    found: list[Recognition] = ["new"] * len(messages)
    named = [
        index
        for index, (each, outcome) in enumerate(zip(messages, outcomes, strict=True))
        if isinstance(outcome, AcceptedMessage) and isinstance(each, dict) and each.get("id") is not None
    ]
    try:
        sent = [_sent(dependencies, tenant, messages[index]) for index in named]
        known = await SentMessages(redis=dependencies.redis).note(sent)
    except (RedisUnavailableError, ControlLogBehindError):
        return found
    for index, recognition in zip(named, known, strict=True):
        found[index] = recognition
    return found


def _sent(dependencies: Dependencies, tenant: str, fields: dict[str, Any]) -> SentMessage:
    return SentMessage.of(tenant, fields, epoch=dependencies.tenants.erasure_epoch(tenant, fields["user"]))
