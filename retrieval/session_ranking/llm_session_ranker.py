"""Sift (MemSifter 3.2): a proxy model ranks the sessions of a scope, and the recall returns the memories of the best ones."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from memory.positions import LogPosition
from models.llm.port import LLM
from retrieval.errors import RecallModelError
from retrieval.model_calls import RecallModel
from retrieval.request import RecallRequest
from retrieval.selection import Ranked
from retrieval.session_ranking.ranking import parse_ranking, prompt_of
from retrieval.session_ranking.session_selection import chosen
from retrieval.session_ranking.sessions import SessionKey, SessionText, nearest, sessions_of, within_budget
from runtime.settings import SiftSettings

PURPOSE: Final = "sift"
_MAX_SESSIONS: Final = 64
"""Sessions that are read completely, if the store holds more memories than one search returns."""

RankRequest = Callable[[RecallRequest], Awaitable[tuple[Ranked, tuple[LogPosition, ...]]]]
"""Ranks the memories of a request, and returns the positions that the store contained at least."""


@dataclass(frozen=True, slots=True)
class History:
    """The sessions for the prompt."""

    memories: Ranked
    """All memories of the sessions that were read, and some of others."""
    sessions: tuple[SessionText, ...]
    """The sessions that fit into the prompt, oldest first; at least one."""
    left_out: int
    """Number of sessions that did not fit."""
    positions: tuple[LogPosition, ...] = ()
    """The store contained all records up to these positions of the change feed."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """Memories in the order of the sessions that the model ranked."""

    memories: Ranked
    ranking: tuple[SessionKey, ...]
    """Best first."""
    thought: str
    """The model's reasoning."""
    shown: int
    """Number of sessions in the prompt."""
    left_out: int
    """Number of sessions that did not fit."""


class Sift:
    """Ranks sessions by a proxy model.

    Args:
        llm: The proxy model. None: no endpoint is configured.
        settings: Limits of the prompt and of the reply.
    """

    def __init__(self, *, llm: LLM | None, settings: SiftSettings) -> None:
        self._model = RecallModel(llm, settings=settings, purpose=PURPOSE)
        self._settings = settings

    @property
    def deadline_s(self) -> float:
        """Most seconds of a ranking."""
        return self._settings.deadline_s

    @property
    def memories(self) -> int:
        """Most memories that one search reads."""
        return self._settings.memories

    async def read(self, request: RecallRequest, rank: RankRequest) -> History | None:
        """Reads the sessions that a request may see: all of them if they fit into the prompt, else the nearest to the query.

        Args:
            request: The recall. Only events belong to sessions.
            rank: Ranks the memories of a request.

        Returns:
            None if there is no session to rank.

        Raises:
            RecallModelError: ``off``, or ``too_long``.
            VarveError: If the memories cannot be ranked.
        """
        self._model.check()
        if request.filter.kinds and "event" not in request.filter.kinds:
            return None
        most = self._settings.memories
        events = replace(request.filter, kinds=("event",))
        wide = replace(request, filter=events, limit=most, min_origin_score=0.0, keeps_ranking=False)
        found, positions = await rank(wide)
        sessions = sessions_of(found.hits)
        left_out = 0
        if len(found.hits) + len(found.duplicates) >= most:
            # Which memories of a session were found depends on the query. Few sessions are read completely.
            near = nearest(sessions, _MAX_SESSIONS)
            left_out = len(sessions) - len(near)
            found, positions = await rank(
                replace(wide, filter=replace(events, sessions=tuple(dict.fromkeys(each.key.session for each in near))))
            )
            near_keys = {each.key for each in near}
            sessions = [each for each in sessions_of(found.hits) if each.key in near_keys]
        if not sessions:
            return None
        fitting = within_budget(sessions, self._settings.history_tokens)
        if not fitting:
            raise RecallModelError("too_long", f"no session fits into {self._settings.history_tokens} tokens (VARVE_SIFT__HISTORY_TOKENS)")
        return History(found, tuple(fitting), left_out + len(sessions) - len(fitting), positions)

    async def rank(self, request: RecallRequest, history: History, *, limit: int) -> Sifted:
        """Asks the model to rank the sessions, and orders their memories by it.

        Args:
            request: The recall; its tenant pays the tokens.
            history: The result of :meth:`read`.
            limit: Most hits of the recall.

        Raises:
            RecallModelError: If the model may not be called, refuses, or returns no valid ranking.
            models.errors.TransientModelError: If the endpoint is unavailable.
        """
        answer = await self._model.ask(request.scope.tenant, prompt_of(history.sessions, request.query), user=request.scope.user)
        ranked = parse_ranking(answer, sessions=len(history.sessions))
        keys = tuple(history.sessions[place].key for place in ranked.places)
        memories = chosen(history.memories, keys, limit=limit)
        return Sifted(memories, keys, ranked.thought, len(history.sessions), history.left_out)

    async def close(self) -> None:
        """Closes the model's connections."""
        await self._model.close()
