"""Remarks of several users, through the events, entities and merging stages, one partition each."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from control import Draft
from control.erasure import subject_of
from control.erasure_changes import finish_erasure
from control.tenants import TenantDirectory
from memory.headers import ERASURE, KIND
from memory.ids import event_id, window_id
from memory.keys import encode_key
from memory.records import Contribution, Extraction, HistoryEntry, Memory, MemoryChange
from memory.schema import parse_schema
from operators.entities.entity_state import EntityState
from runtime.clocks import ManualClock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import LLMSettings
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import unpack
from streams.operations.erasure.trace import UserTrace
from streams.stages.entities.codec import EntityCodec, EntityRow, TimerRow
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from streams.stages.merging.handler import MergingHandler
from tests.control_log import known_tenants, now_known
from tests.erased_users import ASKED_AT, now_erased
from tests.made_records import made_event, made_extraction
from tests.streams.harness import InMemoryRows, PartitionHarness, delivered, plain_settings

TENANT: Final = "acme"
START: Final = datetime(2024, 5, 6, 9, tzinfo=UTC)
"""A Monday."""

Remark = tuple[str, str, int]
"""Topic, text and score."""


def _property(name: str, value_type: str, op: str, **parameters: str) -> dict[str, Any]:
    aggregate = {"EventType": "remark", **parameters, "Op": op}
    return {"PropertyName": name, "PropertyValueType": value_type, "AggregateExpression": aggregate}


_PROPERTIES: Final = [
    _property("story", "string", "LLM_MERGE", EventPropertyName="content"),
    _property("whispers", "string", "LLM_MERGE", EventPropertyName="content", EventType="whisper"),
    _property("life", "string", "TIME_COMPRESS"),
    _property("remarks", "int64", "COUNT"),
    *(_property(op.lower(), "float32", op, EventPropertyName="score") for op in ("SUM", "AVG", "MAX", "MIN")),
]
_FIELDS: Final = [
    {"PropertyName": "topic", "PropertyValueType": "string"},
    {"PropertyName": "score", "PropertyValueType": "int64"},
]
EXACT: Final = ("remarks", "sum", "avg", "max", "min")
"""The fields whose values contain only statements that are in force."""

SCHEMA = parse_schema(
    {
        "Name": "team",
        "EventTypes": [{"EventType": name, "Properties": _FIELDS} for name in ("remark", "whisper")],
        "EntityTypes": [
            {"EntityType": "person", "Keys": ["user"], "Properties": _PROPERTIES},
            {"EntityType": "subject", "Keys": ["topic"], "Properties": _PROPERTIES},
        ],
    }
)
"""A person is the user's own, a subject is everybody's."""


def extraction(user: str, window: int, remarks: Sequence[Remark], *, kind: str = "remark") -> Extraction:
    """The extraction of one window of a user: remarks, or whispers."""
    name = window_id(TENANT, f"s-{user}", window)
    events = [
        made_event(
            text,
            START,
            id=event_id(name, place),
            tenant=TENANT,
            user=user,
            session=f"s-{user}",
            window_id=name,
            type=kind,
            properties={"topic": topic, "score": score},
            message_ids=[f"{user}-{window}-{place}"],
        )
        for place, (topic, text, score) in enumerate(remarks)
    ]
    return made_extraction(
        events, START, window_id=name, tenant=TENANT, user=user, session=f"s-{user}", sequence=window, schema_name="team"
    )


class Team:
    """The stages, and the logs between them.

    Args:
        has_llm: Whether the entities ask; the rule answers.
        tenants: The known tenants. Default: the one tenant.
    """

    def __init__(self, *, has_llm: bool = False, tenants: TenantDirectory | None = None) -> None:
        settings = plain_settings(Path("nowhere"), llm=LLMSettings(base_url="http://nowhere" if has_llm else None))
        self.tenants = tenants or known_tenants({TENANT: SCHEMA})
        self.has_llm, self._metrics, self.clock = has_llm, Metrics(), ManualClock(START)
        events = EventsHandler(partition=0, settings=settings, tenants=self.tenants, metrics=self._metrics)
        self.events = PartitionHarness(events, LedgerCodec())
        self._settings = settings
        self.entities = self.with_rows(InMemoryRows())
        self.merging = MergingHandler(settings=settings, tenants=self.tenants, metrics=self._metrics, llm=None)
        self.log: dict[str, list[ConsumedRecord]] = {"extractions": [], "contributions": [], "merges": []}
        self.kept: dict[str, dict[bytes, bytes | None]] = {"memories": {}, "merged": {}}
        """The newest record of each key of the compacted topics."""
        self.written = 0
        """Records that the compacted topics have taken."""
        self._read = dict.fromkeys(self.log, 0)
        self._erased: dict[bytes, int] = {}
        """The end of the reach in the extractions, by key."""

    def with_rows(self, rows: InMemoryRows) -> PartitionHarness:
        """A worker of the entities stage."""
        handler = EntitiesHandler(partition=0, settings=self._settings, tenants=self.tenants, metrics=self._metrics, clock=self.clock)
        return PartitionHarness(handler, EntityCodec(), rows, clock=self.clock)

    async def say(self, user: str, window: int, *remarks: Remark, kind: str = "remark") -> None:
        """A window is extracted, and brought as far as the contributions."""
        self._append("extractions", encode_key(TENANT, user), extraction(user, window, remarks, kind=kind).to_json())
        await self.step("extractions")

    async def append(self, key: bytes, value: bytes, headers: tuple[tuple[str, bytes], ...] = ()) -> None:
        """Appends a record to the extractions, and lets the stages handle it."""
        self._append("extractions", key, value, headers)
        await self.settle()

    async def step(self, name: str) -> None:
        """Lets the stage that reads a log handle its records."""
        start, self._read[name] = self._read[name], len(self.log[name])
        unread = self.log[name][start:]
        if name == "merges":
            for record in unread:
                self._take(await self.merging.handle(record))
        elif unread:
            batch = await (self.events if name == "extractions" else self.entities).process(unread)
            assert batch.rejections == []
            self._take(batch.outputs)

    async def settle(self) -> None:
        """Lets the stages handle all records of their logs."""
        while any(read < len(self.log[name]) for name, read in self._read.items()):
            for name in self.log:
                await self.step(name)

    async def pass_time(self, days: int) -> None:
        """Advances event time, which follows the wall clock, and fires the due timers."""
        for _ in range(days):
            self.clock.advance(timedelta(days=1))
            await self.entities.recover()
            self._take(self.entities.handler.due(self.clock.now()))
            await self.settle()

    async def erase(self, user: str, *, is_settled: bool = True, meanwhile: Callable[[], Awaitable[None]] | None = None) -> None:
        """A user is erased, in the order of the stages.

        Args:
            user: The user.
            is_settled: Whether the stages carry it out; else the command waits in its log.
            meanwhile: What happens before each command, after the reach is known.
        """
        self._erased[encode_key(TENANT, user)] = len(self.log["extractions"])
        trace = UserTrace(TENANT, user, tenants=self.tenants)
        for record in self.log["extractions"]:
            if record.key == encode_key(TENANT, user) and record.value is not None:
                trace.add(record.value, record.headers)
        now_erased(self.tenants, TENANT, user, {"extractions": {0: len(self.log["extractions"])}, "merges": {0: len(self.log["merges"])}})
        for command in trace.commands():
            if meanwhile is not None:
                await meanwhile()
            self._append("extractions", encode_key(TENANT, user), command.to_json(), ((KIND, ERASURE),))
        if is_settled:
            await self.settle()

    def finish_erasure(self, user: str) -> None:
        """The receipt of a user's erasure is in the control log."""
        now = self.clock.now()

        def finish(draft: Draft) -> None:
            finish_erasure(draft, subject_of(TENANT, user), begun_at=ASKED_AT, at=now, gone_by=now, found={}, remains=())

        now_known(self.tenants, finish)

    async def replay_events(self, start: int = 0) -> None:
        """The events stage reads its log again, from an offset on."""
        self._read["extractions"] = start
        await self.settle()

    async def replay_contributions(self) -> None:
        """The entities stage reads its log again."""
        self._read["contributions"] = 0
        await self.settle()

    async def rebuilt(self, *, is_compacted: bool = True) -> "Team":
        """The same from the extractions, and from the newest outcomes, which come first.

        Args:
            is_compacted: Whether compaction has removed what the erasure has removed, and the commands that carried it out.
        """
        other = Team(has_llm=self.has_llm, tenants=self.tenants)
        other.clock.set(self.clock.now())
        for value in self.kept["merged"].values():
            if value is not None:
                made = Contribution.from_json(value)
                other._append("contributions", encode_key(TENANT, made.entity_type, made.entity_key), value)
        await other.settle()
        for record in self.log["extractions"]:
            is_removed = record.offset < self._erased.get(record.key or b"", 0) or (KIND, ERASURE) in record.headers
            is_gone = is_compacted and is_removed
            value = None if is_gone else record.value
            other._append("extractions", record.key or b"", value, () if is_gone else record.headers, at=record.appended_at)
        await other.settle()
        return other

    def memories(self, kind: str, entity_type: str = "") -> list[Memory]:
        """The memories of a kind, and of an entity type."""
        found = [MemoryChange.from_json(value).memory for value in self.kept["memories"].values() if value is not None]
        return [each for each in found if each is not None and each.kind == kind and entity_type in ("", each.type)]

    def steps(self, entity: str) -> list[HistoryEntry]:
        """The steps of an entity that the feed has."""
        found = [MemoryChange.from_json(value).step for value in self.kept["memories"].values() if value is not None]
        return [each for each in found if each is not None and each.entity == entity]

    def subject(self, topic: str) -> Memory | None:
        """The shared memory of a topic."""
        return next((each for each in self.memories("entity", "subject") if each.properties["topic"] == topic), None)

    def rows(self, is_wanted: Callable[[EntityRow], bool] = lambda row: True) -> dict[bytes, EntityRow]:
        """The rows of the entities stage."""
        decoded = {key: EntityCodec().decode(unpack(value)[1]) for key, value in self.entities.rows.rows.items()}
        return {key: row for key, row in decoded.items() if is_wanted(row)}

    def states(self) -> dict[bytes, EntityRow]:
        """The entities."""
        return self.rows(lambda row: isinstance(row, EntityState))

    def timers(self) -> dict[bytes, EntityRow]:
        """The timers that are set."""
        return self.rows(lambda row: isinstance(row, TimerRow))

    def all_bytes(self) -> bytes:
        """All that can be read of entities: rows, and what stands in the compacted topics."""
        kept = [part for topic in self.kept.values() for key, value in topic.items() if value is not None for part in (key, value)]
        return b"\n".join([*kept, *(part for row in self.entities.rows.rows.items() for part in row)])

    def _take(self, outputs: Sequence[OutgoingRecord]) -> None:
        for output in outputs:
            name = output.topic.removeprefix("varve.")
            if name in self.kept:
                self.written += 1
                self.kept[name][output.key or b""] = output.value
            else:
                self._append(name, output.key or b"", output.value, output.headers)

    def _append(
        self, name: str, key: bytes, value: bytes | None, headers: tuple[tuple[str, bytes], ...] = (), *, at: datetime | None = None
    ) -> None:
        appended_at = at or self.clock.now()
        self.log[name].append(delivered(name, len(self.log[name]), key, value, headers=headers, appended_at=appended_at))
