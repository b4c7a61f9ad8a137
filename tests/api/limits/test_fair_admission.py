"""Admission of reads: limits, shares and order, for any sequence of requests."""

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.limits.fair_admission import ACTIVE_S, LARGE_UNITS, FairAdmission, Ticket, TicketState

UNITS, SHARE, QUEUED, QUEUED_OF_TENANT = 8, 2, 12, 6

Step = tuple[str, str, int]

steps = st.lists(st.tuples(st.sampled_from(("request", "start", "end", "wait")), st.sampled_from("abc"), st.integers(1, 20)), max_size=80)


def admission(**changes: float) -> FairAdmission:
    bounds = {"units": UNITS, "tenant_share": SHARE / UNITS, "max_queued": QUEUED, "max_queued_of_tenant": QUEUED_OF_TENANT, **changes}
    return FairAdmission(**bounds)  # type: ignore[arg-type]


@dataclass
class World:
    """An admission, and what it should know."""

    core: FairAdmission = field(default_factory=admission)
    now: float = 0.0
    waiting: list[Ticket] = field(default_factory=list)
    running: list[Ticket] = field(default_factory=list)

    def request(self, tenant: str, units: int = 1, weight: float = 1.0) -> Ticket:
        ticket = self.core.request(tenant, units=units, weight=weight, now=self.now)
        if ticket.state is TicketState.QUEUED:
            self.waiting.append(ticket)
        return ticket

    def start(self) -> list[Ticket]:
        """Starts all that may start."""
        started = []
        while (ticket := self.core.start_next(self.now)) is not None:
            self.waiting.remove(ticket)
            self.running.append(ticket)
            started.append(ticket)
        return started

    def end(self, ticket: Ticket) -> None:
        self.core.end(ticket, self.now)
        (self.running if ticket in self.running else self.waiting).remove(ticket)

    def of(self, tenant: str) -> list[Ticket]:
        return [each for each in self.running if each.tenant == tenant]


def test_a_large_read_gives_way_to_others_small_ones() -> None:
    world = World(core=admission(tenant_share=1.0, units=100))
    large, other_large = world.request("a", units=LARGE_UNITS), world.request("b", units=LARGE_UNITS)
    own_small = world.request("a")
    world.start()
    assert len(world.running) == 3
    assert not world.core.gives_way(large), "its own tenant's small read, and another's large one, are no reason"
    assert world.core.gives_way(other_large)
    others = world.request("b")
    world.start()
    assert world.core.gives_way(large)
    assert not world.core.gives_way(own_small)
    world.end(others)
    world.end(own_small)
    assert not world.core.gives_way(large)
    assert not world.core.gives_way(other_large)


def test_a_read_is_large_however_few_units_there_are() -> None:
    assert admission(units=2).request("a", units=LARGE_UNITS, weight=1.0, now=0.0).is_large


def test_a_full_queue_is_known_before_a_read() -> None:
    world = World()
    for _ in range(QUEUED_OF_TENANT):
        assert not world.core.is_full_for("a")
        world.request("a")
    assert world.core.is_full_for("a")
    assert not world.core.is_full_for("b")
    world.start()
    assert not world.core.is_full_for("a")


@given(steps)
def test_bounds_hold_and_nothing_is_lost(taken: list[Step]) -> None:
    world = World()
    for step, tenant, number in taken:
        match step:
            case "request":
                full = len(world.waiting) >= QUEUED or sum(each.tenant == tenant for each in world.waiting) >= QUEUED_OF_TENANT
                assert (world.request(tenant, number).state is TicketState.REFUSED) == full
            case "start":
                before = list(world.waiting)
                for ticket in world.start():
                    assert ticket == next(each for each in before if each.tenant == ticket.tenant), "a tenant's reads start in order"
                    before.remove(ticket)
                assert world.running or not world.waiting, "something runs wherever something waits"
            case "end" if world.running or world.waiting:
                world.end([*world.running, *world.waiting][number % len(world.running + world.waiting)])
            case _:
                world.now += number / 4
        assert (world.core.running, world.core.queued) == (len(world.running), len(world.waiting))
        assert world.core.units == sum(each.units for each in world.running)
        assert world.core.units <= UNITS


