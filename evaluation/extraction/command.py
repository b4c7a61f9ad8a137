"""``python -m evaluation extraction``: what a model's extraction of LoCoMo costs, holds, and finds, part by part.

Each conversation's windows are extracted in turn, each shown what the ones before it gave. Then its questions are asked, as ``locomo`` asks
them: of the model's memories, of the same without one part at a time, and of the offline extractor's. Replies are kept: an
interrupted run continues, and no question is paid for twice.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, get_args

from evaluation.cached_llm import KeptLLM, KeptReplies, endpoint_settings
from evaluation.data_files import read_entries
from evaluation.extraction.asking import Extracted, extracted
from evaluation.extraction.parts import answer_tokens, memories_from, variants_of
from evaluation.locomo import TENANT, read_locomo
from evaluation.recall.corpus import UNANSWERABLE, MemoryWriter, Question, empty_store, questions_of
from evaluation.recall.measures import Outcome, messages_by_score, outcome_of, ranked_messages, summary
from evaluation.recall.memories import last_moment, memories_of
from extraction.build import build_extractor
from memory.records import Memory, Window
from memory.schema import MemorySchema, scenario, scenario_names
from memory.schema.model import Detail
from models.embedding.build import build_embedder
from models.embedding.tokens import count_tokens
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from runtime.clocks import ManualClock
from runtime.file_digest import file_sha256
from runtime.settings import RankingProfile, Settings
from stores.port import MemoryFilter, TenantScope

_RESULTS: Final = 50
_PROFILES: Final[tuple[RankingProfile, ...]] = ("learned", "weighted")

Outcomes = dict[tuple[str, str], list[tuple[int, Outcome]]]
"""The questions' categories and outcomes, by variant and by way of ranking its messages."""
_BY_SCORE: Final = "_by_evidence_scores"
"""Suffix of a profile's name: messages are ranked by their own scores, not result by result. A model's event has several."""


@dataclass(frozen=True, slots=True)
class _Conversation:
    windows: tuple[Window, ...]
    questions: tuple[Question, ...]
    extracted: Extracted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's own arguments."""
    parser.add_argument("--endpoint", help="OpenAI-compatible address of the model; default: VARVE_LLM__BASE_URL")
    parser.add_argument("--model", help="default: VARVE_LLM__MODEL")
    parser.add_argument("--schema", choices=scenario_names(), default="companion", help="the memory types to extract")
    parser.add_argument("--detail", choices=get_args(Detail), help="how much the model should extract; default: the schema's")
    parser.add_argument("--conversations", type=int, metavar="N", help="only the first N; default: all")
    parser.add_argument("--replies", type=Path, default=Path("build/extraction/replies.jsonl"), help="file that keeps the replies")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Extracts, asks, and returns the report."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    samples = list(zip(read_entries(arguments.data), read_locomo(arguments.data), strict=True))[: arguments.conversations]
    settings = endpoint_settings(Settings(), url=arguments.endpoint, model=arguments.model, concurrency=1)
    schema = scenario(arguments.schema)
    schema = replace(schema, detail=arguments.detail or schema.detail)
    llm = KeptLLM(settings, kept=KeptReplies(arguments.replies), purpose="extraction")
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    extractor = build_extractor(settings, embedder=embedder, llm=llm)
    conversations, outcomes = [], Outcomes()
    try:
        for sample, annotated in samples:
            windows = tuple(each.window for each in annotated)
            conversation = _Conversation(
                windows, tuple(questions_of(sample, arguments.data)), await extracted(windows, extractor, schema, settings)
            )
            conversations.append(conversation)
            variants = variants_of(conversation.extracted.extractions, schema) | {
                "offline": await memories_of(windows, embedder, schema=schema)
            }
            for name, memories in variants.items():
                await _ask(name, memories, conversation, settings, outcomes)
        calls = llm.asked
    finally:
        await extractor.close()
        await embedder.close()
    return {
        "data": arguments.data.name,
        "data_sha256": file_sha256(arguments.data),
        "conversations": [each.windows[0].user for each in conversations],
        "pipeline": "in process, without Kafka; Qdrant Edge through its socket",
        "extractor": extractor.name,
        "schema": arguments.schema,
        "detail": schema.detail,
        "calls": calls,
        **_costs(conversations, llm.said),
        "stored": _stored(conversations, schema),
        "recall": {
            name: {way: _summaries(outcomes[variant, way]) for variant, way in outcomes if variant == name}
            for name in dict.fromkeys(each for each, _ in outcomes)
        },
    }


