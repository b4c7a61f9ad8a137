"""Drives the delivery rules through random interleavings of deliveries, attempts, failures, rebalances and redeliveries.

The simulated broker redelivers from the committed offset after every rebalance, as Kafka does; while a partition is not ours, another
worker may get on with it. Whatever happens, at the end every record was written, records of one key in their order, and no
offset was committed before all records under it were done.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.kafka import TopicPartition
from streams.engine.keyed.pending_record import PendingRecord
from streams.engine.keyed.scheduler import Scheduler

PARTITIONS = 3
TOPIC = "windows"
PARTITION = TopicPartition(TOPIC, 0)


@dataclass(slots=True, eq=False)
class Delivery:
    """One delivery of a record."""

    partition: TopicPartition
    offset: int
    generation: int
    is_evicted: bool = False

    def evict(self) -> None:
        self.is_evicted = True


@dataclass
class Simulation:
    """A broker, a worker that obeys the scheduler, and what is observed of both."""

    keys: dict[TopicPartition, list[str]]
    tenants: dict[str, str]
    slots: int
    max_span: int
    max_in_flight: int
    scheduler: Scheduler[Delivery] = field(init=False)
    generation: int = 0
    committed: dict[TopicPartition, int] = field(default_factory=lambda: defaultdict(int))
    cursor: dict[TopicPartition, int] = field(default_factory=dict)
    running: list[PendingRecord[Delivery]] = field(default_factory=list)
    writing: list[PendingRecord[Delivery]] = field(default_factory=list)
    paused_tenants: set[str] = field(default_factory=set)
    deferred: list[PendingRecord[Delivery]] = field(default_factory=list)
    written: dict[str, list[tuple[TopicPartition, int]]] = field(default_factory=lambda: defaultdict(list))
    now: float = 0.0

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(
            slots=self.slots, tenant_share=0.5, max_in_flight=self.max_in_flight, max_span=self.max_span, evict=Delivery.evict
        )
        self.rebalance(set(self.keys))

    def rebalance(self, ours: set[TopicPartition]) -> None:
        self.generation += 1
        self.scheduler.revoke()
        self.scheduler.assign(ours, self.generation)
        self.cursor = {partition: self.committed[partition] for partition in ours}

    def progress_elsewhere(self, partition: TopicPartition) -> None:
        """Another worker handles the next record of a partition that is not ours, and commits it."""
        offset = self.committed[partition]
        if partition in self.cursor or offset >= len(self.keys[partition]):
            return
        self.written[f"{partition}/{(partition, self.keys[partition][offset])}"].append((partition, offset))
        self.committed[partition] = offset + 1

    def deliver(self, partition: TopicPartition) -> None:
        offset = self.cursor.get(partition)
        if offset is None or offset >= len(self.keys[partition]) or (self.scheduler.free_span(partition) or 0) <= 0:
            return
        self.cursor[partition] = offset + 1
        key = self.keys[partition][offset]
        finished = self.scheduler.deliver(
            partition, offset, key=(partition, key), tenant=self.tenants[key], record=Delivery(partition, offset, self.generation)
        )
        if finished is not None:
            assert finished not in self.writing, "two writers of one record"
            self.writing.append(finished)

    def start(self) -> None:
        entry = self.scheduler.start_next(self.now)
        if entry is not None:
            assert len(self.running) < self.slots
            assert entry.tenant not in self.paused_tenants
            same_key = [other for other in self.running if (other.partition, other.key) == (entry.partition, entry.key)]
            assert not any(map(self.scheduler.tracks, same_key)), "two of one key at once"
            self.running.append(entry)
            entry.record.is_evicted = False

    def finish(self, index: int) -> None:
        if self.running:
            self.now += 1.0
            entry = self.running.pop(index % len(self.running))
            if self.scheduler.on_computed(entry, self.now):
                self.writing.append(entry)

    def fail(self, index: int) -> None:
        if self.running:
            self.now += 1.0
            entry = self.running.pop(index % len(self.running))
            self.scheduler.free_slot(entry, self.now)
            self.deferred.append(entry)

    def pause_tenant(self, index: int) -> None:
        """A record's tenant has to wait: the record is queued again immediately, and none of the tenant's records is started."""
        if self.running:
            self.now += 1.0
            entry = self.running.pop(index % len(self.running))
            self.scheduler.free_slot(entry, self.now)
            self.scheduler.requeue(entry)
            self.scheduler.pause_tenant(entry.tenant)
            self.paused_tenants.add(entry.tenant)

    def resume_tenants(self) -> None:
        while self.paused_tenants:
            self.scheduler.resume_tenant(self.paused_tenants.pop())

    def retry(self, index: int) -> None:
        if self.deferred:
            self.scheduler.requeue(self.deferred.pop(index % len(self.deferred)))

    def write(self, index: int) -> None:
        """A writer gets on: its outputs become durable, or it sees that the partition was taken away."""
        if not self.writing:
            return
        entry = self.writing.pop(index % len(self.writing))
        if not self.scheduler.may_write(entry):
            self.scheduler.on_fenced(entry)
            return
        assert entry.record.generation == self.generation, "written under an old assignment"
        assert not entry.record.is_evicted, "written without its payload"
        self.written[f"{entry.partition}/{entry.key}"].append((entry.partition, entry.offset))
        next_offset = self.scheduler.next_offset(entry.partition, [entry])
        self.scheduler.on_written(entry)
        if next_offset is not None:
            before = self.committed[entry.partition]
            writes = (self.written[f"{entry.partition}/{(entry.partition, key)}"] for key in self.keys[entry.partition])
            done = {offset for each in writes for _, offset in each}
            assert set(range(before, next_offset)) <= done, "committed before it was done"
            self.committed[entry.partition] = next_offset

    def settle(self) -> None:
        self.rebalance(set(self.keys))
        for _ in range(10_000):
            if all(self.committed[partition] == len(keys) for partition, keys in self.keys.items()) and not self.running:
                return
            for partition in self.keys:
                self.deliver(partition)
            self.start()
            self.finish(0)
            self.retry(0)
            self.resume_tenants()
            self.write(0)
        raise AssertionError(f"stuck: {dict(self.committed)}, {self.scheduler.in_flight} in flight")


STEPS = st.one_of(
    st.tuples(st.just("deliver"), st.integers(0, PARTITIONS - 1)),
    st.tuples(st.just("deliver"), st.integers(0, PARTITIONS - 1)),
    st.tuples(st.just("start"), st.just(0)),
    st.tuples(st.just("finish"), st.integers(0, 7)),
    st.tuples(st.just("write"), st.integers(0, 7)),
    st.tuples(st.just("fail"), st.integers(0, 7)),
    st.tuples(st.just("retry"), st.integers(0, 7)),
    st.tuples(st.just("pause tenant"), st.integers(0, 7)),
    st.tuples(st.just("resume tenants"), st.just(0)),
    st.tuples(st.just("rebalance"), st.integers(0, 2**PARTITIONS - 1)),
    st.tuples(st.just("elsewhere"), st.integers(0, PARTITIONS - 1)),
)


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    logs=st.lists(st.lists(st.sampled_from("abcdef"), max_size=14), min_size=PARTITIONS, max_size=PARTITIONS),
    steps=st.lists(STEPS, max_size=120),
    slots=st.integers(1, 5),
    max_span=st.integers(1, 10),
    max_in_flight=st.integers(1, 12),
)
def test_nothing_is_lost_reordered_or_acknowledged_early(
    logs: list[list[str]], steps: list[tuple[str, int]], slots: int, max_span: int, max_in_flight: int
) -> None:
    keys = {TopicPartition(TOPIC, number): log for number, log in enumerate(logs)}
    simulation = Simulation(
        keys=keys,
        tenants={key: "xy"[index % 2] for index, key in enumerate("abcdef")},
        slots=slots,
        max_span=max_span,
        max_in_flight=max_in_flight,
    )
    for action, argument in steps:
        match action:
            case "deliver":
                simulation.deliver(TopicPartition(TOPIC, argument))
            case "start":
                simulation.start()
            case "finish":
                simulation.finish(argument)
            case "write":
                simulation.write(argument)
            case "fail":
                simulation.fail(argument)
            case "retry":
                simulation.retry(argument)
            case "pause tenant":
                simulation.pause_tenant(argument)
            case "resume tenants":
                simulation.resume_tenants()
            case "rebalance":
                simulation.rebalance({partition for partition in keys if argument >> partition.partition & 1})
            case "elsewhere":
                simulation.progress_elsewhere(TopicPartition(TOPIC, argument))
    simulation.settle()
    for log in keys.values():
        log.append("a")  # what another worker finished last is dropped when a later record comes
    simulation.settle()
    for partition, log in keys.items():
        for key in set(log):
            expected = [offset for offset, each in enumerate(log) if each == key]
            written = [offset for _, offset in simulation.written[f"{partition}/{(partition, key)}"]]
            assert sorted(set(written)) == expected, "lost"
            firsts = list(dict.fromkeys(written))
            assert firsts == expected, "out of order"
    assert simulation.scheduler.in_flight == simulation.scheduler.loaded == len(simulation.running) == 0


def test_record_another_worker_finished_does_not_block_its_key() -> None:
    scheduler: Scheduler[str] = Scheduler(slots=4, tenant_share=1.0, max_in_flight=100, max_span=100)
    scheduler.assign({PARTITION}, 1)
    scheduler.deliver(PARTITION, 5, key="k", tenant="t", record="slow")
    slow = scheduler.start_next(0.0)
    assert slow is not None
    for ours, generation in ((set(), 2), ({PARTITION}, 3)):
        scheduler.revoke()
        scheduler.assign(ours, generation)
    scheduler.deliver(PARTITION, 6, key="k", tenant="t", record="next")
    entry = scheduler.start_next(1.0)
    assert entry is not None
    assert entry.offset == 6
    assert not scheduler.on_computed(slow, 90.0)
    assert scheduler.on_computed(entry, 91.0)
    assert scheduler.next_offset(PARTITION, [entry]) == 7
    scheduler.on_written(entry)
    assert scheduler.in_flight == scheduler.running == 0


def test_slow_head_delays_the_offset_but_not_other_records() -> None:
    scheduler: Scheduler[int] = Scheduler(slots=4, tenant_share=1.0, max_in_flight=100, max_span=100)
    scheduler.assign({PARTITION}, 1)
    for offset in range(8):
        scheduler.deliver(PARTITION, offset, key=offset, tenant="t", record=offset)
    head = scheduler.start_next(0.0)
    assert head is not None
    assert head.offset == 0
    for _ in range(7):
        entry = scheduler.start_next(0.0)
        assert entry is not None
        scheduler.on_computed(entry, 1.0)
        assert scheduler.next_offset(PARTITION, [entry]) is None
        scheduler.on_written(entry)
    scheduler.on_computed(head, 6.0)
    assert scheduler.next_offset(PARTITION, [head]) == 8
    scheduler.on_written(head)
    assert scheduler.in_flight == 0


def test_one_tenants_flood_leaves_slots_to_others() -> None:
    scheduler: Scheduler[str] = Scheduler(slots=8, tenant_share=0.5, max_in_flight=1000, max_span=1000)
    scheduler.assign({PARTITION}, 1)
    for offset in range(500):
        scheduler.deliver(PARTITION, offset, key=offset, tenant="flood", record="flood")
    running = []
    while (entry := scheduler.start_next(0.0)) is not None:
        running.append(entry)
    assert len(running) == 4
    scheduler.deliver(PARTITION, 500, key=500, tenant="small", record="small")
    entry = scheduler.start_next(0.0)
    assert entry is not None
    assert entry.tenant == "small"


def test_two_tenants_floods_leave_a_slot_to_others() -> None:
    scheduler: Scheduler[str] = Scheduler(slots=8, tenant_share=0.5, max_in_flight=1000, max_span=1000)
    scheduler.assign({PARTITION}, 1)
    for offset in range(100):
        scheduler.deliver(PARTITION, offset, key=offset, tenant=("flood", "deluge")[offset % 2], record="flood")
    running = []
    while (entry := scheduler.start_next(0.0)) is not None:
        running.append(entry.tenant)
    assert sorted(running) == ["deluge"] * 3 + ["flood"] * 4 or sorted(running) == ["deluge"] * 4 + ["flood"] * 3
    scheduler.deliver(PARTITION, 100, key=100, tenant="small", record="small")
    entry = scheduler.start_next(0.0)
    assert entry is not None
    assert entry.tenant == "small"
    assert scheduler.running == 8


def test_a_record_after_a_flood_starts_next() -> None:
    loaded = set(range(2001))
    scheduler: Scheduler[int] = Scheduler(slots=8, tenant_share=0.5, max_in_flight=100, max_span=5000, evict=loaded.remove)
    scheduler.assign({PARTITION}, 1)
    for offset in range(2000):
        assert (scheduler.free_span(PARTITION) or 0) > 0
        scheduler.deliver(PARTITION, offset, key=offset, tenant="flood", record=offset)
    while scheduler.start_next(0.0) is not None:
        pass
    assert (scheduler.free_span(PARTITION) or 0) > 0
    scheduler.deliver(PARTITION, 2000, key="k", tenant="small", record=2000)
    assert loaded == set(range(100))
    entry = scheduler.start_next(0.0)
    assert entry is not None
    assert (entry.record, scheduler.loaded) == (2000, 101)


def test_written_record_is_evicted_before_its_offset_is_committed() -> None:
    loaded = {0, 1}
    scheduler: Scheduler[int] = Scheduler(slots=4, tenant_share=1.0, max_in_flight=100, max_span=100, evict=loaded.remove)
    scheduler.assign({PARTITION}, 1)
    for offset in loaded.copy():
        scheduler.deliver(PARTITION, offset, key=offset, tenant="t", record=offset)
    slow, quick = scheduler.start_next(0.0), scheduler.start_next(0.0)
    assert slow is not None
    assert quick is not None
    scheduler.on_computed(quick, 1.0)
    scheduler.on_written(quick)
    assert loaded == {0}
    assert (scheduler.in_flight, scheduler.loaded) == (2, 1)


def test_slots_are_shared_by_weight() -> None:
    weights = {"heavy": 3.0, "light": 1.0}
    scheduler: Scheduler[str] = Scheduler(slots=1, tenant_share=1.0, max_in_flight=1000, max_span=1000, weight_of=weights.__getitem__)
    scheduler.assign({PARTITION}, 1)
    for offset in range(400):
        tenant = "heavy" if offset % 2 else "light"
        scheduler.deliver(PARTITION, offset, key=offset, tenant=tenant, record=tenant)
    served: dict[str, int] = defaultdict(int)
    for second in range(200):
        entry = scheduler.start_next(float(second))
        assert entry is not None
        served[entry.tenant] += 1
        scheduler.on_computed(entry, second + 1.0)
        scheduler.on_written(entry)
    assert 145 <= served["heavy"] <= 155


def test_deferred_record_blocks_its_key_but_no_slot() -> None:
    scheduler: Scheduler[int] = Scheduler(slots=1, tenant_share=1.0, max_in_flight=10, max_span=10)
    scheduler.assign({PARTITION}, 1)
    for offset, key in enumerate("aab"):
        scheduler.deliver(PARTITION, offset, key=key, tenant="t", record=offset)
    failed = scheduler.start_next(0.0)
    assert failed is not None
    scheduler.free_slot(failed, 1.0)
    other = scheduler.start_next(1.0)
    assert other is not None
    assert other.key == "b"
    assert scheduler.start_next(1.0) is None
    scheduler.on_computed(other, 2.0)
    scheduler.on_written(other)
    scheduler.requeue(failed)
    assert scheduler.start_next(2.0) is failed


def test_replayed_record_is_parked_while_its_parked_copy_runs() -> None:
    scheduler: Scheduler[str] = Scheduler(slots=1, tenant_share=1.0, max_in_flight=10, max_span=10)
    scheduler.assign({PARTITION}, 1)
    scheduler.unpark(PARTITION, 0, key="a", tenant="t", record="parked")
    scheduler.deliver(PARTITION, 0, key="a", tenant="t", record="replayed")
    running = scheduler.start_next(0.0)
    assert running is not None
    assert running.record == "parked"
    assert [each.record for each in scheduler.park_waiting(partition=PARTITION)] == ["replayed"]
    assert scheduler.park_waiting(partition=PARTITION) == []


def test_resumed_tenant_cannot_claim_missed_slots() -> None:
    scheduler: Scheduler[str] = Scheduler(slots=1, tenant_share=1.0, max_in_flight=1000, max_span=1000)
    scheduler.assign({PARTITION}, 1)
    for offset in range(300):
        tenant = ("paused", "also paused", "steady")[offset % 3]
        scheduler.deliver(PARTITION, offset, key=offset, tenant=tenant, record=tenant)
    now = 0.0

    def work() -> str:
        nonlocal now
        entry = scheduler.start_next(now)
        assert entry is not None
        now += 10.0
        assert scheduler.on_computed(entry, now)
        return entry.tenant

    paused = {work() for _ in range(3)} - {"steady"}
    for tenant in paused:
        scheduler.pause_tenant(tenant)
    assert {work() for _ in range(50)} == {"steady"}
    for tenant in paused:
        scheduler.resume_tenant(tenant)
    assert "steady" in {work() for _ in range(5)}


def test_start_looks_only_at_tenants_with_queued_records() -> None:
    scheduler: Scheduler[int] = Scheduler(slots=1, tenant_share=1.0, max_in_flight=10, max_span=10)
    scheduler.assign({PARTITION}, 1)
    for offset in range(50_000):
        scheduler.deliver(PARTITION, offset, key=offset, tenant=f"tenant {offset}", record=offset)
        entry = scheduler.start_next(float(offset))
        assert entry is not None
        assert scheduler.on_computed(entry, offset + 0.5)
        assert scheduler.next_offset(PARTITION, [entry]) == offset + 1
        scheduler.on_written(entry)
