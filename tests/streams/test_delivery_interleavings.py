"""Drives the delivery rules through random interleavings of deliveries, work, failures, rebalances and redeliveries.

The simulated broker redelivers from the committed offset after every rebalance, as Kafka does; while a partition is not ours, another
worker may get on with it. Whatever happens, at the end every record was worked on to its end, records of one key in their order, and no
offset was committed before all records under it were done.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streams.delivery.entry import Entry, Place
from streams.delivery.scheduler import Scheduler

PARTITIONS = 3
TOPIC = "windows"


@dataclass(slots=True, eq=False)
class Copy:
    """One delivery of a record."""

    place: Place
    offset: int
    generation: int
    is_whole: bool = True

    def evict(self) -> None:
        self.is_whole = False


@dataclass
class World:
    """A broker, a worker that obeys the scheduler, and a watcher."""

    keys: dict[Place, list[str]]
    tenants: dict[str, str]
    slots: int
    max_span: int
    max_in_flight: int
    scheduler: Scheduler[Copy] = field(init=False)
    generation: int = 0
    committed: dict[Place, int] = field(default_factory=lambda: defaultdict(int))
    cursor: dict[Place, int] = field(default_factory=dict)
    running: list[Entry[Copy]] = field(default_factory=list)
    writing: list[Entry[Copy]] = field(default_factory=list)
    on_hold: set[str] = field(default_factory=set)
    paused: list[Entry[Copy]] = field(default_factory=list)
    written: dict[str, list[tuple[Place, int]]] = field(default_factory=lambda: defaultdict(list))
    now: float = 0.0

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(
            slots=self.slots, tenant_share=0.5, max_in_flight=self.max_in_flight, max_span=self.max_span, evict=Copy.evict
        )
        self.rebalance(set(self.keys))

    def rebalance(self, ours: set[Place]) -> None:
        self.generation += 1
        self.scheduler.revoke()
        self.scheduler.assign(ours, self.generation)
        self.cursor = {place: self.committed[place] for place in ours}

    def elsewhere(self, place: Place) -> None:
        """Another worker handles the next record of a partition that is not ours, and commits it."""
        offset = self.committed[place]
        if place in self.cursor or offset >= len(self.keys[place]):
            return
        self.written[f"{place}/{(place, self.keys[place][offset])}"].append((place, offset))
        self.committed[place] = offset + 1

    def deliver(self, place: Place) -> None:
        offset = self.cursor.get(place)
        if offset is None or offset >= len(self.keys[place]) or (self.scheduler.room(place) or 0) <= 0:
            return
        self.cursor[place] = offset + 1
        key = self.keys[place][offset]
        finished = self.scheduler.deliver(place, offset, (place, key), self.tenants[key], Copy(place, offset, self.generation))
        if finished is not None:
            assert finished not in self.writing, "two writers of one record"
            self.writing.append(finished)

    def start(self) -> None:
        entry = self.scheduler.start(self.now)
        if entry is not None:
            assert len(self.running) < self.slots
            assert entry.tenant not in self.on_hold
            rivals = [other for other in self.running if (other.place, other.key) == (entry.place, entry.key)]
            assert not any(map(self.scheduler.holds, rivals)), "two of one key at once"
            self.running.append(entry)
            entry.record.is_whole = True

    def finish(self, index: int) -> None:
        if self.running:
            self.now += 1.0
            entry = self.running.pop(index % len(self.running))
            if self.scheduler.computed(entry, self.now):
                self.writing.append(entry)

    def fail(self, index: int) -> None:
        if self.running:
            self.now += 1.0
            entry = self.running.pop(index % len(self.running))
            self.scheduler.pause(entry, self.now)
            self.paused.append(entry)

    def wait(self, index: int) -> None:
        """A record's tenant has to wait: it is in line again at once, and nothing of the tenant is started."""
        if self.running:
            self.now += 1.0
            entry = self.running.pop(index % len(self.running))
            self.scheduler.pause(entry, self.now)
            self.scheduler.resume(entry)
            self.scheduler.hold(entry.tenant)
            self.on_hold.add(entry.tenant)

    def release(self) -> None:
        while self.on_hold:
            self.scheduler.release(self.on_hold.pop())

    def try_again(self, index: int) -> None:
        if self.paused:
            self.scheduler.resume(self.paused.pop(index % len(self.paused)))

    def write(self, index: int) -> None:
        """A writer gets on: its outputs become durable, or it sees that the partition was taken away."""
        if not self.writing:
            return
        entry = self.writing.pop(index % len(self.writing))
        if not self.scheduler.may_write(entry):
            self.scheduler.unwritten(entry)
            return
        assert entry.record.generation == self.generation, "written under an old assignment"
        assert entry.record.is_whole, "its contents were let go, and not read again"
        self.written[f"{entry.place}/{entry.key}"].append((entry.place, entry.offset))
        for released in self.scheduler.done(entry):
            assert released.generation == self.generation
            assert released.offset == self.committed[released.place], "acknowledged out of order"
            self.committed[released.place] = released.offset + 1

    def settle(self) -> None:
        self.rebalance(set(self.keys))
        for _ in range(10_000):
            if all(self.committed[place] == len(keys) for place, keys in self.keys.items()) and not self.running:
                return
            for place in self.keys:
                self.deliver(place)
            self.start()
            self.finish(0)
            self.try_again(0)
            self.release()
            self.write(0)
        raise AssertionError(f"stuck: {dict(self.committed)}, {self.scheduler.in_flight} in flight")


