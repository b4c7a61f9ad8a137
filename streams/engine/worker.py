"""One worker of one stage: Faust reads and assigns, the driver handles records. The worker starts, connects and drains both."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import faust
from faust.types import TP

from memory.topics import DEAD_LETTERS
from models.credentials import credential_watch
from runtime.background import BackgroundWorkError, BackgroundWorks, set_within
from runtime.clock_check import require_agreeing_clocks, watch_clocks
from runtime.errors import ClockError, TopicMissingError
from runtime.interruption import GRACE_S, stop_by
from runtime.kafka import KafkaOffsets, TopicPartition, check_topic_configs, check_topics, create_topic
from runtime.kafka.groups import stage_group
from runtime.kafka.topics import largest_record_bytes
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.probe import Check, ProbeServer
from runtime.resilience import Backoff, CircuitBreaker
from runtime.settings import Settings
from streams.engine.background_service import background_services
from streams.engine.backlog_watch import BacklogWatch
from streams.engine.build import DriverFactory
from streams.engine.context import StageContext, TaskContext
from streams.engine.failures.crash_journal import CrashJournal
from streams.engine.failures.dead_letters import DeadLetterWriter
from streams.engine.failures.dependency_health import DependencyHealth, RetryPolicy
from streams.engine.faust.app import build_app, changelog_config, source_topic
from streams.engine.faust.consumer import App, Consumer
from streams.engine.faust.flow_control import FlowControl
from streams.engine.faust.rebalance_signals import GroupState, connect
from streams.engine.predecessor import KilledPeers, MemberNote
from streams.engine.stage_metrics import StageMetrics
from streams.engine.state.folders import own_folder, tables_folder
from streams.engine.state.partition_state import changelog_topic
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.engine.state.store_metrics import TableMetrics
from streams.engine.tasks.batch_interval import BatchInterval, BatchLimits
from streams.engine.tasks.checkpointer import Checkpointer
from streams.engine.tasks.driver import Driver
from streams.engine.tasks.write_lease import WriteLease
from streams.errors import FencedError, StreamError

_log = logger(__name__)
_CHECK_INTERVAL_S: Final = 0.5


class Worker:
    """A worker of one stage.

    Args:
        stage: The stage's name.
        source: The topic it reads, with prefix.
        has_table: Whether it keeps state.
        settings: The settings in force.
        metrics: Receives records, retries and lag.
        new_driver: Creates the driver from the shared context.
        group: Its consumer group. Default: the stage's own.
        also_ready: Further conditions of readiness, by name.
    """

    def __init__(
        self,
        *,
        stage: str,
        source: str,
        has_table: bool,
        settings: Settings,
        metrics: Metrics,
        new_driver: DriverFactory,
        group: str | None = None,
        also_ready: Callable[[], Mapping[str, bool]] = dict,
    ) -> None:
        self._stage = stage
        self._group = group or stage_group(settings.kafka.topic_prefix, stage)
        self._source = source
        self._has_table = has_table
        self._settings = settings
        self._metrics = metrics
        self._new_driver = new_driver
        self._also_ready = also_ready
        self._measured: set[int] = set()
        self._wrong_clock: ClockError | None = None
        self._clock_limits_s = (settings.signing.max_age_s, settings.signing.max_age_s)

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until ``stop`` is set; then finishes running work within the drain timeout, commits, and leaves the group.

        A worker that has lost its session when it is stopped finishes nothing, and returns without an error.

        Args:
            stop: Ends the run when it is set.

        Raises:
            runtime.errors.TopicMissingError: A topic does not exist, or has another number of partitions than configured.
            runtime.errors.TopicConfigError: A topic's retention or cleanup policy is insufficient.
            runtime.errors.ClockError: The clocks of this machine and of Kafka differ, now or later.
            FencedError: The process was stopped for longer than its session and must be restarted.
            StreamError: Faust or the driver failed.
        """
        # The start, the tasks and the background work share one client.
        async with KafkaOffsets(kafka=self._settings.kafka) as offsets:
            await require_agreeing_clocks(offsets.admin, self._settings, self._clock_limits_s)
            await self._prepare_topics(offsets)
            with own_folder(tables_folder(self._settings.data, self._stage), self._group) as folder, MemberNote(folder).held() as note:
                self._metrics.watch_disk(folder)
                await self._run_in(folder, note, offsets, stop)

    async def _prepare_topics(self, offsets: KafkaOffsets) -> None:
        kafka = self._settings.kafka
        partitions = await check_topics(self._settings, admin=offsets.admin)
        if partitions != kafka.partitions:
            raise TopicMissingError(
                f"the topics at {kafka.bootstrap} have {partitions} partitions and the settings say {kafka.partitions}: keys would be "
                f"assigned to other partitions; set VARVE_KAFKA__PARTITIONS={partitions}"
            )
        changelogs = {changelog_topic(self._group): changelog_config(kafka)} if self._has_table else {}
        for name, config in changelogs.items():
            await create_topic(name, config=config, kafka=kafka, admin=offsets.admin)
        await check_topic_configs(self._settings, changelogs, admin=offsets.admin)

    async def _run_in(self, folder: Path, note: MemberNote, offsets: KafkaOffsets, stop: asyncio.Event) -> None:
        settings = self._settings
        await note.remove_predecessor(self._group, settings.kafka, admin=offsets.admin)
        app = build_app(group=self._group, settings=settings, data=folder)
        lease = WriteLease(generation=lambda: int(app.consumer_generation_id), session_timeout_s=settings.kafka.session_timeout_s)
        journal = self._open_journal(folder, lease)
        background = BackgroundWorks(self._metrics)
        new_writer = partial(self._new_writer, folder=folder, offsets=offsets)
        driver = self._new_driver(StageContext(task=self._task_context(app, lease, journal), new_writer=new_writer, background=background))
        group_state = GroupState(lease)
        connect(app, source_topic(app, self._source), driver, source=self._source, group_state=group_state)
        backlogs = BacklogWatch(
            stage=self._stage,
            group=self._group,
            source=self._source,
            driver=driver,
            offsets=offsets,
            metrics=self._metrics,
            alarm_s=settings.delivery.retention_alarm_s,
        )
        group_state.on_joined(lambda: note.write(cast(Consumer, app.consumer).member_id))
        background.add("heartbeat", lease.run_heartbeat)
        background.add("backlog-watch", backlogs.run)
        background.add("clock-watch", lambda: watch_clocks(lambda: offsets.admin, settings, self._clock_limits_s, self._on_wrong_clock))
        background.add("killed-peers", KilledPeers(folder, self._group, settings.kafka).run)
        probe = ProbeServer(
            host=settings.metrics_host,
            port=settings.metrics_port,
            ready=lambda: self._readiness(group_state, driver, backlogs, background),
            metrics=self._metrics,
            status=backlogs.report,
        )
        async with probe, background_services(app, background.all):
            try:
                app.finalize()
                await app.start()
                cast(Consumer, app.consumer).on_heartbeat(lease.on_heartbeat)
                stop_by(stop.set, grace_s=2 * settings.delivery.drain_timeout_s + GRACE_S)
                _log.info("worker_started", stage=self._stage, port=probe.port)
                await self._watch(app, driver, lease, stop)
                await self._drain(app, driver, lease)
            finally:
                group_state.on_revoked()
                await driver.stop()
                await _within(settings.delivery.drain_timeout_s, app.stop())
                journal.close()

    def _on_wrong_clock(self, error: ClockError) -> None:
        """Ends the worker: Kafka refuses records from its future, deletes others early, and other stages check seals."""
        self._wrong_clock = error

    def _open_journal(self, folder: Path, lease: WriteLease) -> CrashJournal:
        return CrashJournal.open(
            folder / "crash-journal.sqlite",
            group=self._group,
            topic=self._source,
            maximum_crashes=self._settings.delivery.maximum_crashes,
            stage=self._stage,
            metrics=self._metrics,
            is_lost=lease.has_slept,
        )

    def _task_context(self, app: App, lease: WriteLease, journal: CrashJournal) -> TaskContext:
        settings, delivery = self._settings, self._settings.delivery
        dead_letters = settings.topic(DEAD_LETTERS.name)
        metrics = StageMetrics(self._stage, self._metrics)
        backoff = Backoff(
            initial_interval_s=delivery.retry_initial_interval_s,
            backoff_coefficient=delivery.retry_backoff_coefficient,
            maximum_interval_s=delivery.retry_maximum_interval_s,
        )
        return TaskContext(
            metrics=metrics,
            limits=BatchLimits(
                max_records=delivery.max_batch,
                max_bytes=delivery.max_batch_bytes,
                interval=BatchInterval(minimum_s=delivery.batch_interval_s, maximum_s=delivery.max_batch_interval_s),
            ),
            dependencies=DependencyHealth(
                metrics=metrics,
                retry_policy=RetryPolicy(backoff=backoff, maximum_attempts=delivery.retry_maximum_attempts),
                new_breaker=lambda: CircuitBreaker(failures=delivery.breaker_failures, reset_s=delivery.breaker_reset_s),
            ),
            dead_letters=DeadLetterWriter(topic=dead_letters, limit=largest_record_bytes(dead_letters, settings.kafka), metrics=metrics),
            journal=journal,
            flow_control=FlowControl(app=app, source=self._source),
            may_write=lease.may_write,
        )

    def _readiness(
        self, group_state: GroupState, driver: Driver, backlogs: BacklogWatch, background: BackgroundWorks
    ) -> dict[str, bool | Check]:
        assigned = group_state.is_assigned
        return {
            "assigned": assigned,
            "recovered": assigned and driver.is_recovered,
            "not_rebalancing": assigned,
            "no_log_gap": not driver.data_losses,
            "far_from_retention": Check(ok=backlogs.problem is None, needed=False, problem=backlogs.problem),
            **Check.of_background(background),
            **credential_watch().checks(),
            **self._also_ready(),
        }

    async def _watch(self, app: faust.App, driver: Driver, lease: WriteLease, stop: asyncio.Event) -> None:
        while not await set_within(stop, _CHECK_INTERVAL_S):
            if self._wrong_clock is not None:
                raise self._wrong_clock
            if lease.is_stale:
                # A process that runs again after a pause may receive the signal to stop a moment later.
                if await set_within(stop, _CHECK_INTERVAL_S):
                    return
                raise FencedError(f"the {self._stage} worker was stopped for longer than its Kafka session; it exits and must be restarted")
            if isinstance(app.crash_reason, BackgroundWorkError):
                raise StreamError(f"the {self._stage} worker stops: {app.crash_reason}") from app.crash_reason
            if app.should_stop or app.crashed:
                raise StreamError(f"the {self._stage} worker's Kafka consumer ended: {app.crash_reason!r}")
            if driver.failure is not None:
                raise StreamError(f"the {self._stage} worker failed: {driver.failure!r}") from driver.failure
            self._measure_lag(app, driver)
            driver.measure()

    def _measure_lag(self, app: faust.App, driver: Driver) -> None:
        lags: dict[int, int] = {}
        for partition, next_offset in driver.next_offsets.items():
            end = app.consumer.highwater(TP(self._source, partition))
            if end is not None and next_offset is not None:
                lags[partition] = max(0, end - next_offset)
        for partition in self._measured - lags.keys():
            self._metrics.lag.remove(self._stage, self._source, partition)
        for partition, lag in lags.items():
            self._metrics.lag.labels(self._stage, self._source, partition).set(lag)
        self._measured = set(lags)

    def _new_writer(self, partition: int, *, folder: Path, offsets: KafkaOffsets) -> Checkpointer:
        changelog = changelog_topic(self._group) if self._has_table else None
        return Checkpointer(
            source=TopicPartition(self._source, partition),
            group=self._group,
            kafka=self._settings.kafka,
            offsets=offsets,
            table=None if changelog is None else RocksDBStore(folder / str(partition)),
            changelog=changelog,
            table_metrics=None if changelog is None else TableMetrics(metrics=self._metrics, stage=self._stage, partition=partition),
        )

    async def _drain(self, app: faust.App, driver: Driver, lease: WriteLease) -> None:
        """Finishes and commits the running work. A worker that has lost its session may commit nothing: others continue its work."""
        if lease.has_slept():
            _log.warning("drain_skipped", stage=self._stage, reason="the worker was stopped for longer than its Kafka session")
            return
        app.consumer.stop_flow()
        app.flow_control.suspend()
        await _within(self._settings.delivery.drain_timeout_s, driver.finish())
        _log.info("worker_drained", stage=self._stage, backlog=driver.backlog)


async def _within(seconds: float, work: Any) -> None:
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        _log.warning("drain_timed_out", seconds=seconds)