@given(st.lists(st.integers(1, 20), min_size=1, max_size=QUEUED_OF_TENANT))
def test_a_flood_does_not_block_another_tenants_read(flood: list[int]) -> None:
    world = World()
    world.request("quiet")
    [first] = world.start()
    for each in flood:
        world.request("flood", each)
    world.start()
    world.end(first)
    held = world.of("flood")
    assert len(held) == 1 or sum(each.units for each in held) <= SHARE
    again = world.request("quiet")
    assert world.start() == [again]


@given(st.sampled_from([1.0, 2.0, 3.0]), st.integers(1, 2), st.integers(1, 2))
def test_tenants_that_always_wait_share_by_weight(weight: float, units: int, units_of_other: int) -> None:
    world = World(core=admission(units=4, tenant_share=1.0))
    had: Counter[str] = Counter()
    for _ in range(300):
        for tenant, own_weight, own_units in (("heavy", weight, units), ("light", 1.0, units_of_other)):
            while sum(each.tenant == tenant for each in world.waiting) < QUEUED_OF_TENANT - 1:
                world.request(tenant, own_units, own_weight)
        for started in world.start():
            had[started.tenant] += started.units
        world.end(world.running[0])
    assert had["heavy"] / had["light"] == pytest.approx(weight, rel=0.15)


def test_a_full_queue_is_its_own_tenants() -> None:
    world = World(core=admission(units=1))
    for _ in range(QUEUED_OF_TENANT):
        assert world.request("flood").state is TicketState.QUEUED
    assert world.request("flood").state is TicketState.REFUSED
    for _ in range(QUEUED - QUEUED_OF_TENANT):
        assert world.request("other").state is TicketState.QUEUED
    assert world.request("third").state is TicketState.REFUSED


def test_a_single_tenant_may_use_the_whole_capacity() -> None:
    world = World()
    for _ in range(QUEUED_OF_TENANT):
        world.request("alone")
    assert len(world.start()) == QUEUED_OF_TENANT
    world.request("other")
    world.start()
    world.request("alone")
    assert world.start() == []
    for ticket in world.of("other"):
        world.end(ticket)
    world.now += ACTIVE_S
    assert [each.tenant for each in world.start()] == ["alone"]


def test_silence_earns_no_claim() -> None:
    world = World(core=admission(units=1, tenant_share=1.0))
    world.request("new")
    world.end(*world.start())
    for _ in range(50):
        world.request("busy")
        world.start()
        world.end(world.running[0])
    for _ in range(3):
        world.request("busy")
        world.request("new")
    order = []
    for _ in range(6):
        [ticket] = world.start()
        order.append(ticket.tenant)
        world.end(ticket)
    assert max(abs(order[:count].count("new") - order[:count].count("busy")) for count in range(1, 7)) <= 1


def test_a_large_read_is_eventually_admitted() -> None:
    world = World(core=admission(tenant_share=1.0))
    world.request("small")
    world.start()
    for _ in range(UNITS - 2):
        world.request("small")
        world.start()
    large = world.request("large", UNITS)
    later = [world.request("small") for _ in range(4)]
    assert world.start() == []
    while large not in world.running:
        assert set(later) <= set(world.waiting)
        world.end(world.running[0])
        world.start()


@pytest.mark.parametrize(
    "wrong", [{"units": 0}, {"tenant_share": 0.0}, {"tenant_share": 1.5}, {"max_queued": 0}, {"max_queued_of_tenant": 0}]
)
def test_bounds_below_one_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"at least 1|must be in"):
        admission(**wrong)
