"""LangChain: a retriever of memories, and the history of a conversation."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.retrievers import BaseRetriever
from pydantic import Field
from varve_client import AsyncVarveClient, Memory, RecallResult, ServiceProblemError, VarveClient

from varve_integrations.conversation import openai_messages, turn_of
from varve_integrations.recalled import recalled_memories
from varve_integrations.recent import RecentMessages

_NOT_FOUND = 404


class VarveRetriever(BaseRetriever):  # type: ignore[misc]
    """Finds memories. The content of a document is the memory's, and its metadata names the source messages in ``evidence``.

    ``k`` may also be given to ``invoke`` and ``ainvoke``.
    """

    client: VarveClient
    async_client: AsyncVarveClient | None = None
    """The client of asynchronous calls. Default: ``client``, in a thread."""
    user: str | None = None
    """The user whose memories are searched. Default: all users that the key may access."""
    k: int = 5
    """Most documents."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the recall request, such as ``kinds`` or ``min_confidence``."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None) -> list[Document]:
        fields = self._fields(k)
        return _documents(self.client.recall(query, **fields), fields["limit"])

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        fields = self._fields(k)
        if self.async_client is None:
            return _documents(await asyncio.to_thread(self.client.recall, query, **fields), fields["limit"])
        return _documents(await self.async_client.recall(query, **fields), fields["limit"])

    def _fields(self, k: int | None) -> dict[str, Any]:
        return {"user": self.user, **self.options, "limit": self.k if k is None else k}


class VarveChatMessageHistory(BaseChatMessageHistory):  # type: ignore[misc]
    """The newest messages of a conversation, each also remembered for later conversations.

    ``messages`` has the newest closed window of the session and its open one; older messages are found by recalls. Words, tool calls and
    tool results are kept; an image or a file is returned as a placeholder, such as ``[image]``.

    Args:
        client: The client to read and write with.
        user: The user to whose memory the conversation belongs.
        session: The id of the conversation.
    """

    def __init__(self, client: VarveClient, *, user: str, session: str) -> None:
        super().__init__()
        self._client, self._user, self._session = client, user, session
        self._recent = RecentMessages(user)

    @property
    def messages(self) -> list[BaseMessage]:
        """The newest messages, oldest first."""
        found: list[BaseMessage] = convert_to_messages(openai_messages(self._newest()))
        return found

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Sends messages; they are durable when it returns."""
        sent = turn_of(convert_to_openai_messages(list(messages)), user=self._user, session=self._session, now=datetime.now(UTC))
        self._client.send(sent)
        self._recent.sent(sent)

    def clear(self) -> None:
        """Deletes the messages that ``messages`` has, and everything that was remembered from them. Older messages remain."""
        for message in self._newest():
            try:
                self._client.delete_message(self._session, message["id"], user=self._user)
            except ServiceProblemError as error:
                if error.status != _NOT_FOUND:  # It was deleted meanwhile.
                    raise
            self._recent.deleted(message["id"])

    def _newest(self) -> list[Mapping[str, Any]]:
        return self._recent.of(self._client.session(self._session).messages)


def _documents(found: RecallResult, limit: int) -> list[Document]:
    return [_document(each) for each in recalled_memories(found, limit)]


def _document(memory: Memory) -> Document:
    fields = memory.model_dump(mode="json", include=_METADATA, exclude_none=True)
    return Document(page_content=memory.content, id=memory.id, metadata=fields)


_METADATA = {"kind", "type", "score", "event_time", "date", "evidence", "user", "session", "speaker", "superseded_by"}
