"""``python -m evaluation longmemeval``: how well a recall ranks the sessions that hold a question's answer.

The memories are those that the offline extractor makes, whole pipeline in process: the stages' own parts, a real Edge store behind its
socket, no Kafka. Each question has a user of its own, and is asked at its own date. A session stands where the first memory of it stands.
Questions whose answer is in no session are left out, as the published evaluation does.
"""

import argparse
import asyncio
import hashlib
import sys
from collections.abc import Sequence
from itertools import islice
from typing import Any, Final, get_args

from evaluation.locomo import TENANT
from evaluation.longmemeval.dataset import Question, read_longmemeval
from evaluation.longmemeval.measures import CUTS, SessionOutcome, means, session_outcome
from evaluation.recall.corpus import MemoryWriter, empty_store
from evaluation.recall.memories import SCHEMA, memories_of
from models.embedding.port import Embedder
from retrieval.recall import Recall, RecallHit, RecallRequest
from retrieval.stores.edge.client import EdgeStore
from retrieval.stores.port import TenantScope
from runtime.clocks import ManualClock
from runtime.settings import RankingProfile, Settings

PROFILES: Final[tuple[RankingProfile, ...]] = get_args(RankingProfile)
_RESULTS: Final = 100

Outcomes = dict[int, SessionOutcome]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--profile", choices=PROFILES, default="learned", help="the profile behind `overall`")
    parser.add_argument("--questions", type=int, default=None, metavar="N", help="only the first N; each takes the time of its history")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Asks every question, and returns the report."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    settings = Settings()
    judged: list[tuple[Question, dict[RankingProfile, Outcomes]]] = []
    left_out = memories = 0
    async with empty_store(settings) as (store, embedder):
        writer = MemoryWriter(store, embedder)
        for question in islice(read_longmemeval(arguments.data), arguments.questions):
            if not question.answer_sessions:
                left_out += 1
                continue
            laid_down = await memories_of(question.windows, embedder)
            await writer.write(laid_down)
            memories += len(laid_down)
            judged.append((question, {each: await _outcomes(store, embedder, settings, question, each) for each in PROFILES}))
            print(f"{len(judged)} questions", end="\r", file=sys.stderr, flush=True)
    kinds = sorted({question.kind for question, _ in judged})
    return {
        "data": arguments.data.name,
        "data_sha256": hashlib.sha256(arguments.data.read_bytes()).hexdigest(),
        "pipeline": "in process, without Kafka; Qdrant Edge behind its socket",
        "extractor": "offline",
        "schema": SCHEMA,
        "embedding": settings.embedding.model,
        "profile": arguments.profile,
        "memories": memories,
        "without_answer": left_out,
        "overall": means([outcomes[arguments.profile] for _, outcomes in judged]),
        "kinds": {kind: means([outcomes[arguments.profile] for question, outcomes in judged if question.kind == kind]) for kind in kinds},
        "ways": {profile: means([outcomes[profile] for _, outcomes in judged]) for profile in PROFILES},
    }


async def _outcomes(
    store: EdgeStore, embedder: Embedder, settings: Settings, question: Question, profile: RankingProfile
) -> dict[int, SessionOutcome]:
    recall = Recall(store=store, embedder=embedder, settings=settings.recall, clock=ManualClock(question.asked_at))
    request = RecallRequest(scope=TenantScope(TENANT, question.id), query=question.text, limit=_RESULTS, kinds=("event",), profile=profile)
    ranking = ranked_sessions((await recall.recall(request)).hits)
    return {cut: session_outcome(ranking, question.answer_sessions, cut) for cut in CUTS}


def ranked_sessions(hits: Sequence[RecallHit]) -> list[str]:
    """The sessions of hits in their order, each once."""
    return list(dict.fromkeys(hit.memory.session for hit in hits if hit.memory.session is not None))
