"""Sift (MemSifter 3.2): a proxy model ranks the sessions of a scope, and the recall returns the memories of the best ones."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from memory.positions import LogPosition
from memory.records import Memory
from models.llm.port import LLM, LLMAnswer
from retrieval.errors import RecallModelError
from retrieval.model_calls import RecallModel
from retrieval.request import HistoryContent, RecallRequest
from retrieval.selection import Ranked
from retrieval.session_ranking.coarse_filter import filter_scores, recall_scores, within_budget
from retrieval.session_ranking.prompt import PartialRankingError, SessionRanking, complete_at, number_ranked, parse_ranking, prompt_of
from retrieval.session_ranking.session_selection import chosen
from retrieval.session_ranking.sessions import SessionKey, SessionText, read_sessions, session_key
from runtime.metrics import metrics
from runtime.settings import SiftSettings
from stores.port import MemoryFilter

PURPOSE: Final = "sift"
_MAX_SESSIONS: Final = 64
"""Sessions that are read completely, if the scope has more memories than one recall may read."""
MAX_RANKED: Final = 1000
"""Most memories that the recall pipeline ranks, for the results and the coarse filter."""


class MemoryReader(Protocol):
    """The memories of a store."""

    async def ranked_memories(self, request: RecallRequest) -> tuple[Ranked, tuple[LogPosition, ...]]:
        """Ranks the memories of a request, and returns the positions that the store contained at least."""
        ...

    async def all_memories(self, memory_filter: MemoryFilter, *, most: int) -> list[Memory]:
        """The memories that pass a filter and have not expired, ordered by id.

        Args:
            memory_filter: The filter.
            most: Most memories.
        """
        ...


@dataclass(frozen=True, slots=True)
class History:
    """The sessions for the prompt."""

    memories: Ranked
    """The memories that may be results, best first."""
    sessions: tuple[SessionText, ...]
    """The sessions that fit into the prompt, oldest first; at least one."""
    left_out: int
    """Number of sessions that did not fit."""
    positions: tuple[LogPosition, ...] = ()
    """The store contained all records up to these positions of the change feed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """Tokens, time and cost of a call."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    estimated: bool
    """Whether the endpoint did not count the tokens."""
    ms: float
    cost: float
    """In the currency of the price table; 0 without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifted:
    """Memories in the order of the sessions that the model ranked."""

    memories: Ranked
    ranking: tuple[SessionKey, ...]
    """Best first."""
    thought: str
    """The model's reasoning."""
    contents: tuple[HistoryContent, ...]
    """The content of the sessions in the prompt."""
    shown: int
    """Number of sessions in the prompt."""
    left_out: int
    """Number of sessions that did not fit."""
    completed: int
    """Number of sessions at the end of the ranking that are not from the model, because its answer was partial."""
    usage: ModelUsage