STEPS = st.one_of(
    st.tuples(st.just("deliver"), st.integers(0, PARTITIONS - 1)),
    st.tuples(st.just("deliver"), st.integers(0, PARTITIONS - 1)),
    st.tuples(st.just("start"), st.just(0)),
    st.tuples(st.just("finish"), st.integers(0, 7)),
    st.tuples(st.just("write"), st.integers(0, 7)),
    st.tuples(st.just("fail"), st.integers(0, 7)),
    st.tuples(st.just("try again"), st.integers(0, 7)),
    st.tuples(st.just("wait"), st.integers(0, 7)),
    st.tuples(st.just("release"), st.just(0)),
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
    keys = {(TOPIC, number): log for number, log in enumerate(logs)}
    world = World(
        keys=keys,
        tenants={key: "xy"[index % 2] for index, key in enumerate("abcdef")},
        slots=slots,
        max_span=max_span,
        max_in_flight=max_in_flight,
    )
    for action, argument in steps:
        match action:
            case "deliver":
                world.deliver((TOPIC, argument))
            case "start":
                world.start()
            case "finish":
                world.finish(argument)
            case "write":
                world.write(argument)
            case "fail":
                world.fail(argument)
            case "try again":
                world.try_again(argument)
            case "wait":
                world.wait(argument)
            case "release":
                world.release()
            case "rebalance":
                world.rebalance({place for place in keys if argument >> place[1] & 1})
            case "elsewhere":
                world.elsewhere((TOPIC, argument))
    world.settle()
    for log in keys.values():
        log.append("a")  # what another worker finished last is given up when a later record comes
    world.settle()
    for place, log in keys.items():
        for key in set(log):
            expected = [offset for offset, each in enumerate(log) if each == key]
            written = [offset for _, offset in world.written[f"{place}/{(place, key)}"]]
            assert sorted(set(written)) == expected, "lost"
            firsts = list(dict.fromkeys(written))
            assert firsts == expected, "out of order"
    assert world.scheduler.in_flight == world.scheduler.in_hand == len(world.running) == 0


def test_a_record_that_another_worker_finished_meanwhile_does_not_block_its_key() -> None:
    scheduler: Scheduler[str] = Scheduler(slots=4, tenant_share=1.0, max_in_flight=100, max_span=100)
    place = (TOPIC, 0)
    scheduler.assign({place}, 1)
    scheduler.deliver(place, 5, "k", "t", "slow")
    slow = scheduler.start(0.0)
    assert slow is not None
    for ours, generation in ((set(), 2), ({place}, 3)):
        scheduler.revoke()
        scheduler.assign(ours, generation)
    scheduler.deliver(place, 6, "k", "t", "next")
    entry = scheduler.start(1.0)
    assert entry is not None
    assert entry.offset == 6
    assert not scheduler.computed(slow, 90.0)
    assert scheduler.computed(entry, 91.0)
    assert scheduler.done(entry) == ["next"]
    assert scheduler.in_flight == scheduler.running == 0


def test_a_slow_head_holds_acknowledgements_but_not_its_neighbours() -> None:
    scheduler: Scheduler[int] = Scheduler(slots=4, tenant_share=1.0, max_in_flight=100, max_span=100)
    place = (TOPIC, 0)
    scheduler.assign({place}, 1)
    for offset in range(8):
        scheduler.deliver(place, offset, offset, "t", offset)
    head = scheduler.start(0.0)
    assert head is not None
    assert head.offset == 0
    for _ in range(7):
        entry = scheduler.start(0.0)
        assert entry is not None
        scheduler.computed(entry, 1.0)
        assert scheduler.done(entry) == []
    scheduler.computed(head, 6.0)
    assert scheduler.done(head) == list(range(8))


def test_one_tenants_flood_leaves_slots_to_others() -> None:
    scheduler: Scheduler[str] = Scheduler(slots=8, tenant_share=0.5, max_in_flight=1000, max_span=1000)
    place = (TOPIC, 0)
    scheduler.assign({place}, 1)
    for offset in range(500):
        scheduler.deliver(place, offset, offset, "flood", "flood")
    running = []
    while (entry := scheduler.start(0.0)) is not None:
        running.append(entry)
    assert len(running) == 4
    scheduler.deliver(place, 500, 500, "small", "small")
    entry = scheduler.start(0.0)
    assert entry is not None
    assert entry.tenant == "small"


def test_a_record_behind_a_flood_is_seen_and_served_next_though_no_more_contents_are_held() -> None:
    held = set(range(2001))
    scheduler: Scheduler[int] = Scheduler(slots=8, tenant_share=0.5, max_in_flight=100, max_span=5000, evict=held.remove)
    place = (TOPIC, 0)
    scheduler.assign({place}, 1)
    for offset in range(2000):
        assert (scheduler.room(place) or 0) > 0
        scheduler.deliver(place, offset, offset, "flood", offset)
    while scheduler.start(0.0) is not None:
        pass
    assert (scheduler.room(place) or 0) > 0
    scheduler.deliver(place, 2000, "k", "small", 2000)
    assert held == set(range(100))
    entry = scheduler.start(0.0)
    assert entry is not None
    assert (entry.record, scheduler.in_hand) == (2000, 101)


def test_what_is_done_is_not_held_until_it_is_acknowledged() -> None:
    held = {0, 1}
    scheduler: Scheduler[int] = Scheduler(slots=4, tenant_share=1.0, max_in_flight=100, max_span=100, evict=held.remove)
    place = (TOPIC, 0)
    scheduler.assign({place}, 1)
    for offset in held.copy():
        scheduler.deliver(place, offset, offset, "t", offset)
    slow, quick = scheduler.start(0.0), scheduler.start(0.0)
    assert slow is not None
    assert quick is not None
    scheduler.computed(quick, 1.0)
    assert scheduler.done(quick) == []
    assert held == {0}
    assert (scheduler.in_flight, scheduler.in_hand) == (2, 1)


def test_slots_are_shared_by_weight() -> None:
    weights = {"heavy": 3.0, "light": 1.0}
    scheduler: Scheduler[str] = Scheduler(slots=1, tenant_share=1.0, max_in_flight=1000, max_span=1000, weight_of=weights.__getitem__)
    place = (TOPIC, 0)
    scheduler.assign({place}, 1)
    for offset in range(400):
        tenant = "heavy" if offset % 2 else "light"
        scheduler.deliver(place, offset, offset, tenant, tenant)
    served: dict[str, int] = defaultdict(int)
    for second in range(200):
        entry = scheduler.start(float(second))
        assert entry is not None
        served[entry.tenant] += 1
        scheduler.computed(entry, second + 1.0)
        scheduler.done(entry)
    assert 145 <= served["heavy"] <= 155


def test_a_record_that_waits_for_its_next_try_holds_its_key_but_no_slot() -> None:
    scheduler: Scheduler[int] = Scheduler(slots=1, tenant_share=1.0, max_in_flight=10, max_span=10)
    place = (TOPIC, 0)
    scheduler.assign({place}, 1)
    for offset, key in enumerate("aab"):
        scheduler.deliver(place, offset, key, "t", offset)
    failed = scheduler.start(0.0)
    assert failed is not None
    scheduler.pause(failed, 1.0)
    other = scheduler.start(1.0)
    assert other is not None
    assert other.key == "b"
    assert scheduler.start(1.0) is None
    scheduler.computed(other, 2.0)
    assert scheduler.done(other) == []
    scheduler.resume(failed)
    assert scheduler.start(2.0) is failed


def test_a_tenant_that_was_held_has_no_claim_to_what_others_got_meanwhile() -> None:
    scheduler: Scheduler[str] = Scheduler(slots=1, tenant_share=1.0, max_in_flight=1000, max_span=1000)
    scheduler.assign({(TOPIC, 0)}, 1)
    for offset in range(300):
        tenant = ("held", "also held", "steady")[offset % 3]
        scheduler.deliver((TOPIC, 0), offset, offset, tenant, tenant)
    now = 0.0

    def work() -> str:
        nonlocal now
        entry = scheduler.start(now)
        assert entry is not None
        now += 10.0
        assert scheduler.computed(entry, now)
        return entry.tenant

    held = {work() for _ in range(3)} - {"steady"}
    for tenant in held:
        scheduler.hold(tenant)
    assert {work() for _ in range(50)} == {"steady"}
    for tenant in held:
        scheduler.release(tenant)
    assert "steady" in {work() for _ in range(5)}


def test_of_many_tenants_only_those_in_line_are_looked_at() -> None:
    scheduler: Scheduler[int] = Scheduler(slots=1, tenant_share=1.0, max_in_flight=10, max_span=10)
    scheduler.assign({(TOPIC, 0)}, 1)
    for offset in range(50_000):
        scheduler.deliver((TOPIC, 0), offset, offset, f"tenant {offset}", offset)
        entry = scheduler.start(float(offset))
        assert entry is not None
        assert scheduler.computed(entry, offset + 0.5)
        assert scheduler.done(entry) == [offset]
