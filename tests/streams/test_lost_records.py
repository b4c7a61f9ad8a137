"""Records that the log lost before they were read stop their partition, and nothing else, until somebody accepts the loss by name."""

import asyncio
from typing import Any

import httpx
import orjson
import pytest
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from typer.testing import CliRunner

from control import read_audit
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, TopicPartition, client_options
from runtime.settings import Settings
from streams.engine.failures.data_loss import DataLoss
from streams.engine.worker import Worker
from streams.errors import LossRefusedError, StreamError
from streams.operations.accept_loss import LostRange, accept_loss, find_loss, find_losses
from streams.stages.catalog import STAGES
from tests.streams.flow import TENANT, NewFlow, serving
from tests.streams.gated_worker import GatedHandler, lost_by, working
from tests.streams.harness import until, until_true
from tests.streams.message_ledger import MessageLedger, committed, records_of, stage_done
from varve.cli.application import app
from varve.embedded.ports import free_port

pytestmark = pytest.mark.integration

RECORDS = 3000
"""Far more than the fetcher takes in before the partition is paused: retention has to pass what was not fetched."""
WRONG_RANGE = "are not the lost range: --from"


@pytest.fixture
async def settings(new_flow: NewFlow) -> Settings:
    return await new_flow()


async def _produce(settings: Settings, count: int, *, partition: int, size: int = 20_000) -> None:
    topic = settings.topic("merges")
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(topic, b"k%d" % number, b"v" * size, partition=partition) for number in range(count)])


async def _retention_passes(settings: Settings, topic: str, offset: int, *, partition: int = 0) -> None:
    """The broker forgets the records before an offset."""
    admin = AIOKafkaAdminClient(**client_options(settings.kafka))
    await admin.start()
    try:
        await admin.delete_records({TopicPartition(settings.topic(topic), partition): RecordsToDelete(offset)})
    finally:
        await admin.close()


async def _gap_found(settings: Settings, stage: str) -> DataLoss:
    gap = await find_loss(settings, stage, 0)
    assert gap is not None
    return gap


async def _committed(settings: Settings, stage: str) -> dict[int, int]:
    topic = settings.topic(STAGES[stage].source.name)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        found = await offsets.committed_offsets(STAGES[stage].group(settings.kafka.topic_prefix), [topic])
    return {partition.partition: offset for partition, offset in found.items()}


async def _accepted_losses(settings: Settings) -> list[dict[str, Any]]:
    audited = [orjson.loads(record.value) for record in await records_of(settings, "audit")]
    return [each for each in audited if each["action"] == "accept_loss"]


