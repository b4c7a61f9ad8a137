"""Erases a user: what is in the log is passed over from now on, what stages and stores have is taken back, and Kafka removes the bytes.

It goes with the flow, stage by stage, so that nothing that is on its way is laid down behind it (docs/adr/0050):

1. The control log says how far the erasure reaches into ``messages``. Once every process knows, a command in each partition has the
   sessions stage give up the user's open windows.
2. The same of ``windows``: from then on no window of the user's is extracted, be it redriven or replayed.
3. The same of ``extractions``. A command names the user's windows and the entities that they reached: the events stage takes back what they
   published, and forgets it; the entities give up what was the user's.
4. Merging passes over what was asked for the user's own entities; what had been answered meanwhile is given up by the command once more.
5. The index has removed the points; Redis' keys and dead letters go; tombstones follow for every record of the user's, which compaction
   carries out. ``messages`` has no key for each record: it is cut off behind what sessions has handled, since ``windows`` has all of it.

Each step is harmless when repeated: whoever runs it again goes on.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Final

from memory.errors import RecordError
from memory.ids import entity_id
from memory.keys import encode_key
from memory.records import ErasureCommand, Window
from memory.topics import COMPACTION_LAG_MS, DAY_MS, DEAD_LETTERS, EXTRACTIONS, MEMORIES, MERGES, MESSAGES, RECALLS, WINDOWS
from retrieval.service.erasures import Eraser
from retrieval.stores.port import MemoryStore, TenantScope
from runtime.clocks import Clock, SystemClock
from runtime.control import ControlWriter, read_control
from runtime.control.erasure import Erasure
from runtime.control.erasure_changes import begin_erasure, extend_erasure, finish_erasure
from runtime.dead_letters import DeadLetterBox
from runtime.kafka import OutgoingRecord, Producer, TopicPartition, check_topics
from runtime.kafka.deletion import delete_before
from runtime.kafka.topic_config import are_compacted
from runtime.redis import GuardedRedis
from runtime.settings import Settings
from runtime.tenants import FixedKnowledge, TenantDirectory
from streams.erasure.history import is_recorded_since, steps_of
from streams.erasure.kept_views import forget_views
from streams.erasure.letters import purge_letters
from streams.erasure.log import BATCH, Subject, UserLog, WrittenRecords
from streams.erasure.passage import Passage
from streams.erasure.trace import UserTrace
from streams.stages import STAGES

_PATIENCE_S: Final = 900.0


async def erase(
    settings: Settings,
    subject: Subject,
    *,
    store: MemoryStore,
    redis: GuardedRedis,
    patience_s: float = _PATIENCE_S,
    notice: Callable[[str], None] = lambda line: None,
) -> Erasure:
    """Erases a user, while all stages run. What the user says behind it begins a new life.

    Args:
        settings: The settings in force.
        subject: Who.
        store: Asked whether anything is left there.
        redis: Its keys are removed.
        patience_s: How long each stage may take to come so far, in seconds.
        notice: Called with a line of progress.

    Returns:
        The receipt, as the control log keeps it.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ErasureUnfinishedError: If a stage does not come so far; running it again goes on.
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If a topic is missing.
        RedisUnavailableError: If Redis is away.
        StoreUnavailableError: If the store is away.
    """
    await check_topics(settings)
    await ControlWriter(settings=settings).write(
        lambda draft: begin_erasure(draft, subject.tenant, subject.user, at=SystemClock().now(), reason=subject.reason),
        action="erasure begin",
        by=subject.by,
    )
    notice(f"user {subject.digest[:12]} of tenant {subject.tenant}: the erasure is in the control log")
    return await _carried_out(settings, subject, store=store, redis=redis, patience_s=patience_s, notice=notice)


async def _carried_out(
    settings: Settings, subject: Subject, *, store: MemoryStore, redis: GuardedRedis, patience_s: float, notice: Callable[[str], None]
) -> Erasure:
    """Carries out what the control log has begun."""
    partitions = await check_topics(settings)
    async with Producer(kafka=settings.kafka) as producer:
        erasing = _Erasing(settings, subject, partitions=partitions, producer=producer, patience_s=patience_s, notice=notice)
        return await erasing.run(store, redis)


def eraser_of(settings: Settings) -> Eraser:
    """What the query service carries erasures out by, once the control log has begun them.

    Args:
        settings: The settings in force.
    """

    async def _erase(tenant: str, user: str, *, by: str, store: MemoryStore, redis: GuardedRedis) -> Erasure:
        subject = Subject(tenant=tenant, user=user, by=by)
        return await _carried_out(settings, subject, store=store, redis=redis, patience_s=_PATIENCE_S, notice=lambda line: None)

    return _erase


class _Erasing:
    """One run.

    Args:
        settings: The settings in force.
        subject: Who is erased.
        partitions: How many each topic has.
        producer: Sends commands and tombstones; not stopped here.
        patience_s: As :func:`erase` takes it.
        notice: As :func:`erase` takes it.
    """

    def __init__(
        self,
        settings: Settings,
        subject: Subject,
        *,
        partitions: int,
        producer: Producer,
        patience_s: float,
        notice: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._subject = subject
        self._log = UserLog(settings, subject, partitions=partitions, producer=producer)
        self._producer = producer
        self._notice = notice
        self._clock: Clock = SystemClock()
        self._passage = Passage(settings=settings, patience_s=patience_s, notice=notice)
        self._control = ControlWriter(settings=settings)
        self._digest = subject.digest
        self._told_at = self._clock.now()
        """When the stages were told of the user's entities, the last time."""
        self._found: dict[str, int] = {}
        self._remains: list[str] = []

    async def run(self, store: MemoryStore, redis: GuardedRedis) -> Erasure:
        cut = await self._give_up_open_windows()
        windows, sessions = await self._pass_over_windows()
        await self._forget_touches()
        trace, extractions = await self._take_back()
        await self._pass("index")
        await self._drop_history(store, trace)
        self._found["events"] = len(trace.event_ids)
        self._found["entities"] = sum(each.own for each in trace.entities)
        self._found["shared_entities"] = sum(not each.own for each in trace.entities)
        await self._check_store(store)
        await forget_views(trace, sessions=sessions, partition=self._log.home, redis=redis, settings=self._settings)
        letters = await self._purge_letters()
        await self._remove_bytes(windows, extractions, cut)
        return await self._write_receipt(trace, letters)

    async def _give_up_open_windows(self) -> Mapping[TopicPartition, int]:
        """Returns the offset behind the command in each partition of ``messages``."""
        ends = await self._log.ends(MESSAGES)
        await self._reach({MESSAGES.name: {each.partition: offset for each, offset in ends.items()}})
        positions = await self._producer.send_many([self._log.session_command(partition) for partition in self._log.partitions])
        cut = {TopicPartition(each.topic, each.partition): each.offset + 1 for each in positions}
        await self._passage.of(STAGES["sessions"], cut)
        await self._reach({MESSAGES.name: {each.partition: offset for each, offset in cut.items()}}, settle=False)
        self._notice("sessions: open windows are given up")
        return cut

    async def _pass_over_windows(self) -> tuple[WrittenRecords, set[str]]:
        """Returns the user's windows as they lie in the log, and the sessions that they are of."""
        end = await self._log.home_end(WINDOWS)
        await self._reach({WINDOWS.name: {self._log.home: end[self._log.partition(WINDOWS)]}})
        written, sessions = WrittenRecords(), set[str]()
        async for record in self._log.records(WINDOWS, before=end):
            written.add(record.key or b"")
            with suppress(RecordError):  # what is no window was refused, and lies among the dead letters
                sessions.add(Window.from_json(record.value or b"").session)
        self._found["windows"] = len(written.keys) + written.unmarked
        self._found["sessions"] = len(sessions)
        await self._passage.of(STAGES["extraction"], end)
        known = await read_control(self._settings)
        generations = [each.name for each in known.tenants[self._subject.tenant].generations]
        await self._passage.of_second_workers(STAGES["extraction"], end, suffixes=["-", *generations])
        self._notice(f"extraction: {self._found['windows']} windows are passed over from now on")
        return written, sessions

    async def _forget_touches(self) -> None:
        """What recalls touched comes as an extraction: so this comes before those are read."""
        command = ErasureCommand(tenant=self._subject.tenant, user=self._subject.user)
        records = [self._log.command(RECALLS, command, partition) for partition in self._log.partitions]
        positions = await self._producer.send_many(records)
        behind = {TopicPartition(each.topic, each.partition): each.offset + 1 for each in positions}
        await self._passage.of(STAGES["recalls"], behind, may_be_missing=True)
        await self._reach({RECALLS.name: {each.partition: each.offset for each in positions}}, settle=False)

    async def _take_back(self) -> tuple[UserTrace, WrittenRecords]:
        """Returns what the extractions had of the user, and their records as they lie in the log."""
        end = await self._log.home_end(EXTRACTIONS)
        # Nobody has to know before the command: what lies before it is taken back by it.
        await self._reach({EXTRACTIONS.name: {self._log.home: end[self._log.partition(EXTRACTIONS)]}}, settle=False)
        known = TenantDirectory(FixedKnowledge(await read_control(self._settings)))
        trace, written = UserTrace(self._subject.tenant, self._subject.user, tenants=known), WrittenRecords()
        async for record in self._log.records(EXTRACTIONS, before=end):
            written.add(record.key or b"")
            if record.value is not None:
                trace.add(record.value, tuple(record.headers))
        await self._command_stages(trace)
        self._notice(f"events and entities: {len(trace.windows)} windows are taken back from {len(trace.entities)} entities")
        merges = await self._log.ends(MERGES)
        await self._reach({MERGES.name: {each.partition: offset for each, offset in merges.items()}})
        await self._passage.of(STAGES["merging"], merges)
        await self._pass("entities")
        # What a model had answered meanwhile has made the user's own entities anew.
        await self._command_stages(trace)
        async for record in self._log.records(EXTRACTIONS, since=end):
            if record.value is not None and trace.is_about(record.value, tuple(record.headers)):
                written.add(record.key or b"")
        return trace, written

    async def _command_stages(self, trace: UserTrace) -> None:
        self._told_at = self._clock.now()
        commands = [self._log.command(EXTRACTIONS, each, self._log.home) for each in trace.commands()]
        for start in range(0, len(commands), BATCH):
            positions = await self._producer.send_many(commands[start : start + BATCH])
            await self._passage.of(STAGES["events"], {self._log.partition(EXTRACTIONS): positions[-1].offset + 1})
        await self._pass("entities")

    async def _drop_history(self, store: MemoryStore, trace: UserTrace) -> None:
        """Takes away the steps that the entities' state tells nothing of: answers about what a timeline has let go since."""
        topic, scope = self._settings.topic(MEMORIES.name), TenantScope(self._subject.tenant)
        for entity in trace.entities:
            name = entity_id(self._subject.tenant, entity.entity_type, entity.entity_key, entity.generation)
            steps = [each async for each in steps_of(store, scope, name)]
            gone = [each.id for each in steps if not is_recorded_since(each, self._told_at)]
            await self._log.send([OutgoingRecord(topic, encode_key(self._subject.tenant, each), None) for each in gone])
        await self._pass("index")

    async def _check_store(self, store: MemoryStore) -> None:
        left = await store.count(TenantScope(self._subject.tenant, self._subject.user))
        if left:
            self._remains.append(
                f"{left} memories of the user in the vector store: what came while the erasure was carried out, or of a feed that lost it"
            )

    async def _purge_letters(self) -> int:
        box = DeadLetterBox(settings=self._settings, producer=self._producer, clock=self._clock)
        purged = await purge_letters(box, self._subject.tenant, self._subject.user)
        self._found["dead_letters"] = purged
        return purged

    async def _remove_bytes(self, windows: WrittenRecords, extractions: WrittenRecords, cut: Mapping[TopicPartition, int]) -> None:
        compacted = await are_compacted([self._settings.topic(each.name) for each in (WINDOWS, EXTRACTIONS)], self._settings.kafka)
        for spec, written in ((WINDOWS, windows), (EXTRACTIONS, extractions)):
            topic = self._settings.topic(spec.name)
            await self._log.send([OutgoingRecord(topic, key, None, partition=self._log.home) for key in written.keys])
            if written.unmarked or not compacted:
                self._remains.append(
                    f"{len(written.keys) + written.unmarked} records in {topic}, which an installation of before laid down: see ADR 50"
                )
        if compacted and not windows.unmarked:
            await delete_before(cut, self._settings.kafka)
            self._notice("messages: the log is cut off behind what is in windows")
        else:
            self._remains.append(f"the user's messages in {self._settings.topic(MESSAGES.name)}: nothing else has all of the others'")

    async def _write_receipt(self, trace: UserTrace, letters: int) -> Erasure:
        self._remains += [
            f"what patches wrote in {field} of the {entity_type} {memory_id}, which others share: read it, and correct it by hand"
            for entity_type, memory_id, field in sorted(trace.patched)
        ]
        if trace.unread:
            self._remains.append(f"{trace.unread} extractions that this Varve cannot read: what entities have of them")
        now = self._clock.now()
        kept_ms = DEAD_LETTERS.retention_ms if letters else max(COMPACTION_LAG_MS, MERGES.retention_ms)
        written = await self._control.write(
            lambda draft: finish_erasure(
                draft,
                self._digest,
                at=now,
                gone_by=now + timedelta(milliseconds=kept_ms + 2 * DAY_MS),
                found=self._found,
                remains=tuple(self._remains),
            ),
            action="erasure finish",
            by=self._subject.by,
        )
        return written.result

    async def _reach(self, reaches: Mapping[str, Mapping[int, int]], *, settle: bool = True) -> None:
        """Has the erasure reach further; returns when every process knows, or works on nothing."""
        await self._control.write(lambda draft: extend_erasure(draft, self._digest, reaches), action="erasure reach", by=self._subject.by)
        if settle:
            await self._control.settle()

    async def _pass(self, stage_name: str) -> None:
        """Returns when a stage has handled all that its source has now."""
        stage = STAGES[stage_name]
        await self._passage.of(stage, await self._log.ends(stage.source))
