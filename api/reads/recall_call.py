"""The common part of ``/v1/recall`` and ``/v1/context``: waits, answers within a turn, and records what was returned."""

import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import Request

from api.auth.authentication import require_current
from api.auth.caller import Caller
from api.dependencies import Dependencies
from api.http.json_http import JsonResponse
from api.reads.read_your_writes import Reached, Seen, wait_for, wait_until_reached
from api.reads.recall_body import QueryBody
from api.reads.recall_records import basis_of, record_recall
from api.reads.recall_request import build_recall_request, deadline_of
from memory.records import Memory
from retrieval.request import RecallRequest, RecallResponse
from runtime.tracing import SpanContext


class RecallCall:
    """One HTTP request for a recall or a context. Its deadline runs from here on.

    Args:
        request: The HTTP request.
        caller: The owner of the request's key.
        body: The request's body.
        dependencies: The clients and stores.
        limit: Most results. None: the setting.
        explain: Whether to return the parts of each score.
        trace: Whether to return the outcome of each candidate.

    Raises:
        ProblemError: See :func:`api.reads.recall_request.build_recall_request`.
    """

    def __init__(
        self,
        request: Request,
        caller: Caller,
        body: QueryBody,
        dependencies: Dependencies,
        *,
        limit: int | None,
        explain: bool = False,
        trace: bool = False,
    ) -> None:
        self._started = time.perf_counter()
        self.until = deadline_of(dependencies, body.deadline_ms)
        """In seconds of the event loop's clock."""
        self._request = request
        self._caller = caller
        self._body = body
        self._dependencies = dependencies
        self._schema = dependencies.tenants.schema_of(caller.tenant.id)
        self.recall: RecallRequest = build_recall_request(
            dependencies, body, caller, self._schema, limit=limit, explain=explain, trace=trace
        )
        self.rewritten = self.recall
        """The recall with what a model has added to it."""
        self._seen: Seen | None = None
        self._reached: Reached | None = None

    @asynccontextmanager
    async def answered(self) -> AsyncIterator[RecallResponse]:
        """Answers the recall. The block runs within the same turn of reads.

        Raises:
            ProblemError: 422 if ``after`` or ``at`` names another topic; 429 if too many reads wait; 401 or 403 if access was lost.
            VarveError: See :meth:`retrieval.pipeline.RecallPipeline.answer`.
        """
        dependencies, request, caller, recall = self._dependencies, self._request, self._caller, self.recall
        scope, until, pipeline = recall.scope, self.until, dependencies.recall
        self._seen = await wait_for(
            self._body.after, dependencies=dependencies, request=request, caller=caller, scope=scope, tail=recall.tail, until=until
        )
        self._reached = await wait_until_reached(
            self._body.at, dependencies=dependencies, request=request, caller=caller, scope=scope, until=until
        )
        turn = dependencies.admission.turns_of(request, caller.tenant, until=until)
        rewritten = await pipeline.rewrite(recall, until=until, turn=turn)
        self.rewritten = rewritten.request
        # It may have waited for most of a minute.
        require_current(dependencies, caller)
        async with turn(pipeline.results_read(recall)):
            yield await pipeline.answer(rewritten, until=until)

    async def response(
        self,
        found: RecallResponse,
        fields: Mapping[str, Any],
        *,
        returned: Iterable[Memory],
        texts: Iterable[str],
        trace: SpanContext,
        headers: Mapping[str, str],
    ) -> JsonResponse:
        """Records the recall, and returns its HTTP response.

        Args:
            found: The result of :meth:`answered`.
            fields: The route's own fields.
            returned: The memories in the response, best first.
            texts: Texts that may come back in the conversation as an echo.
            trace: The request's trace.
            headers: The state of the caller's quota.
        """
        recall_id = await record_recall(self._dependencies, self.recall, found, self._schema, returned, texts, trace)
        return JsonResponse(
            {
                "recall_id": recall_id,
                **fields,
                **found.rewriting,
                "after": self._seen,
                "at": self._reached,
                **basis_of(found, self._dependencies.settings),
                "ms": round((time.perf_counter() - self._started) * 1000, 2),
            },
            headers=headers,
        )