async def test_losses_are_found_over_one_connection(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    handler = GatedHandler(settings)
    handler.gate.set()
    async with working(settings, handler):
        for partition in (0, 1):
            await _produce(settings, 3, partition=partition, size=10)
        await until(lambda: all(len(handler.handled[each]) == 3 for each in (0, 1)))
    for partition in (0, 1):
        await _produce(settings, 3, partition=partition, size=10)
        await _retention_passes(settings, "merges", 5, partition=partition)
    started = []
    start = KafkaOffsets.start

    async def counted(offsets: KafkaOffsets) -> None:
        started.append(offsets)
        await start(offsets)

    monkeypatch.setattr(KafkaOffsets, "start", counted)
    assert [(gap.source.partition, gap.first, gap.next) for gap in await find_losses(settings, "merging")] == [(0, 3, 5), (1, 3, 5)]
    assert len(started) == 1


async def test_retention_passing_a_running_stage_is_named(settings: Settings) -> None:
    await _produce(settings, RECORDS, partition=0)
    handler = GatedHandler(settings)
    async with working(settings, handler) as worker:
        await until(lambda: worker_backlog(worker) > 0)
        await _retention_passes(settings, "merges", RECORDS - 10)
        handler.gate.set()
        await until(lambda: lost_by(worker, settings) > 0)
        handled = list(handler.handled[0])
        assert lost_by(worker, settings) == RECORDS - 10 - len(handled)
        assert (await _committed(settings, "merging"))[0] == len(handled) < RECORDS - 10
        await _produce(settings, 10, partition=1)
        await until(lambda: len(handler.handled[1]) == 10)
        assert handler.handled[0] == handled, "nothing jumped by itself"

        gap = await _gap_found(settings, "merging")
        assert (gap.first, gap.next) == (len(handled), RECORDS - 10)
        with pytest.raises(LossRefusedError, match=WRONG_RANGE):
            await accept_loss(settings, "merging", 0, LostRange(first=gap.first, next=gap.next - 1), accepted_by="eve")
        assert await _accepted_losses(settings) == []
        await accept_loss(settings, "merging", 0, LostRange(first=gap.first, next=gap.next), accepted_by="ada")
        await until(lambda: len(handler.handled[0]) == len(handled) + 10)
        assert lost_by(worker, settings) == 0, "the loss is accepted"
        assert sorted(handler.handled[0]) == [*sorted(handled), *range(RECORDS - 10, RECORDS)]
    (noted,) = await _accepted_losses(settings)
    assert (noted["action"], noted["by"], noted["subject"]) == ("accept_loss", "ada", f"loss/merging/{settings.topic('merges')}/0")
    assert (noted["first"], noted["next"]) == (gap.first, gap.next)
    _, entries = await read_audit(settings)
    assert (entries[-1].by, entries[-1].subject) == ("ada", noted["subject"]), "`varve audit list` shows it"
    with pytest.raises(LossRefusedError, match="has lost no record of partition 0"):
        await accept_loss(settings, "merging", 0, LostRange(first=gap.first, next=gap.next), accepted_by="ada")


async def test_retention_during_an_outage_is_named(settings: Settings) -> None:
    ledger = MessageLedger(settings)
    await ledger.send([ledger.message(TENANT, "s1") for _ in range(20)])
    (partition,) = {record.partition for record in await records_of(settings, "messages")}
    group = STAGES["sessions"].group(settings.kafka.topic_prefix)
    await ConsumerGroups(kafka=settings.kafka).commit(group, {TopicPartition(settings.topic("messages"), partition): 0})
    await _retention_passes(settings, "messages", 5, partition=partition)
    probe_port = free_port()
    settings = settings.model_copy(update={"metrics_port": probe_port})
    async with serving(settings, ["sessions"]), httpx.AsyncClient(base_url=f"http://127.0.0.1:{probe_port}") as probe:
        await _page_shows(probe, "/metrics", f'varve_records_lost{{partition="{partition}",stage="sessions"')
        await _page_shows(probe, "/readyz", '"no_log_gap":false')
        assert (await _committed(settings, "sessions")).get(partition, 0) == 0
        await accept_loss(settings, "sessions", partition, LostRange(first=0, next=5), accepted_by="ada")
        await ledger.send(ledger.flush(TENANT, "s1"))
        await stage_done(settings, "sessions")
        await _page_shows(probe, "/readyz", '"ready":true')
    windows = [window for of_session in (await ledger.windows()).values() for window in of_session]
    assert [message.id for window in windows for message in window.messages] == [f"s1-{number}" for number in range(5, 20)]


async def test_a_cut_log_stops_until_accepted(settings: Settings) -> None:
    """The log ends before the committed offset: new records would be skipped, and once it has grown, without a notice."""
    await _produce(settings, 18, partition=0, size=10)
    source = TopicPartition(settings.topic("merges"), 0)
    group = STAGES["merging"].group(settings.kafka.topic_prefix)
    await ConsumerGroups(kafka=settings.kafka).commit(group, {source: 20})
    handler = GatedHandler(settings)
    handler.gate.set()
    async with working(settings, handler) as worker:
        await until(lambda: lost_by(worker, settings) > 0)
    await _produce(settings, 10, partition=0, size=10)
    async with working(settings, handler) as worker:
        await until(lambda: lost_by(worker, settings) > 0)
        assert handler.handled[0] == []
        gap = await _gap_found(settings, "merging")
        assert (gap.first, gap.next) == (18, 20), "what it was when it was found"
        await accept_loss(settings, "merging", 0, LostRange(first=10, next=20), accepted_by="ada")
        await until(lambda: len(handler.handled[0]) == 18)
        assert sorted(handler.handled[0]) == list(range(10, 28))


async def test_state_refuses_to_go_back_in_a_cut_log(settings: Settings) -> None:
    group = STAGES["sessions"].group(settings.kafka.topic_prefix)
    await ConsumerGroups(kafka=settings.kafka).commit(group, {TopicPartition(settings.topic("messages"), 0): 20})
    with pytest.raises(LossRefusedError, match="run `varve replay sessions`"):
        await accept_loss(settings, "sessions", 0, LostRange(first=0, next=20), accepted_by="ada")
    assert await committed(settings, "sessions") == 20
    with pytest.raises(StreamError, match="there is no stage"):
        await find_loss(settings, "index-2", 0)
    with pytest.raises(LossRefusedError, match="there is no partition 2"):
        await find_loss(settings, "index", 2)


async def test_a_new_stage_starts_after_retention(settings: Settings) -> None:
    await _produce(settings, 8, partition=0, size=10)
    await _retention_passes(settings, "merges", 5)
    assert await find_loss(settings, "merging", 0) is None
    handler = GatedHandler(settings)
    handler.gate.set()
    async with working(settings, handler) as worker:
        await until(lambda: len(handler.handled[0]) == 3)
        assert handler.handled[0] == [5, 6, 7]
        assert lost_by(worker, settings) == 0


async def test_a_stage_with_expired_offsets_is_not_new(settings: Settings) -> None:
    changelog = STAGES["merging"].changelog(settings.kafka.topic_prefix)
    async with working(settings, GatedHandler(settings)):
        pass  # creates the changelog
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(changelog, b"row", b"state", partition=0)])
    await _produce(settings, 8, partition=0, size=10)
    await _retention_passes(settings, "merges", 5)
    gap = await _gap_found(settings, "merging")
    assert (gap.first, gap.next) == (0, 5)


