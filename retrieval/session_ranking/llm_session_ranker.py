"""Think and rank: reads a scope's sessions out of the store, and has a proxy model rank them."""

from dataclasses import dataclass, replace
from typing import Final

from models.llm.port import LLM
from retrieval.errors import RecallModelError
from retrieval.model_calls import AskedModel
from retrieval.pipeline import Recall
from retrieval.request import RecallRequest
from retrieval.selection import Ranked
from retrieval.session_ranking.ranking import parse_ranking, prompt_of
from retrieval.session_ranking.session_selection import chosen
from retrieval.session_ranking.sessions import SessionKey, SessionText, nearest, sessions_of, within_budget
from runtime.settings import SiftSettings

PURPOSE: Final = "sift"
_MOST_SESSIONS: Final = 64
"""That are read whole, where the store holds more memories than are read at once."""


@dataclass(frozen=True, slots=True)
class History:
    """What the model is shown."""

    memories: Ranked
    """All memories of the sessions that were read, and some of others."""
    sessions: tuple[SessionText, ...]
    """Those that fit, oldest first; at least one."""
    left_out: int
    """Sessions that were found and did not fit."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """A recall by the sessions that the model ranked."""

    memories: Ranked
    ranking: tuple[SessionKey, ...]
    """Best first."""
    thought: str
    """The model's."""
    shown: int
    """How many sessions it was shown."""
    left_out: int
    """Sessions that were found and did not fit."""


class Sift:
    """Ranks sessions by a proxy model.

    Args:
        recall: Finds the sessions' memories.
        llm: The proxy model; None: no endpoint is set.
        settings: Bounds of the prompt and of the answer.
    """

    def __init__(self, *, recall: Recall, llm: LLM | None, settings: SiftSettings) -> None:
        self._recall = recall
        self._model = AskedModel(llm, settings=settings, purpose=PURPOSE)
        self._settings = settings

    async def read(self, request: RecallRequest) -> History | None:
        """Reads the sessions that a request may see: all of them if they fit into the prompt, else the nearest to the query.

        Args:
            request: Of its kinds, only events are of a session.

        Returns:
            None where there is no session to rank.

        Raises:
            RecallModelError: ``off``, or ``too_long``.
            RetrievalError: What the recall raised.
            models.errors.ModelError: What the embedder raised.
        """
        self._model.check()
        if request.filter.kinds and "event" not in request.filter.kinds:
            return None
        most = self._settings.memories
        events = replace(request.filter, kinds=("event",))
        wide = replace(request, filter=events, limit=most, min_origin_score=0.0, keeps_ranking=False)
        found = await self._recall.rank(wide)
        sessions = sessions_of(found.hits)
        left_out = 0
        if len(found.hits) + len(found.duplicates) >= most:
            # Which memories of a session were found depends on the query. Those of few sessions are read whole.
            near = nearest(sessions, _MOST_SESSIONS)
            left_out = len(sessions) - len(near)
            found = await self._recall.rank(
                replace(wide, filter=replace(events, sessions=tuple(dict.fromkeys(each.key.session for each in near))))
            )
            near_keys = {each.key for each in near}
            sessions = [each for each in sessions_of(found.hits) if each.key in near_keys]
        if not sessions:
            return None
        fitting = within_budget(sessions, self._settings.history_tokens)
        if not fitting:
            raise RecallModelError("too_long", f"no session fits into {self._settings.history_tokens} tokens (VARVE_SIFT__HISTORY_TOKENS)")
        return History(found, tuple(fitting), left_out + len(sessions) - len(fitting))

    async def rank(self, request: RecallRequest, history: History, *, limit: int) -> Sifted:
        """Has the model rank the sessions, and chooses among their memories.

        Args:
            request: Whose tokens it takes, and the query.
            history: What :meth:`read` found.
            limit: Most memories.

        Raises:
            RecallModelError: If the model may not be asked, refuses, or gives no ranking.
            models.errors.TransientModelError: If the endpoint is away.
        """
        answer = await self._model.ask(request.scope.tenant, prompt_of(history.sessions, request.query), user=request.scope.user)
        ranked = parse_ranking(answer, sessions=len(history.sessions))
        keys = tuple(history.sessions[place].key for place in ranked.places)
        memories = chosen(history.memories, keys, limit=limit)
        return Sifted(memories, keys, ranked.thought, len(history.sessions), history.left_out)

    async def close(self) -> None:
        """Closes the model's connections."""
        await self._model.close()
