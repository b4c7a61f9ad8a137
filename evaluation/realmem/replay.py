"""Replays a user's sessions: asks each query over the memories of the earlier sessions, then adds the session's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.locomo import TENANT
from evaluation.realmem.dataset import Query, User
from evaluation.realmem.measures import Outcome, quality_of
from evaluation.recall.baselines import baseline_rankings
from evaluation.recall.corpus import RAW_TENANT, MemoryWriter, empty_store, raw_turns
from evaluation.recall.measures import ranked_messages, ranked_sessions
from evaluation.recall.memories import UserMemories
from memory.records import Extraction, Memory
from memory.schema import MemorySchema
from models.embedding.port import Embedder
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from runtime.clocks import ManualClock
from runtime.settings import RankingProfile, Settings
from stores.port import NON_ENTITY_KINDS, MemoryFilter, MemoryStore, TenantScope

PROFILES: Final[tuple[RankingProfile, ...]] = ("learned", "weighted")
SCORES: Final = ("bm25", "dense")
_RESULTS: Final = 100
_RAW: Final = "raw_"

WAYS: Final = (*PROFILES, *SCORES, *(f"{_RAW}{each}" for each in (*PROFILES, *SCORES)))
"""Rankings by a profile of the recall pipeline or by one score alone, of the extracted memories and, with ``raw_``, of the turns."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A query and, by way, the quality of its results."""

    query: Query
    outcomes: Mapping[str, Outcome]


@dataclass(frozen=True, slots=True)
class Replayed:
    """A user's queries that name memories of earlier sessions, and the number of memories at the end."""

    answered: tuple[Answered, ...]
    without_evidence: int
    memories: int


async def replayed(user: User, extractions: Mapping[str, Extraction], schema: MemorySchema, settings: Settings) -> Replayed:
    """Replays one user's sessions in its own store.

    Args:
        user: The sessions.
        extractions: By window id. A window without one adds no memory.
        schema: The memory types of the extractions.
        settings: The embedding model, and how recalls rank.
    """
    answered, without_evidence, memories = list[Answered](), 0, UserMemories(schema)
    written: dict[str, Memory] = {}
    async with empty_store(settings) as (store, embedder):
        writer, asking = MemoryWriter(store, embedder), _Asking(user.name, store, embedder, settings)
        for session in user.sessions:
            for query in session.queries:
                if query.sessions:
                    answered.append(Answered(query, await asking.outcomes(query)))
                else:
                    without_evidence += 1
            for window in session.windows:
                if window.id in extractions:
                    memories.add(extractions[window.id])
            changed = [each for each in (*memories.events, *memories.entities()) if written.get(each.id) != each]
            await writer.write([*changed, *raw_turns(session.windows)])
            written.update((each.id, each) for each in changed)
    return Replayed(tuple(answered), without_evidence, len(written))


class _Asking:
    def __init__(self, user: str, store: MemoryStore, embedder: Embedder, settings: Settings) -> None:
        self._user = user
        self._store = store
        self._embedder = embedder
        self._settings = settings

    async def outcomes(self, query: Query) -> dict[str, Outcome]:
        """By each of :data:`WAYS`."""
        outcomes: dict[str, Outcome] = {}
        for prefix, tenant in (("", TENANT), (_RAW, RAW_TENANT)):
            scope = TenantScope(tenant, self._user)
            rankings: dict[str, list[Memory]] = {each: await self._recalled(query, scope, each) for each in PROFILES}
            by_score = await baseline_rankings(self._store, self._embedder, scope, query.text)
            rankings |= {name: by_score[name] for name in SCORES}
            outcomes |= {f"{prefix}{name}": _outcome(query, ranking) for name, ranking in rankings.items()}
        return outcomes

    async def _recalled(self, query: Query, scope: TenantScope, profile: RankingProfile) -> list[Memory]:
        pipeline = RecallPipeline(
            store=self._store, embedder=self._embedder, settings=self._settings.recall, clock=ManualClock(query.asked_at)
        )
        memory_filter = MemoryFilter(scope=scope, kinds=NON_ENTITY_KINDS)
        request = RecallRequest(filter=memory_filter, query=query.text, limit=_RESULTS, profile=profile)
        # A duplicate that a result replaced adds its messages to the evidence.
        return [hit.memory.model_copy(update={"message_ids": list(hit.evidence)}) for hit in (await pipeline.recall(request)).hits]


def _outcome(query: Query, ranking: Sequence[Memory]) -> Outcome:
    messages = ranked_messages(each.message_ids for each in ranking)
    return Outcome(quality_of(messages, query.messages) if query.messages else None, quality_of(ranked_sessions(ranking), query.sessions))
