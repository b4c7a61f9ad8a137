"""Ingests one user's conversation with a memory method: extraction, operators and merging, and the tokens that each window takes."""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from evaluation.cached_llm import KeptLLM, Spent
from evaluation.extraction.asking import WindowExtraction
from evaluation.recall.corpus import MemoryWriter
from evaluation.recall.local_merging import LocalMerging, PromptSize, prompt_size
from evaluation.recall.memories import UserMemories, answer_by_rule
from extraction.build import build_extractor
from extraction.method import MethodExtractor
from extraction.offline.extractor import OfflineExtractor
from extraction.one_pass.answer import form
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.prompt.build import build_prompt
from extraction.one_pass.prompt.limits import PromptLimits
from extraction.port import ExtractionContext
from memory.records import Contribution, Extraction, Memory, MergeRequest, Window
from memory.schema import MemorySchema
from memory.schema.method import SEGMENT, TURN
from memory.schema.operator_specs import driving_event_types
from memory.texts.text import estimate_tokens
from models.embedding.port import Embedder
from runtime.clocks import ManualClock
from runtime.settings import Settings
from stores.port import MemoryStore

_FIELDS_TOKENS: Final = 30
"""Assumed tokens of an extracted event in addition to its content: type, date, importance, keywords."""


def asks_for_extraction(schema: MemorySchema) -> bool:
    """Whether a method searches or manages anything that an extraction finds. Archived messages need none."""
    method = schema.method
    if method is None or not method.types:
        return True
    searched = tuple(each for each in schema.entity_types if each.name in method.types)
    found = {each.name for each in schema.event_types if each.name in method.types}
    found |= driving_event_types(replace(schema, entity_types=searched), lambda _: True)
    return bool(found - {TURN}) or any(each.patched_properties() for each in searched)


