"""``python -m evaluation longmemeval``: how well recalls rank the sessions that contain a question's answer.

The offline extractor makes the memories, with the whole pipeline in one process: the parts of the stages and a real Edge store with its
socket, without Kafka. Each question has its own user and date. A session has the rank of its first memory. Questions whose answer is in no
session are left out, as in the published evaluation. The same run ranks the memories by single scores, and recalls the turns as memories.
"""

import argparse
import asyncio
import sys
from itertools import islice
from typing import Any, Final, get_args

from evaluation.locomo import TENANT
from evaluation.longmemeval.dataset import Question, read_longmemeval
from evaluation.longmemeval.measures import CUTS, SessionOutcome, means, session_outcome
from evaluation.recall.baselines import BASELINES, baseline_rankings
from evaluation.recall.corpus import RAW_TENANT, MemoryWriter, empty_store, raw_turns
from evaluation.recall.measures import ranked_sessions
from evaluation.recall.memories import SCHEMA, memories_of
from memory.records import Memory
from models.embedding.port import Embedder
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from runtime.clocks import ManualClock
from runtime.file_digest import file_sha256
from runtime.settings import RankingProfile, Settings
from stores.port import NON_ENTITY_KINDS, MemoryFilter, MemoryStore, TenantScope

PROFILES: Final[tuple[RankingProfile, ...]] = get_args(RankingProfile)
_RESULTS: Final = 100

Outcomes = dict[int, SessionOutcome]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--profile", choices=PROFILES, default="learned", help="the profile of `overall`")
    parser.add_argument("--questions", type=int, default=None, metavar="N", help="only the first N; each takes the time of its history")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Asks every question, and returns the report."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    settings = Settings()
    judged: list[tuple[Question, dict[str, Outcomes]]] = []
    left_out = memories = 0
    async with empty_store(settings) as (store, embedder):
        writer = MemoryWriter(store, embedder)
        for question in islice(read_longmemeval(arguments.data), arguments.questions):
            if not question.answer_sessions:
                left_out += 1
                continue
            stored = await memories_of(question.windows, embedder)
            await writer.write(stored)
            memories += len(stored)
            await writer.write(raw_turns(question.windows))
            memory = _Memory(store, embedder, settings, question)
            judged.append((question, await memory.outcomes(raw_by=arguments.profile)))
            print(f"{len(judged)} questions", end="\r", file=sys.stderr, flush=True)
    kinds = sorted({question.kind for question, _ in judged})
    return {
        "data": arguments.data.name,
        "data_sha256": file_sha256(arguments.data),
        "pipeline": "in process, without Kafka; Qdrant Edge through its socket",
        "extractor": "offline",
        "schema": SCHEMA,
        "embedding": settings.embedding.model,
        "profile": arguments.profile,
        "memories": memories,
        "without_answer": left_out,
        "overall": means([outcomes[arguments.profile] for _, outcomes in judged]),
        "kinds": {kind: means([outcomes[arguments.profile] for question, outcomes in judged if question.kind == kind]) for kind in kinds},
        "ways": {way: means([outcomes[way] for _, outcomes in judged]) for way in (*PROFILES, *BASELINES, "raw_turns")},
    }


class _Memory:
    """One question's history, as it is asked."""

    def __init__(self, store: MemoryStore, embedder: Embedder, settings: Settings, question: Question) -> None:
        self._store = store
        self._embedder = embedder
        self._recall = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=ManualClock(question.asked_at))
        self._question = question

    async def outcomes(self, *, raw_by: RankingProfile) -> dict[str, Outcomes]:
        """By each way: the profiles, one score alone, and the raw turns, which a profile ranks."""
        question = self._question
        rankings: dict[str, list[Memory]] = {profile: await self._recalled(profile, TENANT) for profile in PROFILES}
        rankings |= await baseline_rankings(self._store, self._embedder, TenantScope(TENANT, question.id), question.text)
        rankings["raw_turns"] = await self._recalled(raw_by, RAW_TENANT)
        return {
            way: {cut: session_outcome(ranked_sessions(ranking), question.answer_sessions, cut) for cut in CUTS}
            for way, ranking in rankings.items()
        }

    async def _recalled(self, profile: RankingProfile, tenant: str) -> list[Memory]:
        scope = TenantScope(tenant, self._question.id)
        request = RecallRequest(
            filter=MemoryFilter(scope=scope, kinds=NON_ENTITY_KINDS), query=self._question.text, limit=_RESULTS, profile=profile
        )
        return [hit.memory for hit in (await self._recall.recall(request)).hits]