class Sift:
    """Ranks sessions by a proxy model.

    Args:
        llm: The proxy model. None: no endpoint is configured.
        settings: The defaults of a request's options, and limits of the prompt and of the answer.
    """

    def __init__(self, *, llm: LLM | None, settings: SiftSettings) -> None:
        self._model = RecallModel(llm, settings=settings, purpose=PURPOSE)
        self._settings = settings
        self._metrics = metrics()

    @property
    def deadline_s(self) -> float:
        """Most seconds of a ranking."""
        return self._settings.deadline_s

    @property
    def memories(self) -> int:
        """Most memories that one recall reads."""
        return self._settings.memories

    async def read(self, request: RecallRequest, reader: MemoryReader) -> History | None:
        """Reads the sessions that a request may see: all of them if they fit into the prompt, else those that the filter selects.

        Filters by type and by key select sessions and results; the selected sessions are shown whole.

        Args:
            request: The recall. Only events belong to sessions.
            reader: Reads the memories.

        Returns:
            None if there is no session to rank.

        Raises:
            RecallModelError: ``off``, or ``too_long``.
            VarveError: If the memories cannot be read or ranked.
        """
        self._model.check()
        events = _events_of(request)
        if events is None:
            return None
        most = self._settings.memories
        wide = replace(
            request,
            filter=events,
            limit=min(most, MAX_RANKED),
            min_origin_score=0.0,
            keeps_ranking=False,
            explain=request.explain or self._settings.filter == "cosine",
        )
        # Filters by type and by key select sessions, and do not leave out memories of them.
        whole = replace(events, types=(), keys=())
        (found, positions), memories = await asyncio.gather(reader.ranked_memories(wide), reader.all_memories(whole, most=most + 1))
        if not found.hits:
            # No result to order: the memories do not match the filter, or the confidence is too low.
            return None
        near = recall_scores(found.hits)
        left_out = 0
        if len(memories) > most:
            best = sorted(near, key=lambda key: -near[key])[:_MAX_SESSIONS]
            memories = await _whole_sessions(best, whole, reader, most=most)
            left_out = len(near) - len({session_key(each) for each in memories})
        elif request.filter.types or request.filter.keys:
            memories = [each for each in memories if session_key(each) in near]
        sessions = await read_sessions(memories, content_of(request))
        if not sessions:
            return None
        fitting = await self._fitting(sessions, found, request.query)
        return History(found, tuple(fitting), left_out + len(sessions) - len(fitting), positions)

    async def rank(self, request: RecallRequest, history: History, *, limit: int) -> Sifted:
        """Asks the model to rank the sessions, and orders their memories by it.

        A partial answer is completed with the sessions whose memories score best in the recall pipeline. The metric
        ``varve_sift_answers_total`` counts ``whole``, ``partial`` and ``rejected`` answers.

        Args:
            request: The recall; its tenant pays the tokens.
            history: The result of :meth:`read`.
            limit: Most hits of the recall.

        Raises:
            RecallModelError: If the model may not be called, refuses, or returns no valid ranking.
            models.errors.TransientModelError: If the endpoint is unavailable.
        """
        options, settings = request.sift, self._settings
        most = settings.sessions if options.sessions is None else options.sessions
        reasoning = settings.reasoning if options.reasoning is None else options.reasoning
        prompt = prompt_of(history.sessions, request.query, most=most, reasoning=reasoning)
        answer = await self._model.ask(request.scope.tenant, prompt, user=request.scope.user, complete_at=complete_at)
        ranking, completed = self._ranking(answer, history, most=most, reasoning=reasoning)
        keys = tuple(history.sessions[place].key for place in ranking.places)
        contents = frozenset[HistoryContent]().union(*(each.contents for each in history.sessions))
        return Sifted(
            memories=chosen(history.memories, keys, limit=limit),
            ranking=keys,
            thought=ranking.thought,
            contents=tuple(sorted(contents, reverse=True)),
            shown=len(history.sessions),
            left_out=history.left_out,
            completed=completed,
            usage=_usage(answer),
        )

    async def close(self) -> None:
        """Closes the model's connections."""
        await self._model.close()

    async def _fitting(self, sessions: Sequence[SessionText], found: Ranked, query: str) -> list[SessionText]:
        tokens = self._settings.history_tokens
        if sum(each.tokens for each in sessions) <= tokens:
            return list(sessions)
        fitting = within_budget(sessions, await filter_scores(self._settings.filter, sessions, found.hits, query), tokens)
        if not fitting:
            raise RecallModelError("too_long", f"no session fits into {tokens} tokens (VARVE_SIFT__HISTORY_TOKENS)")
        return fitting

    def _ranking(self, answer: LLMAnswer, history: History, *, most: int, reasoning: bool) -> tuple[SessionRanking, int]:
        """The ranking, and how many of its sessions are not from the model."""
        sessions = len(history.sessions)
        try:
            ranking = parse_ranking(answer.text, sessions=sessions, most=most, reasoning=reasoning, thoughts=answer.thoughts)
        except PartialRankingError as partial:
            self._metrics.sift_answers.labels("partial").inc()
            scores = recall_scores(history.memories.hits)
            ranked = partial.ranking.places
            others = sorted(set(range(sessions)).difference(ranked), key=lambda place: -scores.get(history.sessions[place].key, 0.0))
            places = (*ranked, *others)[: number_ranked(sessions, most)]
            return SessionRanking(partial.ranking.thought, places), len(places) - len(ranked)
        except RecallModelError:
            self._metrics.sift_answers.labels("rejected").inc()
            raise
        self._metrics.sift_answers.labels("whole").inc()
        return ranking, 0


def _events_of(request: RecallRequest) -> MemoryFilter | None:
    """The filter of the events that a request or its method selects. None: they select other kinds of memories only."""
    asked, method = request.filter, request.method
    kinds = asked.kinds or (() if method is None else method.kinds)
    if kinds and "event" not in kinds:
        return None
    types = asked.types if asked.kinds or asked.types or method is None else method.types
    return replace(asked, kinds=("event",), types=types)


async def _whole_sessions(keys: Sequence[SessionKey], memory_filter: MemoryFilter, reader: MemoryReader, *, most: int) -> list[Memory]:
    """All memories of the first sessions. Stops after the session with which they are ``most`` or more. Longer sessions are skipped."""
    memories: list[Memory] = []
    for key in keys:
        read = await reader.all_memories(replace(memory_filter, sessions=(key.session,)), most=most + 1)
        memories += [each for each in read if session_key(each) == key] if len(read) <= most else []
        if len(memories) >= most:
            break
    return memories


def content_of(request: RecallRequest) -> HistoryContent:
    """The content of the sessions that the model reads: the requested one, else turns if the method archives them."""
    if request.sift.history is not None:
        return request.sift.history
    return "turns" if request.method is not None and request.method.archives_turns else "events"


def _usage(answer: LLMAnswer) -> ModelUsage:
    return ModelUsage(
        prompt_tokens=answer.usage.prompt_tokens,
        cached_tokens=answer.usage.cached_tokens,
        completion_tokens=answer.usage.completion_tokens,
        estimated=answer.is_estimated,
        ms=round(answer.latency_ms, 2),
        cost=answer.cost,
    )