async def _ask(name: str, memories: Sequence[Memory], conversation: _Conversation, settings: Settings, outcomes: Outcomes) -> None:
    async with empty_store(settings) as (store, embedder):
        await MemoryWriter(store, embedder).write(memories)
        clock = ManualClock(last_moment(conversation.windows))
        recall = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=clock)
        scope = TenantScope(TENANT, conversation.windows[0].user)
        for question in conversation.questions:
            if question.category == UNANSWERABLE:
                continue
            for profile in _PROFILES:
                answer = await recall.recall(
                    RecallRequest(filter=MemoryFilter(scope=scope), query=question.text, limit=_RESULTS, profile=profile)
                )
                in_results = ranked_messages(hit.evidence for hit in answer.hits)
                by_score = messages_by_score((hit.evidence, hit.evidence_scores) for hit in answer.hits)
                for way, found in ((profile, in_results), (f"{profile}{_BY_SCORE}", by_score)):
                    outcomes.setdefault((name, way), []).append((question.category, outcome_of(found, question.evidence)))


def _summaries(outcomes: Sequence[tuple[int, Outcome]]) -> dict[str, Any]:
    categories = sorted({category for category, _ in outcomes})
    return {
        **summary([each for _, each in outcomes]),
        "categories": {str(one): summary([each for category, each in outcomes if category == one])["recall_at_10"] for one in categories},
    }


def _costs(conversations: Sequence[_Conversation], answers: Sequence[str]) -> dict[str, Any]:
    """The cost of the calls, per window, and per part of their answers."""
    windows = sum(len(each.windows) for each in conversations)
    usage = [used for each in conversations for one in each.extracted.extractions for used in one.usage]
    dropped: Counter[str] = Counter()
    for conversation in conversations:
        for one in conversation.extracted.extractions:
            dropped.update({f"{left_out.what}_{left_out.reason}": left_out.count for left_out in one.dropped})
    return {
        "windows": windows,
        "messages": sum(len(window.messages) for each in conversations for window in each.windows),
        "unusable": sum(each.extracted.unusable for each in conversations),
        "dropped": dict(dropped),
        "prompt_tokens_a_window": round(sum(each.prompt_tokens for each in usage) / windows, 1),
        "completion_tokens_a_window": round(sum(each.completion_tokens for each in usage) / windows, 1),
        "cost": round(sum(each.cost for each in usage), 4),
        "answer_tokens": answer_tokens(answers),
    }


def _stored(conversations: Sequence[_Conversation], schema: MemorySchema) -> dict[str, Any]:
    """The tokens of the stored memories, compared to those of the turns (VikingMem, table 3)."""
    raw = sum(count_tokens(message.text) for each in conversations for window in each.windows for message in window.messages)
    users = [memories_from(each.extracted.extractions, schema) for each in conversations]
    events = [event for each in users for event in each.events]
    entities = [entity for each in users for entity in each.entities()]
    types = {
        name: {
            "events": sum(each.type == name for each in events),
            "tokens_to_raw": round(sum(count_tokens(each.content) for each in events if each.type == name) / raw, 4),
        }
        for name in sorted({each.type for each in events})
    }
    return {
        "raw_tokens": raw,
        "events": len(events),
        "event_tokens_to_raw": round(sum(count_tokens(each.content) for each in events) / raw, 4),
        "keyword_tokens_to_raw": round(sum(count_tokens(word) for each in events for word in each.keywords) / raw, 4),
        "entity_tokens_to_raw": round(sum(count_tokens(each.content) for each in entities) / raw, 4),
        "types": types,
    }
