"""A session of the OpenAI Agents SDK that Varve also remembers for later conversations."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from agents import SessionSettings, TResponseInputItem
from varve_client import AsyncVarveClient, ServiceProblemError

from varve_integrations.conversation import complete_items, items_of_messages, messages_of_items, openai_messages, turn_of
from varve_integrations.recent import RecentMessages

_NOT_FOUND = 404


class VarveSession:
    """Implements ``agents.memory.Session``.

    ``get_items`` has the newest closed window of the session and its open one; older messages are found by recalls. Words, function calls
    and their results are kept. Other items, such as reasoning and calls of hosted tools, are not stored; an image or a file is returned as
    a placeholder, such as ``[image]``.

    Args:
        client: The client to read and write with.
        user: The user to whose memory the conversation belongs.
        session_id: The id of the conversation.
        session_settings: The default limit of ``get_items``. Default: no limit.
    """

    def __init__(self, client: AsyncVarveClient, *, user: str, session_id: str, session_settings: SessionSettings | None = None) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._client, self._user = client, user
        self._recent = RecentMessages(user)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the newest items, oldest first. A call without a result is left out, and a result without a call.

        Args:
            limit: Most items. Default: that of the settings.
        """
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = items_of_messages(openai_messages(await self._newest()))
        return complete_items(items if limit is None else items[max(0, len(items) - limit) :])

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Sends items; they are durable when it returns."""
        sent = turn_of(messages_of_items(items), user=self._user, session=self.session_id, now=datetime.now(UTC))
        if sent:
            await self._client.send(sent)
            self._recent.sent(sent)

    async def pop_item(self) -> TResponseInputItem | None:
        """Deletes the newest message and everything that was remembered from it. Returns its item; None if there is no message."""
        newest = await self._newest()
        if not newest:
            return None
        await self._delete(newest[-1]["id"])
        [*_, item] = items_of_messages(openai_messages(newest[-1:]))
        return item

    async def clear_session(self) -> None:
        """Deletes the messages that ``get_items`` has, and everything that was remembered from them. Older messages remain."""
        for each in await self._newest():
            await self._delete(each["id"])

    async def _newest(self) -> list[Mapping[str, Any]]:
        return self._recent.of((await self._client.session(self.session_id)).messages)

    async def _delete(self, message_id: str) -> None:
        try:
            await self._client.delete_message(self.session_id, message_id, user=self._user)
        except ServiceProblemError as error:
            if error.status != _NOT_FOUND:  # It was deleted meanwhile.
                raise
        self._recent.deleted(message_id)
