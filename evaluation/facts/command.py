"""``python -m evaluation facts``: the share of true facts in what an extractor stores, and the share of stated facts that it stores.

Each item's windows are extracted in turn. Patches go through the entity stage's own operators, so a stored value is one that a recall would
return. Without ``--model`` the extractor is the offline one; with it, a model's answers are kept as in ``extraction``.
"""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from evaluation.cached_llm import KeptLLM, KeptReplies, endpoint_settings
from evaluation.extraction.asking import usable_extraction
from evaluation.facts.items import Item, read_items
from evaluation.facts.scoring import Count, Stored, StoredEvent, StoredFact, report_of, score
from evaluation.recall.memories import UserMemories
from extraction.build import build_extractor
from extraction.port import ExtractionContext, Extractor
from memory.records import Memory
from memory.schema import MemorySchema
from models.embedding.build import build_embedder
from runtime.file_digest import file_sha256
from runtime.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's own arguments."""
    parser.add_argument("--model", help="a model that extracts; default: the extractor without a model")
    parser.add_argument("--endpoint", help="OpenAI-compatible address of the model; default: VARVE_LLM__BASE_URL")
    parser.add_argument(
        "--concurrency", type=int, default=4, help="number of items that are extracted at the same time; default: %(default)s"
    )
    parser.add_argument("--replies", type=Path, default=Path("build/facts/replies.jsonl"), help="where a model's replies are kept")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Extracts, scores, and returns the report."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    items = read_items(arguments.data)
    settings, llm = Settings(), None
    if arguments.model is not None:
        settings = endpoint_settings(settings, url=arguments.endpoint, model=arguments.model, concurrency=arguments.concurrency)
        llm = KeptLLM(settings, kept=KeptReplies(arguments.replies), purpose="extraction")
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    extractor = build_extractor(settings, embedder=embedder, llm=llm)
    turn = asyncio.Semaphore(arguments.concurrency)

    async def scored(item: Item) -> tuple[Item, dict[str, Count]]:
        async with turn:
            return item, score(item, await stored_of(item, extractor, attempts=settings.extraction.attempts))

    try:
        results = await asyncio.gather(*(scored(each) for each in items))
    finally:
        await extractor.close()
        await embedder.close()
    return {
        "data": arguments.data.name,
        "data_sha256": file_sha256(arguments.data),
        "extractor": extractor.name,
        **report_of(results),
    }


async def stored_of(item: Item, extractor: Extractor, *, attempts: int = 1) -> Stored:
    """Extracts an item, applies the results as the stages do, and returns what is stored.

    Args:
        item: The item.
        extractor: The extractor to measure.
        attempts: How often a model is asked again after an unusable answer. After the last attempt, no result of the window is stored.
    """
    schema = item.memory_schema
    user = UserMemories(schema)
    for window in item.windows():
        context = ExtractionContext(entities=tuple(user.entities()))
        extraction = await usable_extraction(window, extractor, schema, context, attempts=attempts)
        if extraction is not None:
            user.add(extraction)
    return Stored(
        facts=tuple(fact for entity in user.entities() for fact in _facts_of(entity, schema)),
        events=tuple(StoredEvent(each.content, each.type, each.properties) for each in user.events),
    )


def _facts_of(entity: Memory, schema: MemorySchema) -> list[StoredFact]:
    """The values of the fields that patches set, one fact per line."""
    entity_type = schema.entity_type(entity.type)
    if entity_type is None:
        return []
    facts = []
    for field in entity_type.patched_properties():
        value = entity.properties.get(field.name)
        lines = value if isinstance(value, list) else str(value if value is not None else "").splitlines()
        facts += [StoredFact(entity.type, field.name, str(line).strip()) for line in lines if str(line).strip()]
    return facts