async def test_the_command_shows_and_accepts(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    group = STAGES["merging"].group(settings.kafka.topic_prefix)
    for partition in (0, 1):
        await _produce(settings, 3, partition=partition, size=10)
        await ConsumerGroups(kafka=settings.kafka).commit(group, {TopicPartition(settings.topic("merges"), partition): 0})
        await _retention_passes(settings, "merges", 2, partition=partition)
    monkeypatch.setenv("VARVE_KAFKA__BOOTSTRAP", settings.kafka.bootstrap)
    monkeypatch.setenv("VARVE_KAFKA__TOPIC_PREFIX", settings.kafka.topic_prefix)
    monkeypatch.setenv("VARVE_KAFKA__PARTITIONS", "2")
    at = f"{settings.topic('merges')}/1"

    async def run(*arguments: str) -> tuple[int, str]:
        result = await asyncio.to_thread(CliRunner().invoke, app, ["accept-loss", "merging", *arguments, "--data", str(settings.data)])
        return result.exit_code, result.output

    code, shown = await run(at)
    assert code == 1
    assert f"offsets 0 to 1 of {at} are lost" in shown
    assert f"varve accept-loss merging {at} --from 0 --to 2" in shown
    code, shown = await run("merges/1", "--from", "0", "--to", "2", "--by", "ada")
    assert (code, "accepted" in shown) == (0, True)
    assert await run(at) == (0, f"merging has lost nothing of {at}\n")
    assert (await run("messages/1"))[0] == 2
    code, shown = await run()
    assert (code, f"{settings.topic('merges')}/0 --from 0 --to 2" in shown) == (1, True)
    assert (await run("merges/0", "--all"))[0] == 2
    code, shown = await run("--all", "--by", "ada")
    assert (code, shown.count("accepted")) == (0, 1)
    assert await run("--all") == (0, "merging has lost nothing\n")
    assert [each["subject"][-1] for each in await _accepted_losses(settings)] == ["1", "0"]


def worker_backlog(worker: Worker) -> float:
    """The records that a worker has in flight."""
    return sum(sample.value for metric in worker._metrics.in_flight.collect() for sample in metric.samples)


async def _page_shows(probe: httpx.AsyncClient, path: str, text: str) -> None:
    """Returns when a page of the worker's health server holds a text."""

    async def shows() -> bool:
        try:
            return text in (await probe.get(path)).text
        except httpx.TransportError:
            return False

    await until_true(shows)
