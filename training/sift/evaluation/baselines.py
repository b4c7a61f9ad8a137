"""Rankings of sessions without a proxy model: by BM25, by cosine, and by the recall pipeline, also with expanded queries.

The sessions' lines are memories in a real store. A session's score is the mean of its best three memories, as in the coarse filter.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from types import MappingProxyType
from typing import Final, Literal, get_args

from evaluation.qa.calls import tokens_of
from evaluation.recall.corpus import RAW_TENANT, MemoryWriter, empty_store
from memory.ids import event_id
from memory.records import Memory
from models.llm.port import LLMAnswer
from retrieval.errors import RecallModelError
from retrieval.pipeline import RecallPipeline
from retrieval.query.expansion import parse_sentences, prompt_of
from retrieval.request import RecallRequest
from retrieval.session_ranking.coarse_filter import bm25_scores, cosine_scores, recall_scores
from retrieval.session_ranking.llm_session_ranker import MAX_RANKED
from retrieval.session_ranking.sessions import SessionKey, SessionText
from runtime.clocks import ManualClock
from runtime.settings import Settings
from stores.port import MemoryFilter, TenantScope
from training.sift.data.examples import Chosen, Example, UserExamples
from training.sift.models.endpoints import RankingModel, estimated_cost

Baseline = Literal["bm25", "cosine", "learned"]
BASELINES: Final[tuple[Baseline, ...]] = get_args(Baseline)
EXPAND: Final = "expand"
"""The recall pipeline with sentences of a model, as in a recall with ``mode=expand``."""
Method = Baseline | Literal["expand"]
_EXPANSION_TOKENS: Final = 60
"""Assumed tokens of a model's sentences, for the estimated cost."""
_BEGIN: Final = datetime(2024, 1, 1, tzinfo=UTC)
"""Lines have their date in their text; the records get one day per session, in order."""

Ranked = tuple[tuple[int, ...], LLMAnswer]
"""A ranking of all of an example's sessions, with the tokens and the time that it took."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """The sentences that a model adds to a query."""

    sentences: tuple[str, ...]
    answer: LLMAnswer
    """The model's answer, with its tokens and time."""


async def baseline_rankings(
    users: Sequence[UserExamples],
    chosen: frozenset[str],
    names: Sequence[Method],
    expansions: Mapping[str, Expansion] = MappingProxyType({}),
) -> dict[Method, dict[str, Ranked]]:
    """By method, the ranking of each example.

    Args:
        users: The users.
        chosen: Ids of the examples to rank.
        names: The methods.
        expansions: By query, the sentences for :data:`EXPAND`.
    """
    found: dict[Method, dict[str, Ranked]] = {name: {} for name in names}
    if "bm25" in names:
        for user in users:
            for example in user.examples:
                if example.id in chosen:
                    started = time.perf_counter()
                    scores = await bm25_scores(_texts(user, example), example.query)
                    found["bm25"][example.id] = _ranked(scores, started)
    others = [name for name in names if name != "bm25"]
    if others:
        await _by_recall(users, chosen, others, expansions, found)
    return found


def expansions_of(queries: Sequence[str], model: RankingModel) -> dict[str, Expansion]:
    """By query, the sentences that a model adds to it. Without a usable one: none, as a recall then searches the query alone.

    Args:
        queries: Their texts.
        model: The model.
    """
    found = model.answer_all([prompt_of(query) for query in queries])
    return {query: Expansion(_sentences(answers[0].text, query), answers[0]) for query, answers in zip(queries, found, strict=True)}


def expansion_cost(chosen: Chosen, *, model: str) -> str:
    """The cost of the expansions, without cached ones.

    Args:
        chosen: The examples.
        model: The model.
    """
    prompts = sum(tokens_of(prompt_of(example.query)) for _, example in chosen)
    number = len(chosen)
    return estimated_cost(Settings(), model=model, calls=number, prompt_tokens=prompts, completion_tokens=number * _EXPANSION_TOKENS)


def _sentences(text: str, query: str) -> tuple[str, ...]:
    try:
        return parse_sentences(text, query)
    except RecallModelError:
        return ()


async def _by_recall(
    users: Sequence[UserExamples],
    chosen: frozenset[str],
    names: Sequence[Method],
    expansions: Mapping[str, Expansion],
    found: dict[Method, dict[str, Ranked]],
) -> None:
    settings = Settings()
    async with empty_store(settings) as (store, embedder):
        writer = MemoryWriter(store, embedder)
        for user in users:
            asked = [each for each in user.examples if each.id in chosen]
            if not asked:
                continue
            await writer.write(_memories(user))
            clock = ManualClock(_BEGIN + timedelta(days=len(user.sessions)))
            pipeline = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=clock)
            for example in asked:
                for name in names:
                    added = expansions.get(example.query) if name == EXPAND else None
                    started = time.perf_counter()
                    request = RecallRequest(
                        filter=MemoryFilter(scope=TenantScope(RAW_TENANT, user.user), kinds=("event",), sessions=example.sessions),
                        query=example.query,
                        expansions=() if added is None else added.sentences,
                        limit=MAX_RANKED,
                        min_origin_score=0.0,
                        explain=True,
                    )
                    ranked, _ = await pipeline.ranked_memories(request)
                    scores = cosine_scores(ranked.hits) if name == "cosine" else recall_scores(ranked.hits)
                    by_place = [scores.get(SessionKey(user.user, session), 0.0) for session in example.sessions]
                    found[name][example.id] = _ranked(by_place, started, None if added is None else added.answer)


def _memories(user: UserExamples) -> list[Memory]:
    return [
        Memory(
            id=event_id(f"{RAW_TENANT}/{sha256(f'{user.user}/{session.name}'.encode()).hexdigest()}", number),
            tenant=RAW_TENANT,
            user=user.user,
            kind="event",
            type="turn",
            content=line,
            event_time=_BEGIN + timedelta(days=place, seconds=number),
            session=session.name,
            window_id=session.name,
            turn=number,
            message_ids=[f"{session.name}/{number}"],
        )
        for place, session in enumerate(user.sessions)
        for number, line in enumerate(session.lines)
        if line.strip()
    ]


def _texts(user: UserExamples, example: Example) -> list[SessionText]:
    by_name = {each.name: each for each in user.sessions}
    return [SessionText(SessionKey(user.user, name), by_name[name].lines, by_name[name].tokens) for name in example.sessions]


def _ranked(scores: Sequence[float], started: float, answer: LLMAnswer | None = None) -> Ranked:
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    spent = answer or LLMAnswer(text="", model="")
    return tuple(order), replace(spent, latency_ms=spent.latency_ms + 1000 * (time.perf_counter() - started))
