"""The sessions and events stages with a plain extractor in between, without a broker."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from control.tenants import TenantDirectory
from extraction.shared_windows import parts_of
from memory.headers import COMMAND, KIND
from memory.ids import event_id, patch_id
from memory.keys import encode_key, entity_key
from memory.records import EntityPatch, Extraction, Message, MessageChange, SessionCommand, Window
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.redis.message_outcomes import MessageOutcome
from runtime.redis.session_tail import TailWindow
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from streams.stages.events.ledger_entries import PublishedWindow
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from streams.stages.sessions.tail_writer import OutcomeWriter
from streams.stages.sessions.windows import SessionState
from streams.stages.tenancy import schema_at
from tests.made_records import made_event, made_extraction
from tests.streams.harness import InMemoryRows, PartitionHarness, delivered

TENANT = "acme"
KEY = encode_key(TENANT, "s1")
START = datetime(2024, 5, 1, tzinfo=UTC)


class ShownTail:
    """Takes what the session's newest messages show."""

    def __init__(self) -> None:
        self.open: tuple[bytes, ...] = ()
        self.closed: tuple[bytes, ...] = ()

    def window_changed(self, state: SessionState, *, partition: int) -> None:
        self.open = state.shown

    def window_closed(self, state: SessionState, window: TailWindow, *, partition: int) -> None:
        self.closed = window.messages

    def erased(self, tenant: str, user: str) -> None:
        pass

    @property
    def text(self) -> bytes:
        return b"".join((*self.closed, *self.open))


class KeptOutcomes(OutcomeWriter):
    """Keeps outcomes in order."""

    def __init__(self) -> None:
        self.kept: list[MessageOutcome] = []

    def add(self, outcome: MessageOutcome) -> None:
        self.kept.append(outcome)


def plain_extraction(window: Window) -> Extraction:
    """One event and one patch of the profile for each message, whose content is the text."""
    said = [(each.id or "", each.text, each.event_time, each.user) for each in window.messages]
    events = [
        made_event(
            text,
            time,
            id=event_id(window.id, index),
            tenant=window.tenant,
            user=window.user,
            session=window.session,
            window_id=window.id,
            type="fact",
            message_ids=[message_id],
        )
        for index, (message_id, text, time, _) in enumerate(said)
    ]
    patches = [
        EntityPatch(
            id=patch_id(window.id, index),
            entity_type="user_profile",
            entity_key=entity_key(window.user),
            field="preferences",
            replace=text,
            event_time=time,
            message_ids=[message_id],
        )
        for index, (message_id, text, time, _) in enumerate(said)
    ]
    return made_extraction(
        events,
        window.ended_at or max(time for _, _, time, _ in said),
        window_id=window.id,
        tenant=window.tenant,
        user=window.user,
        session=window.session,
        sequence=window.sequence,
        revision=window.revision,
        schema_name="companion",
        message_ids=[message_id for message_id, *_ in said],
        patches=patches,
    )


@dataclass
class Flow:
    """The sessions and events stages with an extractor in between that follows from the text alone."""

    settings: Settings
    tenants: TenantDirectory
    rows: InMemoryRows = field(default_factory=InMemoryRows)
    tail: ShownTail = field(default_factory=ShownTail)
    outcomes: KeptOutcomes = field(default_factory=KeptOutcomes)
    extractions: list[ConsumedRecord] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    offset: int = 0

    def __post_init__(self) -> None:
        tail: Any = self.tail
        handler = SessionsHandler(
            partition=0, settings=self.settings, tenants=self.tenants, tail=tail, metrics=Metrics(), outcomes=self.outcomes
        )
        self.sessions = PartitionHarness(handler, SessionCodec(), self.rows)
        self.events = PartitionHarness(
            EventsHandler(partition=0, settings=self.settings, tenants=self.tenants, metrics=Metrics()), LedgerCodec()
        )

    async def say(self, message_id: str, text: str, *, user: str = "ann") -> None:
        time = START + timedelta(seconds=self.offset)
        message = Message(tenant=TENANT, user=user, session="s1", id=message_id, text=text, event_time=time)
        await self.put(message.to_json())

    async def change(
        self, command: str, message_id: str, text: str | None = None, *, user: str = "ann", request: str | None = None
    ) -> None:
        fields = {"command": command, "tenant": TENANT, "user": user, "session": "s1", "id": message_id, "text": text, "request": request}
        await self.put(MessageChange.model_validate(fields).to_json())

    async def close(self) -> None:
        await self.put(SessionCommand(command="flush", tenant=TENANT, session="s1").to_json(), ((KIND, COMMAND),))

    async def erase(self, user: str) -> None:
        await self.put(SessionCommand(command="erase", tenant=TENANT, user=user).to_json(), ((KIND, COMMAND),))

    async def put(self, value: bytes, headers: tuple[tuple[str, bytes], ...] = ()) -> None:
        batch = await self.sessions.process([delivered("messages", self.offset, KEY, value, headers=headers)])
        self.offset += 1
        self.refused += [each.reason for each in batch.rejections]
        for output in batch.outputs:
            await self._pass_on(output)

    async def _pass_on(self, output: OutgoingRecord) -> None:
        if output.topic == "varve.windows":
            window = Window.from_json(output.value or b"")
            self.windows.append(window)
            self.keys.append(output.key or b"")
            extraction = plain_extraction(window)
            parts = parts_of(extraction, window, self.schema()) if window.users else [extraction]
            self.extractions += [self._extraction(each.to_json(), each.user) for each in parts]
        elif output.topic == "varve.extractions":
            self.extractions.append(self._extraction(output.value or b"", "", output.headers))

    def _extraction(self, value: bytes, user: str, headers: Sequence[tuple[str, bytes]] = ()) -> ConsumedRecord:
        kept = tuple(each for each in headers if each[0] == KIND)
        return delivered("extractions", len(self.extractions), encode_key(TENANT, user or "x"), value, headers=kept)

    def schema(self) -> Any:
        return schema_at(self.tenants, self.tenants.get(TENANT).schema_of(""))

    async def publish(self, records: Sequence[ConsumedRecord] | None = None) -> None:
        await self.events.process(self.extractions if records is None else records)

    def published(self) -> list[tuple[str, str]]:
        """User and content of each event."""
        return sorted((event.user, event.content) for window in self._ledger() for event in window.extraction.events)

    def in_force(self) -> list[tuple[str, str]]:
        """User and line of each patch that entities have."""
        return sorted(
            (contribution.user or "", str(change.value["replace"]))
            for window in self._ledger()
            for contribution in window.in_force()
            for change in contribution.changes
            if contribution.entity_type == "user_profile" and isinstance(change.value, dict) and "replace" in change.value
        )

    def _ledger(self) -> list[PublishedWindow]:
        entries = (row.entry() for _, row in self.events.state.scan())
        return [each for each in entries if isinstance(each, PublishedWindow)]


NewFlow = Callable[[], Flow]
