"""One worker of one stage: Faust reads, assigns and recovers; the driver works; this file ties them together and ends them in order."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any, Final, cast

import faust

from memory.topics import DEAD_LETTERS
from runtime.breaker import CircuitBreaker
from runtime.errors import TopicMissingError
from runtime.kafka import check_topics, create_topic
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.probe import ProbeServer
from runtime.settings import Settings
from streams.delivery.app import build_app, changelog_config, source_topic, state_table
from streams.delivery.backoff import Backoff
from streams.delivery.build import NewDriver
from streams.delivery.consumer import Consumer
from streams.delivery.context import StageContext
from streams.delivery.driver import Driver, FaustRecord
from streams.delivery.folders import own_folder, tables_folder
from streams.delivery.intake import SourceIntake
from streams.delivery.membership import Membership
from streams.delivery.ordered_driver import NoRows
from streams.delivery.outbox import Outbox
from streams.delivery.pacer import Pacer
from streams.delivery.state import TABLE
from streams.errors import FencedError, StreamError

_log = logger(__name__)
_WATCH_S: Final = 0.5


class Worker:
    """A worker of one stage.

    Args:
        stage: The stage's name.
        source: The topic it reads, with prefix.
        has_table: Whether it keeps state.
        settings: The settings in force.
        metrics: Where it counts.
        new_driver: Makes the driver, given what stages share and the local tables.
        group: Its consumer group; the stage's own unless told.
    """

    def __init__(
        self,
        *,
        stage: str,
        source: str,
        has_table: bool,
        settings: Settings,
        metrics: Metrics,
        new_driver: NewDriver,
        group: str | None = None,
    ) -> None:
        self._stage = stage
        self._group = group or settings.topic(stage)
        self._source = source
        self._has_table = has_table
        self._settings = settings
        self._metrics = metrics
        self._new_driver = new_driver
        self._measured: set[int] = set()

    async def run(self, stop: asyncio.Event) -> None:
        """Works until told to stop, then finishes what it has begun within the drain time-out, commits, and leaves the group.

        Raises:
            runtime.errors.TopicMissingError: If a topic is not there, or has another number of partitions than the settings say.
            FencedError: If the process was stopped for longer than its session: it must be started anew.
            StreamError: If Faust or the driver broke.
        """
        kafka = self._settings.kafka
        partitions = await check_topics(self._settings)
        if partitions != kafka.partitions:
            raise TopicMissingError(
                f"the topics at {kafka.bootstrap} have {partitions} partitions and the settings say {kafka.partitions}: keys would be "
                f"placed elsewhere than they are; set VARVE_KAFKA__PARTITIONS={partitions}"
            )
        with own_folder(tables_folder(self._settings.data, self._stage)) as folder:
            await self._run_in(folder, stop)

    async def _run_in(self, folder: Path, stop: asyncio.Event) -> None:
        settings = self._settings
        app = build_app(group=self._group, settings=settings, data=folder)
        topic = source_topic(app, self._source)
        table = state_table(app, TABLE, settings) if self._has_table else None
        membership = Membership(generation=lambda: int(app.consumer_generation_id), session_timeout_s=settings.kafka.session_timeout_s)
        outbox = Outbox(kafka=settings.kafka, partitions=settings.kafka.partitions)
        delivery = settings.delivery
        context = StageContext(
            stage=self._stage,
            outbox=outbox,
            metrics=self._metrics,
            backoff=Backoff(first_s=delivery.backoff_s, longest_s=delivery.max_backoff_s),
            new_breaker=lambda: CircuitBreaker(failures=delivery.breaker_failures, reset_s=delivery.breaker_reset_s),
            dead_letters_topic=settings.topic(DEAD_LETTERS.name),
            changelog_topic=table.changelog_topic_name if table is not None else None,
            max_batch=delivery.max_batch,
            max_batch_bytes=delivery.max_batch_bytes,
            pacer=Pacer(shortest_s=delivery.batch_interval_s, longest_s=delivery.max_batch_interval_s),
            intake=SourceIntake(app=app, source=self._source),
            may_write=membership.may_write,
        )
        if context.changelog_topic is not None:
            # A group whose leader does not see the changelog is assigned its sources without it: tables would begin empty.
            await create_topic(context.changelog_topic, config=changelog_config(settings.kafka), kafka=settings.kafka)
        driver = self._new_driver(context, table.rows if table is not None else lambda _: NoRows())
        ready = {"assigned": False, "recovered": False, "not_rebalancing": False}
        _connect(app, topic, driver, source=self._source, changelog=context.changelog_topic, ready=ready)

        probe = ProbeServer(host=settings.metrics_host, port=settings.metrics_port, ready=lambda: ready, metrics=self._metrics)
        async with probe:
            await outbox.start()
            beating = asyncio.create_task(membership.beat())
            try:
                app.finalize()
                await app.start()
                _log.info("working", stage=self._stage, port=probe.port)
                await self._watch(app, driver, membership, stop)
                await self._drain(app, driver)
            finally:
                ready.update(assigned=False)
                await driver.stop()
                await _within(delivery.drain_timeout_s, app.stop())
                beating.cancel()
                await outbox.stop()

    async def _watch(self, app: faust.App, driver: Driver, membership: Membership, stop: asyncio.Event) -> None:
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_WATCH_S):
                    await stop.wait()
            if membership.is_zombie:
                raise FencedError(f"the {self._stage} worker was stopped for longer than its session; it leaves and must be started anew")
            if app.should_stop or app.crashed:
                raise StreamError(f"the {self._stage} worker's Kafka consumer ended: {app.crash_reason!r}")
            if driver.failed is not None:
                raise StreamError(f"the {self._stage} worker broke: {driver.failed!r}") from driver.failed
            self._measure_lag(app)

    def _measure_lag(self, app: faust.App) -> None:
        consumer = cast(Consumer, app.consumer)
        ours = {place.partition: consumer.behind(place) for place in consumer.assignment() if place.topic == self._source}
        for partition in self._measured - ours.keys():
            self._metrics.lag.remove(self._stage, self._source, partition)
        known = {partition: behind for partition, behind in ours.items() if behind is not None}
        for partition, behind in known.items():
            self._metrics.lag.labels(self._stage, self._source, partition).set(behind)
        self._measured = (self._measured & ours.keys()) | known.keys()

    async def _drain(self, app: faust.App, driver: Driver) -> None:
        app.consumer.stop_flow()
        app.flow_control.suspend()
        await _within(self._settings.delivery.drain_timeout_s, driver.finish())
        await _within(self._settings.delivery.drain_timeout_s, app.consumer.commit())
        _log.info("drained", stage=self._stage, left=driver.backlog)


def _connect(app: faust.App, topic: faust.TopicT, driver: Driver, *, source: str, changelog: str | None, ready: dict[str, bool]) -> None:
    """Wires Faust's stream and its rebalance signals to the driver."""

    @app.agent(topic, name="intake")
    async def intake(stream: Any) -> None:
        async for event in stream.noack().events():
            await driver.put(FaustRecord(event))

    @app.on_partitions_revoked.connect  # type: ignore[arg-type]
    async def revoked(_app: Any, *_args: Any, **_: Any) -> None:
        ready.update(assigned=False, not_rebalancing=False)
        await driver.revoke()

    @app.on_rebalance_complete.connect  # type: ignore[arg-type]
    async def recovered(_app: Any, *_args: Any, **_: Any) -> None:
        # Faust seeks with the flow active, and then clears what it had queued: records are skipped (ADR 4, B).
        app.consumer.stop_flow()
        app.flow_control.suspend()
        assignment = app.consumer.assignment()
        ours = {place.partition for place in assignment if place.topic == source}
        unrecovered = ours - {place.partition for place in assignment if place.topic == changelog}
        if changelog is not None and unrecovered:
            await app.crash(StreamError(f"partitions {sorted(unrecovered)} of {source} came without {changelog}: their state is not known"))
            return
        await driver.assign(ours, int(app.consumer_generation_id))
        ready.update(assigned=True, recovered=True, not_rebalancing=True)


async def _within(seconds: float, work: Any) -> None:
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        _log.warning("gave up waiting; what is not finished will be delivered again", seconds=seconds)