@dataclass(frozen=True, slots=True)
class IngestedWindow:
    """The tokens of one window."""

    messages_before: int
    """Messages of the conversation before the window."""
    messages: int
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The method, the model and the store of all its users.

    Args:
        schema: The memory types, with their method.
        settings: The embedding model, and how recalls rank.
        store: The memories.
        embedder: The model of the memories.
        writer: Writes into the store.
        llm: Extracts, and answers the operators' questions. None: rules do, and the tokens of a model are estimated.
    """

    schema: MemorySchema
    settings: Settings
    store: MemoryStore
    embedder: Embedder
    writer: MemoryWriter
    llm: KeptLLM | None = None


@dataclass(slots=True)
class _Estimate:
    """The tokens that a model would take, from the prompts that it would get."""

    spent: Spent = field(default_factory=Spent)

    def add(self, size: PromptSize | None) -> None:
        if size is not None:
            self.spent += Spent(1, size.prompt, size.completion)


class Ingestion:
    """One user's memories in the store, as they are after each part of the conversation.

    Args:
        tools: The method and its store.
        ages: Whether timelines age.
    """

    def __init__(self, tools: Tools, *, ages: bool) -> None:
        schema, llm = tools.schema, tools.llm
        self._tools = tools
        self._ages = ages
        self._clock = ManualClock(datetime.fromtimestamp(0, UTC))
        self._memories = UserMemories(schema, has_llm=llm is not None)
        self._merging = LocalMerging(schema, tools.settings, store=tools.store, embedder=tools.embedder, clock=self._clock, llm=llm)
        self._offline = MethodExtractor(OfflineExtractor(embedder=tools.embedder), tools.embedder)
        self._is_extracted = asks_for_extraction(schema)
        self._by_model: WindowExtraction | None = None
        if llm is not None and self._is_extracted:
            extractor = build_extractor(tools.settings, embedder=tools.embedder, llm=llm)
            self._by_model = WindowExtraction(extractor, schema, tools.settings, store=tools.store, embedder=tools.embedder)
        # Without a model, a second copy asks what a model would be asked, so that its tokens are known.
        self._assumed = UserMemories(schema, has_llm=True) if llm is None else None
        self._estimate = _Estimate()
        self._messages = 0
        self.unusable = 0
        """Windows of which no answer of the model could be used."""
        self.seconds = 0.0
        """Time, without that of the model."""
        self.windows: list[IngestedWindow] = []
        self.written: dict[str, Memory] = {}

    @property
    def _spent(self) -> Spent:
        return self._estimate.spent if self._tools.llm is None else self._tools.llm.spent

    async def add(self, windows: Sequence[Window]) -> None:
        """Ingests the next windows."""
        for window in windows:
            started, before = time.perf_counter(), self._spent
            self._clock.set(window.messages[-1].event_time)
            extraction = await self._extracted(window)
            if extraction is None:
                self.unusable += 1
            else:
                for contribution in self._memories.contributions(extraction):
                    await self._settle(self._memories.apply(contribution))
                self._assume(extraction)
            if self._by_model is not None:
                await self._publish()
            self._finish(window, started, before)

    async def write(self, user: str, now: datetime) -> None:
        """Makes the store contain the memories of a moment."""
        started, before = time.perf_counter(), self._spent
        self._clock.set(now)
        if self._ages and self._tools.llm is not None:
            await self._settle(self._memories.tick(now))
        if self._ages and self._assumed is not None:
            self._assume_answers(self._assumed.tick(now))
        aging = self._memories.aged(now) if self._ages else [*self._memories.events, *self._memories.published()]
        wanted = {each.id: each for each in (*aging, *self._memories.entities())}
        self._memories.changed_entities()
        await self._tools.writer.write([each for each in wanted.values() if self.written.get(each.id) != each])
        await self._tools.writer.delete(user, [each for each in self.written if each not in wanted])
        self.written = wanted
        self._finish(None, started, before)

    def _finish(self, window: Window | None, started: float, before: Spent) -> None:
        spent = self._spent - before
        self.seconds += max(0.0, time.perf_counter() - started - (spent.seconds if self._tools.llm is not None else 0.0))
        messages = 0 if window is None else len(window.messages)
        if messages or spent.calls:
            self.windows.append(IngestedWindow(self._messages, messages, spent))
        self._messages += messages

    async def _extracted(self, window: Window) -> Extraction | None:
        if self._by_model is not None:
            return await self._by_model.of(window)
        extraction = await self._offline.extract(window, self._tools.schema, ExtractionContext())
        if self._tools.llm is None and self._is_extracted:
            self._estimate.add(self._extraction_size(window, extraction))
        return extraction

    def _extraction_size(self, window: Window, extraction: Extraction) -> PromptSize:
        schema = self._tools.schema.without_event_types(TURN, SEGMENT)
        patched = {each.name for each in form.patched_types(schema)}
        entities = tuple(each for each in self._memories.entities() if each.type in patched) if patched else ()
        limits = PromptLimits.of(self._tools.settings.extraction)
        prompt = build_prompt(ExtractionInput(window, schema), ExtractionContext(entities=entities), limits)
        asked = {each.name for each in schema.event_types}
        written = sum(estimate_tokens(each.content) + _FIELDS_TOKENS for each in extraction.events if each.type in asked)
        return PromptSize(estimate_tokens(prompt.prefix) + estimate_tokens(prompt.body), written)

    async def _settle(self, requests: Sequence[MergeRequest]) -> None:
        """Answers requests, and those that follow from the answers."""
        waiting = deque(requests)
        while waiting:
            request = waiting.popleft()
            if request.lookups:
                await self._publish()
                request = await self._merging.resolved(request)
                if self._tools.llm is None:
                    self._estimate.add(prompt_size(request, self._tools.schema))
            waiting.extend(self._memories.apply(await self._merging.answer(request)))

    async def _publish(self) -> None:
        """Writes the changed entities, which lookups and the next extraction search."""
        changed = [each for each in self._memories.changed_entities() if self.written.get(each.id) != each]
        await self._tools.writer.write(changed)
        self.written.update((each.id, each) for each in changed)

    def _assume(self, extraction: Extraction) -> None:
        if self._assumed is not None:
            for contribution in self._assumed.contributions(extraction):
                self._assume_answers(self._applied(contribution))

    def _applied(self, contribution: Contribution) -> list[MergeRequest]:
        return [] if self._assumed is None else self._assumed.apply(contribution)

    def _assume_answers(self, requests: Sequence[MergeRequest]) -> None:
        """Counts the prompts of requests, and answers them by rule. Those with lookups were counted with what the lookups found."""
        waiting = deque(requests)
        while waiting:
            request = waiting.popleft()
            if not request.lookups:
                self._estimate.add(prompt_size(request, self._tools.schema))
            waiting.extend(self._applied(answer_by_rule(request, self._tools.schema)))
