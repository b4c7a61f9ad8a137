"""The extractor that asks an LLM: one call a window (VikingMem 3.1, one-pass memory extraction)."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from extraction.assemble import build_extraction
from extraction.deduplication import Candidate, EventPair, Thresholds, candidates_of, compare, merge
from extraction.drafts import Draft, EventDraft
from extraction.errors import UnusableAnswerError
from extraction.one_pass.answer.form import answer_schema
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.flow import STAGE, Flow, Task, extraction_flow
from extraction.one_pass.prompt.limits import PromptLimits
from extraction.one_pass.prompt.prefix import compile_prefix
from extraction.one_pass.resolution import resolution_flow
from extraction.one_pass.support import mark_unsupported
from extraction.port import ExtractionContext, Extractor, Quotation, Quotations, StatedEvents
from memory.records import Extraction, Usage, Window
from memory.schema import MemorySchema
from memory.texts.text import estimate_tokens
from models.embedding.port import Embedder
from models.errors import BudgetExceededError, InputRefusedError, ModelError
from models.llm.port import LLM, LLMAnswer, LLMRequest
from models.llm.usage import usage_record
from runtime.clocks import Clock
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.settings import LLMSettings

R = TypeVar("R")

_LOG = logger(__name__)


class OnePassExtractor:
    """Extracts all types of memories from a window with one call, and two at most if the answer was cut off or unusable.

    A further, small call is made only if two events are so alike that embeddings leave doubt whether they are one.

    Prompts are built and answers are read in threads: a long answer takes a second, and a blocked event loop makes the stage leave its
    consumer group.

    Args:
        llm: The endpoint; closed with the extractor.
        embedder: Finds repetitions; not closed.
        settings: The model's context and longest answer.
        limits: The caps of the prompt's parts.
        thresholds: When two events are one.
        clock: Dates the usage records.
        quotations: Quotes the first message of each event.
        stated_events: Finds the events that the application states itself. The model is not asked about a window that has nothing else.
        metrics: Where repetitions that the model did not resolve are counted.
        beyond_budget: Extracts the windows of tenants whose hard budget is used up and whose policy is not to wait; closed with the
            extractor.
    """

    def __init__(
        self,
        *,
        llm: LLM,
        embedder: Embedder,
        settings: LLMSettings,
        limits: PromptLimits,
        thresholds: Thresholds,
        clock: Clock,
        quotations: Quotations,
        stated_events: StatedEvents,
        metrics: Metrics,
        beyond_budget: Extractor,
    ) -> None:
        self._llm = llm
        self._embedder = embedder
        self._settings = settings
        self._limits = limits
        self._thresholds = thresholds
        self._clock = clock
        self._quotations = quotations
        self._stated_events = stated_events
        self._records = metrics.records
        self._beyond_budget = beyond_budget

    @property
    def name(self) -> str:
        """``llm:`` and the model's name."""
        return f"llm:{self._llm.model}"

    def edited_entities(self, window: Window, schema: MemorySchema) -> None:
        """None: the model may edit any of the entities in its prompt."""

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        """See :meth:`extraction.port.Extractor.extract`.

        Raises:
            TransientModelError: The failure may be temporary: try again later.
            UnusableAnswerError: Neither the answer nor its repair can be used; carries the raw text.
            ModelConfigurationError: The schema's prompt does not fit into the model's context, or the endpoint refuses the request.
            BudgetExceededError: The tenant's hard budget is used up, and windows are to wait; or its soft one, and it is not off-peak.
        """
        try:
            return await self._extract(window, schema, context)
        except BudgetExceededError as refusal:
            if not refusal.offline:
                raise
            _LOG.info("extracted_beyond_budget", tenant=window.tenant, window=window.id, reason=str(refusal))
            return await self._beyond_budget.extract(window, schema, context)

    async def close(self) -> None:
        """Frees connections."""
        await self._llm.close()
        await self._beyond_budget.close()

    async def _extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        usage: list[Usage] = []
        task = await asyncio.to_thread(self._task, window, schema, context)
        stated = await asyncio.to_thread(self._stated_events, window, schema, context.recalled_hashes)
        if stated.events and len(stated.events) == len(window.messages):
            draft = stated
        else:
            draft = await self._run(extraction_flow(task), usage)
            draft = await self._unsupported_marked(draft, window, context)
            draft = _with_stated(draft, stated)
        draft = await self._without_repetitions(draft, task, usage)
        if schema.said:
            quotations = await asyncio.to_thread(self._quotations, window, context.recalled_hashes)
            stating = {message for each in stated.events for message in each.messages}
            draft = _with_quotations(draft, {index: each for index, each in quotations.items() if index not in stating})
        build = partial(build_extraction, window=window, schema=schema, extractor=self.name, generation=context.generation, usage=usage)
        return await asyncio.to_thread(build, draft)

    async def _unsupported_marked(self, draft: Draft, window: Window, context: ExtractionContext) -> Draft:
        """Marks and counts events whose words the window does not have. They are stored, since an honest event may be worded freely."""
        draft = await asyncio.to_thread(mark_unsupported, draft, window, context)
        if events := sum(each.unsupported for each in draft.events):
            self._records.labels(STAGE, "unsupported_event").inc(events)
            _LOG.warning("unsupported_events", tenant=window.tenant, window=window.id, events=events)
        return draft

    def _task(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Task:
        prefix_tokens = estimate_tokens(compile_prefix(schema))
        return Task(
            source=ExtractionInput(window, schema, context.recalled_hashes),
            context=context,
            limits=self._limits.within(self._settings, prefix_tokens=prefix_tokens),
            answer_schema=answer_schema(schema),
            max_tokens=self._settings.max_completion_tokens,
        )

    async def _without_repetitions(self, draft: Draft, task: Task, usage: list[Usage]) -> Draft:
        candidates = await asyncio.to_thread(candidates_of, draft.events, task.context.session_events, task.source.window.messages)
        if len(candidates) < 2 or not draft.events:
            return draft
        try:
            embeddings = await self._embedder.embed_documents([each.statement.content for each in candidates])
        except InputRefusedError as error:
            # A retry would be refused too, and a repetition that stays loses nothing.
            _LOG.warning("repetitions_not_looked_for", tenant=task.source.window.tenant, window=task.source.window.id, error=str(error))
            return draft
        same, doubtful = await asyncio.to_thread(compare, candidates, [each.dense for each in embeddings], self._thresholds)
        if doubtful:
            same += await self._resolve(candidates, doubtful, task, usage)
        from_earlier_windows = len(candidates) - len(draft.events)
        merged = await asyncio.to_thread(merge, draft.events, same, draft.tally, from_earlier_windows=from_earlier_windows)
        return replace(draft, events=merged)

    async def _resolve(
        self, candidates: Sequence[Candidate], doubtful: Sequence[EventPair], task: Task, usage: list[Usage]
    ) -> list[EventPair]:
        """The doubtful pairs that the model calls one event; none without its answer, since a repetition loses nothing."""
        window = task.source.window
        request = LLMRequest(messages=(), tenant=window.tenant, stage=STAGE, subject=window.id)
        try:
            return await self._run(resolution_flow(candidates, doubtful, request), usage)
        except (ModelError, UnusableAnswerError) as error:
            self._records.labels(STAGE, "repetitions_not_resolved").inc()
            _LOG.warning("repetitions_not_resolved", tenant=window.tenant, window=window.id, pairs=len(doubtful), error=str(error))
            return []

    async def _run(self, flow: Flow[R], usage: list[Usage]) -> R:
        """Drives a flow over the LLM, noting what each call that was not answered by a cache used up."""
        step = await asyncio.to_thread(_advanced, flow, None)
        while not isinstance(step, _Ended):
            answer = await self._llm.complete(step)
            if not answer.from_cache:
                usage.append(self._usage_of(step, answer))
            step = await asyncio.to_thread(_advanced, flow, answer)
        return step.result

    def _usage_of(self, request: LLMRequest, answer: LLMAnswer) -> Usage:
        return usage_record(
            request,
            model=answer.model,
            tokens=answer.usage,
            cost=answer.cost,
            latency_ms=answer.latency_ms,
            is_estimated=answer.is_estimated,
            time=self._clock.now(),
        )


@dataclass(frozen=True, slots=True)
class _Ended(Generic[R]):
    """The result of a flow. An exception cannot carry it out of a thread: asyncio refuses StopIteration."""

    result: R


def _advanced(flow: Flow[R], answer: LLMAnswer | None) -> LLMRequest | _Ended[R]:
    """The flow's next request, or its result; None begins the flow."""
    try:
        return next(flow) if answer is None else flow.send(answer)
    except StopIteration as end:
        return _Ended(end.value)


def _with_stated(draft: Draft, stated: Draft) -> Draft:
    """The draft with the stated events in place of the model's wording of them."""
    if not stated.events:
        return draft
    messages_of: dict[str, set[int]] = defaultdict(set)
    for each in stated.events:
        messages_of[each.type].update(each.messages)
    kept = [each for each in draft.events if not messages_of[each.type].issuperset(each.messages)]
    draft.tally.drop("event", "stated", len(draft.events) - len(kept))
    draft.tally.add(stated.tally)
    return replace(draft, events=tuple(sorted([*kept, *stated.events], key=lambda each: min(each.messages))))


def _with_quotations(draft: Draft, quotations: Mapping[int, Quotation]) -> Draft:
    return replace(draft, events=tuple(_quoting(each, quotations.get(each.messages[0])) for each in draft.events))


def _quoting(event: EventDraft, quotation: Quotation | None) -> EventDraft:
    return event if quotation is None else replace(event, said=quotation.said, search_text=quotation.search_text)
