"""A dry run of a conversation with the extractor of the settings. Nothing is sent or stored, and no offset moves."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Any, Final

from api.writes.ingestion import parse_message
from extraction.build import build_extractor
from memory.errors import RecordError
from memory.schema import MemorySchema
from models.embedding.build import build_embedder
from models.llm.build import build_llm
from models.llm.usage import DiscardedUsage
from runtime.clocks import SystemClock
from runtime.settings import Settings
from streams.operations.dry_run import DryWindow, extract_dry
from varve.errors import ConversationError

_TENANT: Final = "dry-run"


async def dry_run(fields: Sequence[dict[str, Any]], schema: MemorySchema, settings: Settings, *, source: str) -> AsyncGenerator[DryWindow]:
    """Cuts messages into windows and extracts each, with the model of the settings or, without one, offline.

    Starts without entities and earlier events. Accepts and refuses the same messages as the query service.

    Args:
        fields: The messages, oldest first. Default of a message's time: now.
        schema: The types to extract.
        settings: Limits of windows and prompts, and the model.
        source: Names the file in errors.

    Raises:
        ConversationError: If a message is invalid; names it.
        models.errors.ModelError: If a model call fails.
    """
    messages = list(_accepted(fields, settings, source))
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    extractor = build_extractor(settings, embedder=embedder, llm=build_llm(settings, redis=None, usage=DiscardedUsage()))
    try:
        async with aclosing(extract_dry(messages, schema, tenant=_TENANT, extractor=extractor, settings=settings)) as windows:
            async for window in windows:
                yield window
    finally:
        await extractor.close()
        await embedder.close()


def _accepted(fields: Sequence[dict[str, Any]], settings: Settings, source: str) -> Iterator[dict[str, Any]]:
    """The messages, each with a time, if the query service would accept them."""
    now, max_future = SystemClock().now(), timedelta(seconds=settings.sessions.max_future_s)
    for number, each in enumerate(fields, start=1):
        try:
            message = parse_message(each, tenant=_TENANT, now=now, max_future=max_future, new_id=str(number))
        except RecordError as error:
            raise ConversationError(f"{source}, message {number}: {error}") from error
        yield {**each, "event_time": message.event_time}
