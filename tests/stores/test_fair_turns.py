"""Order of engine calls, with call counts and scripted durations instead of measured time."""

from collections import Counter, defaultdict

from hypothesis import given
from hypothesis import strategies as st

from stores.edge.engine_scheduler import MAX_PASSED, SMALL_RECALL, FairTurns, Recall

LARGE = 1000


class Engine:
    """Makes calls in the order that turns say, each of a made-up length."""

    def __init__(self, **seconds: float) -> None:
        self._seconds = seconds
        self.turns: FairTurns[str] = FairTurns()
        self.left: dict[Recall[str], int] = {}
        self.order: list[str] = []
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def recall(self, tenant: str, candidates: int, *, calls: int) -> Recall[str]:
        recall = self.turns.recall(tenant, candidates)
        self.left[recall] = calls
        self.turns.wait(recall)
        return recall

    def call(self) -> Recall[str] | None:
        recall = self.turns.next()
        if recall is not None:
            seconds = self._seconds.get(recall.tenant, 0.002)
            self.order.append(recall.tenant)
            self.seconds[recall.tenant] += seconds
            self.turns.charge(recall, seconds)
            self.left[recall] -= 1
            if self.left[recall]:
                self.turns.wait(recall)
        return recall


def test_a_small_recall_waits_for_one_call() -> None:
    engine = Engine()
    for _ in range(100):
        engine.recall("flood", LARGE, calls=17)
    for _ in range(50):
        engine.call()
    quiet = engine.recall("quiet", 64, calls=3)
    for _ in range(3):
        engine.call()
    assert engine.order[50:] == ["quiet"] * 3
    assert not engine.left[quiet]


def test_tenants_share_the_time_whatever_their_calls_take() -> None:
    engine = Engine(long=0.004, short=0.001)
    for _ in range(50):
        engine.recall("long", LARGE, calls=20)
        engine.recall("short", LARGE, calls=20)
    while sum(engine.seconds.values()) < 1:
        engine.call()
    assert abs(engine.seconds["long"] - engine.seconds["short"]) <= 0.01
    assert engine.order.count("short") > 3 * engine.order.count("long")


def test_small_recalls_do_not_interrupt_each_other() -> None:
    engine = Engine()
    for tenant in "abc":
        engine.recall(tenant, 64, calls=3)
    for _ in range(9):
        engine.call()
    assert engine.order == [*"aaabbbccc"]


def test_small_recalls_of_one_tenant_end_in_their_order() -> None:
    engine = Engine()
    ended: list[int] = []
    recalls = [engine.recall("a", 64, calls=3) for _ in range(5)]
    while (recall := engine.call()) is not None:
        if not engine.left[recall]:
            ended.append(recall.number)
    assert ended == [each.number for each in recalls]


def test_a_large_recall_ends_among_small_ones() -> None:
    engine = Engine()
    large = engine.recall("a", LARGE, calls=5)
    for _ in range(30):
        engine.recall("a", 64, calls=1)
    for _ in range(5 * (MAX_PASSED + 1) + 5):
        engine.call()
        engine.recall("a", 64, calls=1)
    assert not engine.left[large]


def test_an_idle_tenant_saves_no_credit() -> None:
    engine = Engine()
    engine.recall("late", LARGE, calls=1)
    engine.call()
    engine.recall("busy", LARGE, calls=1000)
    for _ in range(500):
        engine.call()
    engine.recall("late", LARGE, calls=1000)
    for _ in range(100):
        engine.call()
    assert 49 <= engine.order[-100:].count("late") <= 51


def test_an_abandoned_recall_is_skipped() -> None:
    engine = Engine()
    gone, stays = engine.recall("a", 64, calls=2), engine.recall("a", 64, calls=1)
    engine.turns.withdraw(gone)
    assert engine.call() is stays
    assert engine.call() is None


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from([64, SMALL_RECALL, LARGE]), st.integers(1, 6)), max_size=40))
def test_every_call_is_made_once_and_no_state_remains(asked: list[tuple[str, int, int]]) -> None:
    engine = Engine()
    for tenant, candidates, calls in asked:
        engine.recall(tenant, candidates, calls=calls)
    while engine.call() is not None:
        pass
    assert Counter(engine.order) == sum((Counter({tenant: calls}) for tenant, _, calls in asked), Counter())
    assert len(engine.turns._queue) == 0
