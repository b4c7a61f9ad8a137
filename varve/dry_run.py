"""A dry run of a conversation with the extractor of the settings. Nothing is sent or stored, and no offset moves."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final

from extraction.build import build_extractor
from memory.records import Usage
from memory.schema import MemorySchema
from models.embedding.build import build_embedder
from models.llm.build import build_llm
from runtime.settings import Settings
from streams.operations.dry_run import DryWindow, extract_dry

_TENANT: Final = "dry-run"


class _Nowhere:
    """Discards the usage that otherwise goes to a topic; the extraction contains it, too."""

    async def record(self, usage: Usage) -> None:
        """See :meth:`models.llm.usage.UsageSink.record`."""


async def dry_run(fields: Sequence[dict[str, Any]], schema: MemorySchema, settings: Settings) -> AsyncGenerator[DryWindow]:
    """Cuts messages into windows and extracts each, with the model of the settings or, without one, offline.

    Starts without entities and earlier events.

    Raises:
        memory.errors.RecordError: If a message is invalid.
        models.errors.ModelError: If a model call fails.
    """
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    extractor = build_extractor(settings, embedder=embedder, llm=build_llm(settings, redis=None, usage=_Nowhere()))
    try:
        async with aclosing(extract_dry(fields, schema, tenant=_TENANT, extractor=extractor, settings=settings)) as windows:
            async for each in windows:
                yield each
    finally:
        await extractor.close()
        await embedder.close()
