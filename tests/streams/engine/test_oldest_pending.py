"""The record that is reported as blocking a partition."""

from memory.keys import encode_key
from runtime.kafka import TopicPartition
from streams.engine.keyed.pending_record import PendingRecord
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.tasks.oldest_pending import OldestPending
from tests.streams.harness import delivered

PARTITION = TopicPartition("windows", 0)


def _holder(scheduler: Scheduler[str]) -> OldestPending:
    entry = scheduler.oldest(PARTITION)
    assert entry is not None
    return OldestPending.of_entry(entry, is_paused=scheduler.is_paused(entry.tenant))


def _deliver(scheduler: Scheduler[str], offset: int, tenant: str) -> None:
    scheduler.deliver(PARTITION, offset, key=offset, tenant=tenant, record="")


def _start(scheduler: Scheduler[str]) -> PendingRecord[str]:
    entry = scheduler.start_next(0.0)
    assert entry is not None
    entry.attempts += 1
    return entry


def test_the_head_is_named_with_its_state() -> None:
    scheduler = Scheduler[str](slots=1, tenant_share=1.0, max_in_flight=10, max_span=10)
    scheduler.assign({PARTITION}, 1)
    assert scheduler.oldest(PARTITION) is None
    _deliver(scheduler, 7, "acme")
    assert _holder(scheduler) == OldestPending(offset=7, tenant="acme", state="waiting", attempts=0)
    entry = _start(scheduler)
    assert _holder(scheduler).state == "handling"
    scheduler.free_slot(entry, 0.0)
    assert _holder(scheduler) == OldestPending(offset=7, tenant="acme", state="retrying", attempts=1)
    scheduler.requeue(entry)
    assert _holder(scheduler).state == "waiting"
    scheduler.pause_tenant("acme")
    assert _holder(scheduler).state == "paused"
    scheduler.resume_tenant("acme")
    entry = _start(scheduler)
    scheduler.on_computed(entry, 0.0)
    assert _holder(scheduler).state == "writing"
    _deliver(scheduler, 8, "other")
    scheduler.on_written(entry)
    assert _holder(scheduler) == OldestPending(offset=8, tenant="other", state="waiting", attempts=0)


def test_a_batch_in_order_is_named_by_its_first() -> None:
    record = delivered("messages", 4, encode_key("acme", "s1"), b"v")
    assert OldestPending.of_record(record, attempts=0) == OldestPending(offset=4, tenant="acme", state="waiting", attempts=0)
    assert OldestPending.of_record(record, attempts=1).state == "handling"
    assert OldestPending.of_record(record, attempts=2) == OldestPending(offset=4, tenant="acme", state="retrying", attempts=2)


def test_a_key_without_a_tenant() -> None:
    assert delivered("messages", 4, None, b"v").tenant == ""
    assert delivered("messages", 4, b"\xff%%", b"v").tenant == ""
