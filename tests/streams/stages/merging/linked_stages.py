"""Events, entities, merging and index in one process, with a real store, for notes that find each other."""

from collections.abc import Callable
from typing import cast

from loadtest.requests import ChatRequest
from memory.records import Extraction, Memory, MemoryChange
from memory.schema import MemorySchema
from models.llm.port import LLM, LLMAnswer, LLMRequest
from retrieval.nearest import NearestMemories
from runtime.clocks import SystemClock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import Settings
from stores.index_writer import FeedChange, IndexWriter
from stores.port import MemoryStore
from streams.engine.records import ConsumedRecord
from streams.errors import NotReadyError
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from streams.stages.index.handler import change_of, read_position
from streams.stages.merging.handler import MergingHandler
from streams.stages.merging.indexed_log import IndexedLog
from tests.control_log import known_tenants
from tests.stores.factories import BagOfWordsEmbedder
from tests.streams.harness import PartitionHarness, delivered
from tests.streams.linked_remarks import linking_answer
from tests.streams.merged_remarks import TENANT, extraction_record

TOPICS = ("extractions", "contributions", "merges", "merged", "memories")


class LinkingLLM:
    """Answers as a function does, and counts the questions."""

    model = "linking"

    def __init__(self, answer: Callable[[ChatRequest], str] = linking_answer) -> None:
        self._answer = answer
        self.asked = 0

    async def complete(self, request: LLMRequest) -> LLMAnswer:
        self.asked += 1
        messages = tuple((each.role, each.content) for each in request.messages)
        read = ChatRequest(model="", messages=messages, schema=None, max_tokens=None, stream=False, stream_usage=False, body={})
        return LLMAnswer(text=self._answer(read), model=self.model)

    async def close(self) -> None:
        """Does nothing: it has no connection."""


class LinkedStages:
    """The stages with one partition each, and their topics.

    Args:
        settings: The settings in force.
        schema: The tenant's schema.
        store: The memories.
        llm: The model. None: the rule decides.
        indexed_log: What lookups wait for. None: nothing, since the index writes before them.
    """

    def __init__(
        self,
        settings: Settings,
        schema: MemorySchema,
        store: MemoryStore,
        llm: LinkingLLM | None = None,
        *,
        indexed_log: IndexedLog | None = None,
    ) -> None:
        self.tenants, self.metrics = known_tenants({TENANT: schema}), Metrics()
        self._settings, embedder = settings, BagOfWordsEmbedder()
        self._writer = IndexWriter(store=store, embedder=embedder)
        search = NearestMemories(store=store, embedder=embedder, clock=SystemClock())

        async def nearest() -> NearestMemories:
            return search

        self.merging = MergingHandler(
            settings=settings,
            tenants=self.tenants,
            metrics=self.metrics,
            llm=cast(LLM | None, llm),
            nearest=nearest,
            indexed_log=indexed_log,
        )
        self.log: dict[str, list[ConsumedRecord]] = {name: [] for name in TOPICS}
        self.start()

    def start(self) -> None:
        """Empties the tables of events and entities, which read their topics from the beginning."""
        settings, tenants, metrics = self._settings, self.tenants, self.metrics
        events = EventsHandler(partition=0, settings=settings, tenants=tenants, metrics=metrics)
        entities = EntitiesHandler(partition=0, settings=settings, tenants=tenants, metrics=metrics, clock=SystemClock())
        self.events = PartitionHarness(events, LedgerCodec())
        self.entities = PartitionHarness(entities, EntityCodec())
        self._read = dict.fromkeys(TOPICS, 0)

    def append(self, outputs: list[OutgoingRecord]) -> None:
        for output in outputs:
            name = output.topic.removeprefix("varve.")
            self.log[name].append(delivered(name, len(self.log[name]), output.key, output.value, headers=output.headers))

    def unread(self, name: str) -> list[ConsumedRecord]:
        """The records of a topic that its stage has not handled, which count as handled from now on."""
        records = self.log[name][self._read[name] :]
        self._read[name] = len(self.log[name])
        return records

    async def step(self) -> bool:
        """Lets each stage handle what it has not handled. False: there was nothing."""
        moved = False
        for name, stage in (("extractions", self.events), ("contributions", self.entities)):
            for record in self.unread(name):
                self.append((await stage.process([record])).outputs)
                moved = True
        changes = [FeedChange(change_of(each), read_position(each)) for each in self.unread("memories")]
        if changes:
            await self._writer.write(changes)
        for record in self.unread("merges"):
            self.append(await self._answered(record))
            moved = True
        return moved

    async def _answered(self, request: ConsumedRecord) -> list[OutgoingRecord]:
        """The outcome of a request; one that has to wait is handled again, as the engine does."""
        while True:
            try:
                return await self.merging.handle(request)
            except NotReadyError as wait:
                await wait.ready

    async def say(self, *given: Extraction) -> None:
        """Brings extractions through all stages, one after the other."""
        for each in given:
            self.append([extraction_record("varve.extractions", each)])
            while await self.step():
                pass

    async def say_at_once(self, *given: Extraction) -> None:
        """Brings extractions through all stages together: the index has all notes before the first one asks."""
        self.append([extraction_record("varve.extractions", each) for each in given])
        while await self.step():
            pass

    async def rebuild(self) -> None:
        """Repeats the log as a rebuild does: outcomes first, then the extractions from the beginning."""
        outcomes = {each.key: each for each in self.log["merged"]}
        self.log |= {"contributions": [], "merges": [], "memories": []}
        self.start()
        self.append([OutgoingRecord("varve.contributions", each.key, each.value) for each in outcomes.values() if each.value is not None])
        while await self.step():
            pass

    def notes(self) -> dict[str, Memory]:
        """The newest version of each note, by its id."""
        found: dict[str, Memory] = {}
        for record in self.log["memories"]:
            change: MemoryChange = change_of(record)
            if change.op == "tombstone":
                found.pop(change.memory_id, None)
            elif change.memory is not None and change.memory.kind == "entity":
                found[change.memory_id] = change.memory
        return found
