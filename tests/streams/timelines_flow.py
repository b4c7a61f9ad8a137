"""The recalls, events and entities stages around timelines, one partition each, with one clock: what one produces the other reads."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from control.tenants import TenantDirectory
from memory.ids import event_id, window_id
from memory.keys import encode_key
from memory.records import Contribution, Extraction, Memory, MemoryChange, RecalledEvent, RecallRecord
from models.llm.port import LLM
from runtime.clocks import ManualClock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import Settings
from runtime.tracing import Headers
from streams.engine.records import ConsumedRecord
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from streams.stages.merging.handler import MergingHandler
from streams.stages.recalls.handler import RecallsHandler, TouchedCodec
from tests.made_records import made_event
from tests.streams.harness import InMemoryRows, PartitionHarness, delivered

TENANT = "acme"
USER = "ann"
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""A Monday."""


@dataclass
class OtherClock:
    """A clock that is off."""

    right: ManualClock
    by: timedelta = timedelta()

    def now(self) -> datetime:
        return self.right.now() + self.by


class Timelines:
    """The three stages, and the logs between them.

    Args:
        settings: The settings in force.
        tenants: The known tenants.
        llm: Writes the summaries; None: they are extracts.
        is_eager: Whether each stage handles a record as soon as another produces it; otherwise only in :meth:`step` and :meth:`settle`.
    """

    def __init__(self, settings: Settings, tenants: TenantDirectory, llm: LLM | None = None, *, is_eager: bool = True) -> None:
        self.is_eager = is_eager
        self._clock = ManualClock(START)
        self.machine = OtherClock(self._clock)
        """The clock of the machine of the entities' worker."""
        self.steady = OtherClock(self._clock)
        """The clock by which the worker measures silence."""
        self._settings = settings
        self._tenants = tenants
        self.extractions: list[ConsumedRecord] = []
        self.contributions: list[ConsumedRecord] = []
        self.memories: dict[bytes, Memory] = {}
        self.events = PartitionHarness(EventsHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics()), LedgerCodec())
        self.recalls = PartitionHarness(RecallsHandler(settings=settings, tenants=tenants), TouchedCodec())
        self.entities = self._entities(InMemoryRows())
        self.merging = MergingHandler(settings=settings, tenants=tenants, metrics=Metrics(), llm=llm)
        self.merges: list[ConsumedRecord] = []
        self.merged: dict[bytes, bytes] = {}
        """The newest outcomes."""
        self._llm = llm
        self._recalls = 0
        self._read = {"extractions": 0, "contributions": 0, "merges": 0}

    def restart_entities(self) -> None:
        """Another worker gets the partition of the entities, and uses its machine's current clock."""
        self.steady = OtherClock(self._clock, by=self.machine.by)
        self.initialize()

    def initialize(self) -> None:
        """The worker of the entities takes its partition over once more."""
        self.entities = self._entities(InMemoryRows(self.entities.rows.rows))

    async def extract(
        self, number: int, day: float, texts: list[str], *, event_type: str = "life_event", tenant: str = TENANT
    ) -> Extraction:
        """A window of a day, with one event for each text, as all stages take it on that day, or now if that is later.

        Args:
            number: The number of the window.
            day: When it was.
            texts: What its events say.
            event_type: The type of all its events.
            tenant: The tenant of the window.
        """
        self._clock.advance(max(timedelta(), START + timedelta(days=day) - self._clock.now()))
        what = extraction(number, day, texts, event_type, tenant)
        self._append("extractions", encode_key(tenant, USER), what.to_json())
        await self._go_on()
        return what

    async def recall(self, what: Extraction, day: float, *indices: int, headers: Headers = ()) -> list[OutgoingRecord]:
        """A recall that returned such events of a window; returns what the recalls stage makes of it."""
        found = [RecalledEvent(id=what.events[index].id, user=USER, window_id=what.window_id) for index in indices]
        record = RecallRecord(
            id=f"r{self._recalls}", tenant=TENANT, user=USER, memory_ids=[], events=found, time=START + timedelta(days=day)
        )
        batch = await self.recalls.process(
            [delivered("recalls", self._recalls, encode_key(TENANT, USER), record.to_json(), headers=headers)]
        )
        self._recalls += 1
        self._take(batch.outputs)
        await self._go_on()
        return batch.outputs

    async def pass_time(self, days: float, *, step: float = 7) -> None:
        """Advances event time, which follows the wall clock."""
        end = self._clock.now() + timedelta(days=days)
        while self._clock.now() < end:
            self._clock.advance(min(end - self._clock.now(), timedelta(days=step)))
            await self.tick()

    async def tick(self) -> int:
        """Lets the timers that are due fire, once; returns how many did."""
        await self.entities.recover()
        due = self.entities.handler.due(self.steady.now())
        self._take(due)
        await self._go_on()
        return len(due)

    async def settle(self) -> None:
        """Lets the stages handle all records of their logs."""
        while self._has_unread():
            for name in self._read:
                await self.step(name)

    async def step(self, name: str) -> None:
        """Lets the stage that reads a log handle its records.

        Args:
            name: ``extractions``, ``contributions`` or ``merges``.
        """
        log: list[ConsumedRecord] = getattr(self, name)
        start, self._read[name] = self._read[name], len(log)
        if name == "merges":
            for record in log[start:]:
                self._take(await self.merging.handle(record))
        elif log[start:]:
            stage = self.events if name == "extractions" else self.entities
            self._take((await stage.process(log[start:])).outputs)

    async def repeat(self) -> None:
        """All logs are delivered again from their beginnings."""
        self._read |= {"extractions": 0, "contributions": 0}
        await self.settle()

    async def deliver_again(self, record: ConsumedRecord) -> None:
        """A record of the extractions is produced once more."""
        self._append("extractions", record.key or b"", record.value, record.headers)
        await self._go_on()

    def now(self, day: float) -> datetime:
        """A day's time."""
        return START + timedelta(days=day)

    async def rebuilt(self) -> "Timelines":
        """The same from the extractions log alone, and from what was written."""
        other = Timelines(self._settings, self._tenants, self._llm)
        other.extractions = list(self.extractions)
        for value in self.merged.values():
            key = encode_key(*(getattr(Contribution.from_json(value), name) for name in ("tenant", "entity_type", "entity_key")))
            other._append("contributions", key, value)
        other._clock.advance(self._clock.now() - START)
        await other.settle()
        return other

    def kinds(self, kind: str) -> dict[str, Memory]:
        """The memories of a kind, by content."""
        return {each.content: each for each in self.memories.values() if each.kind == kind}

    def _entities(self, rows: InMemoryRows) -> PartitionHarness:
        return PartitionHarness(
            EntitiesHandler(partition=0, settings=self._settings, tenants=self._tenants, metrics=Metrics(), clock=self.machine),
            EntityCodec(),
            rows,
            clock=self.steady,
        )

    async def _go_on(self) -> None:
        if self.is_eager:
            await self.settle()

    def _has_unread(self) -> bool:
        return any(read < len(getattr(self, name)) for name, read in self._read.items())

    def _take(self, outputs: list[OutgoingRecord]) -> None:
        for output in outputs:
            name = output.topic.removeprefix("varve.")
            if name == "merged":
                self.merged.pop(output.key or b"", None)
                if output.value is not None:
                    self.merged[output.key or b""] = output.value
            elif name != "memories":
                self._append(name, output.key or b"", output.value, output.headers)
            elif output.value is None:
                self.memories.pop(output.key or b"", None)
            else:
                memory = MemoryChange.from_json(output.value).memory
                if memory is not None:
                    self.memories[output.key or b""] = memory

    def _append(self, name: str, key: bytes, value: bytes | None, headers: Headers = ()) -> None:
        log: list[ConsumedRecord] = getattr(self, name)
        log.append(delivered(name, len(log), key, value, headers=headers, appended_at=self._clock.now()))


def extraction(number: int, day: float, texts: list[str], event_type: str = "life_event", tenant: str = TENANT) -> Extraction:
    """The extraction of one window of a day; arguments as :meth:`Timelines.extract` takes them."""
    name = window_id(tenant, "s1", number)
    said_at = START + timedelta(days=day)
    return Extraction(
        window_id=name,
        tenant=tenant,
        user=USER,
        session="s1",
        sequence=number,
        extractor="offline",
        schema_name="diary",
        message_ids=[f"m{number}-{index}" for index in range(len(texts))],
        events=[
            made_event(
                text,
                said_at,
                id=event_id(name, index),
                tenant=tenant,
                user=USER,
                session="s1",
                window_id=name,
                type=event_type,
                message_ids=[f"m{number}-{index}"],
            )
            for index, text in enumerate(texts)
        ],
        window_end=said_at,
    )
