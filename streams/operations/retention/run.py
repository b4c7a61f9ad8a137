"""A retention run: removes what tenants keep no longer from topics, state and stores, while all stages run.

It follows the data flow and uses the means of an erasure (docs/internals/adr/0050): records of the log make the stages remove what they
have published, and once a stage has handled them, tombstones let compaction remove the bytes.

1. Raw messages: the sessions stage forgets the expired windows; tombstones follow in ``windows``; ``messages`` is truncated up to them.
2. The limits go to every partition of ``extractions``: what follows publishes nothing beyond them, so nothing returns.
3. Extractions with expired results are written again without these, under the same keys. The events stage retracts what they lack.
4. Tombstones follow for extractions without results, for superseded ones, and for records that name only removed results.
5. The read audit: tombstones for expired records. The broker's own retention knows neither tenants nor holds.

Each step may be repeated; a run that was interrupted is completed by the next one.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from control import read_control
from control.state import ControlState
from memory.headers import COMMAND, CORRECTION, KIND, ORIGIN, RETENTION
from memory.keys import encode_key, marked_key, partition_of, tenant_of_key
from memory.positions import LogPosition
from memory.records import RetentionLimits
from memory.times import milliseconds_of
from memory.topics import EXTRACTIONS, MESSAGES, READS, WINDOWS
from models.llm.cache import forget_answers
from runtime.clocks import SystemClock
from runtime.errors import RedisUnavailableError
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, TopicPartition, check_topics, read_topic
from runtime.kafka.topics import delete_before
from runtime.logs import logger
from runtime.redis.client import GuardedRedis
from runtime.seals import Keyring
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.operations.retention.extractions import (
    ClearedCorrection,
    DependentRecords,
    Extractions,
    RewrittenExtraction,
    WindowIndex,
    is_protected,
)
from streams.operations.retention.reads import ExpiredReads
from streams.operations.retention.tenants import EntityTypes, TenantRetention, tenants_with_retention
from streams.operations.retention.windows import ExpiredWindows
from streams.operations.stage_barrier import BATCH, StageBarrier, ends_after
from streams.stages.catalog import STAGES

_log = logger(__name__)

_PATIENCE_S: Final = 900.0


@dataclass(slots=True)
class RetentionReport:
    """Numbers of removed items by tenant and kind: ``windows``, ``results``, ``extractions``, ``records``, ``reads``."""

    found: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, tenant: str, what: str, count: int = 1) -> None:
        """Counts removed items.

        Args:
            tenant: Their tenant.
            what: Their kind.
            count: Their number.
        """
        self.found.setdefault(tenant, Counter())[what] += count


async def retain(
    settings: Settings,
    *,
    redis: GuardedRedis,
    now: datetime | None = None,
    tenants: Collection[str] = (),
    dry_run: bool = False,
    patience_s: float = _PATIENCE_S,
    notice: Callable[[str], None] = lambda line: None,
) -> RetentionReport:
    """Removes what the tenants' policies keep no longer. Users and tenants with a legal hold are left out.

    Args:
        settings: The settings in force.
        redis: Cached answers of models about removed windows are removed there; everything else in it expires by itself.
        now: Time of the run. Default: the machine's.
        tenants: Only these tenants. Default: every tenant with a policy.
        dry_run: Only count.
        patience_s: How long each stage may take to reach the run's records, in seconds.
        notice: Called with a line of progress.

    Raises:
        StageBehindError: If a stage does not reach the run's records in time; the next run completes this one.
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If a topic is missing.
    """
    await check_topics(settings)
    state = await read_control(settings)
    at = now or SystemClock().now()
    retentions = {each.id: each for each in tenants_with_retention(state, at, only=tenants)}
    report = RetentionReport()
    if not retentions:
        return report
    async with Producer(kafka=settings.kafka) as producer:
        barrier = StageBarrier(settings=settings, patience_s=patience_s, notice=notice)
        run = _Run(settings, state, retentions, at=at, producer=producer, barrier=barrier, redis=redis, report=report, dry_run=dry_run)
        await run.remove_messages()
        await run.remove_results()
        await run.remove_reads()
    for tenant, counts in report.found.items():
        _log.info("retention_removed", tenant=tenant, dry_run=dry_run, **counts)
    return report


class _Run:
    def __init__(
        self,
        settings: Settings,
        state: ControlState,
        retentions: Mapping[str, TenantRetention],
        *,
        at: datetime,
        producer: Producer,
        barrier: StageBarrier,
        redis: GuardedRedis,
        report: RetentionReport,
        dry_run: bool,
    ) -> None:
        self._settings = settings
        self._state = state
        self._tenants = retentions
        self._at = at
        self._producer = producer
        self._barrier = barrier
        self._redis = redis
        self._report = report
        self._dry_run = dry_run
        self._keyring = Keyring.of(settings.signing)

    async def remove_messages(self) -> None:
        """Removes the windows of raw messages that are kept no longer."""
        if all(each.messages is None for each in self._tenants.values()):
            return
        topic = self._settings.topic(WINDOWS.name)
        expired = ExpiredWindows(self._tenants, await self._extracted(topic))
        async for record in read_topic(topic, self._settings.kafka):
            expired.add(record.partition, record.offset, record.key or b"", record.value)
        for window in expired.windows:
            self._report.add(window.tenant, "windows")
        if self._dry_run or not expired.windows:
            return
        sent = await self._send(self._sealed(key, command.to_json()) for key, command in expired.commands())
        await self._barrier.of(STAGES["sessions"], ends_after(sent))
        await self._send(OutgoingRecord(topic, each.key, None, partition=each.partition) for each in expired.windows)
        messages = self._settings.topic(MESSAGES.name)
        await delete_before({TopicPartition(messages, each): end for each, end in expired.truncation().items()}, self._settings.kafka)
        for tenant in self._tenants:
            await self._forget_answers(tenant, [each.id for each in expired.windows if each.tenant == tenant])

    async def remove_results(self) -> None:
        """Removes the results that are kept no longer."""
        limited = {name: each for name, each in self._tenants.items() if each.limits}
        if not limited:
            return
        topic = self._settings.topic(EXTRACTIONS.name)
        index = WindowIndex(limited)
        async for record in self._records():
            index.add(record)
        if not self._dry_run:
            await self._send(self._limits(topic, limited.values()))
        removal = await self._replace_results(topic, index)
        if removal.sent:
            await self._barrier.of(STAGES["events"], ends_after(removal.sent))
        dependents = DependentRecords(index, set().union(*removal.emptied.values()))
        async for record in self._records():
            if dependents.is_obsolete(record):
                self._report.add(tenant_of_key(record.key), "records")
                removal.over.append((record.partition, record.key))
        if not self._dry_run:
            await self._send(OutgoingRecord(topic, key, None, partition=partition) for partition, key in removal.over)
        for tenant, windows in removal.emptied.items():
            await self._forget_answers(tenant, sorted(windows))

    async def remove_reads(self) -> None:
        """Removes the records of the read audit that are kept no longer, one partition after the other: their keys stay in memory."""
        if all(each.reads is None for each in self._tenants.values()):
            return
        topic = self._settings.topic(READS.name)
        for number in range(self._settings.kafka.partitions):
            expired = ExpiredReads(self._tenants)
            async for record in read_topic(topic, self._settings.kafka, start={TopicPartition(topic, number): 0}):
                expired.add(record.key or b"", record.value, record.timestamp)
            found = expired.found
            for start in range(0, len(found), BATCH):
                state = self._state if self._dry_run else await read_control(self._settings)
                allowed = [each for each in found[start : start + BATCH] if not each.is_held(state)]
                for change in allowed:
                    self._report.add(change.tenant, "reads")
                if not self._dry_run:
                    await self._send(OutgoingRecord(topic, each.key, None, partition=number) for each in allowed)

    async def _replace_results(self, topic: str, index: WindowIndex) -> "_Removal":
        """Writes extractions and corrections again without expired results."""
        chosen, removal = Extractions(index, EntityTypes(self._state)), _Removal()
        async for record in self._records():
            replaced = chosen.rewritten(record) or chosen.cleared_correction(record)
            if replaced is not None:
                removal.waiting.append(replaced)
            elif chosen.is_superseded(record):
                removal.over.append((record.partition, record.key))
            if len(removal.waiting) == BATCH:
                await self._replace(topic, removal, index)
        await self._replace(topic, removal, index)
        return removal

    async def _replace(self, topic: str, removal: "_Removal", index: WindowIndex) -> None:
        """Sends the waiting records, unless an erasure or a hold of their user has begun since the run began."""
        waiting, removal.waiting = removal.waiting, []
        state = await read_control(self._settings) if waiting and not self._dry_run else self._state
        allowed = [each for each in waiting if not is_protected(state, each.source, each.record)]
        if not self._dry_run:
            removal.sent += await self._send(_replacing_record(topic, each) for each in allowed)
        for change in allowed:
            self._count(change)
            if change.is_empty:
                removal.over.append((change.record.partition, change.record.key))
            if isinstance(change, RewrittenExtraction) and change.is_empty:
                index.empty(change)
                removal.emptied.setdefault(change.extraction.tenant, set()).add(change.extraction.window_id)

    def _count(self, replaced: RewrittenExtraction | ClearedCorrection) -> None:
        tenant = replaced.source.tenant
        if isinstance(replaced, ClearedCorrection):
            self._report.add(tenant, "records")
            return
        self._report.add(tenant, "results", replaced.removed)
        if replaced.is_empty:
            self._report.add(tenant, "extractions")

    def _limits(self, topic: str, limited: Iterable[TenantRetention]) -> Iterable[OutgoingRecord]:
        for tenant in limited:
            limits = RetentionLimits(tenant=tenant.id, limits=dict(tenant.limits), held=sorted(tenant.held) or None, time=self._at)
            # One key per tenant: compaction keeps the newest limits of each partition.
            key = marked_key(encode_key(tenant.id), "retention")
            for partition in range(self._settings.kafka.partitions):
                yield OutgoingRecord(topic, key, limits.to_json(), headers=((KIND, RETENTION),), partition=partition)

    async def _records(self) -> AsyncIterator[ConsumedRecord]:
        async for record in read_topic(self._settings.topic(EXTRACTIONS.name), self._settings.kafka):
            yield ConsumedRecord.of(record)

    async def _extracted(self, topic: str) -> dict[int, int]:
        """The offset up to which the live workers have extracted each partition."""
        group = STAGES["extraction"].group(self._settings.kafka.topic_prefix)
        async with KafkaOffsets(kafka=self._settings.kafka) as offsets:
            return {each.partition: offset for each, offset in (await offsets.committed_offsets(group, {topic})).items()}

    async def _forget_answers(self, tenant: str, windows: list[str]) -> None:
        if self._dry_run or not windows:
            return
        try:
            await forget_answers(self._redis, tenant, windows)
        except RedisUnavailableError as error:
            # They expire by themselves after VARVE_LLM__CACHE_TTL_S.
            _log.warning("retained_answers_not_forgotten", tenant=tenant, error=str(error))

    async def _send(self, records: Iterable[OutgoingRecord]) -> list[LogPosition]:
        return await self._producer.send_in_batches([*records])

    def _sealed(self, key: bytes, value: bytes) -> OutgoingRecord:
        partition = partition_of(key, self._settings.kafka.partitions)
        record = OutgoingRecord(self._settings.topic(MESSAGES.name), key, value, ((KIND, COMMAND),), partition)
        return record if self._keyring is None else self._keyring.sealed(record, now_ms=milliseconds_of(SystemClock().now()))


@dataclass(slots=True)
class _Removal:
    """The progress of a run in ``extractions``."""

    waiting: list[RewrittenExtraction | ClearedCorrection] = field(default_factory=list)
    """Records that are sent next."""
    sent: list[LogPosition] = field(default_factory=list)
    over: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Partition and key of each record that gets a tombstone."""
    emptied: dict[str, set[str]] = field(default_factory=dict)
    """By tenant: the windows that have lost their last result."""


def _replacing_record(topic: str, replaced: RewrittenExtraction | ClearedCorrection) -> OutgoingRecord:
    """The record that replaces another one with the same key.

    An extraction names its original position, so that memories keep their versions.
    """
    record = replaced.record
    if isinstance(replaced, ClearedCorrection):
        return OutgoingRecord(topic, record.key, replaced.correction.to_json(), ((KIND, CORRECTION),), record.partition)
    place = str(record.origin).encode()
    return OutgoingRecord(topic, record.key, replaced.extraction.to_json(), ((ORIGIN, place),), record.partition)
