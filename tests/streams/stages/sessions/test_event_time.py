"""The event-time clock of a partition, and the timers that it drives."""

from hypothesis import given
from hypothesis import strategies as st

from streams.stages.clock import MOST_DUE, PartitionClock, Timers

SECOND = 1000


def clock() -> PartitionClock:
    return PartitionClock(out_of_orderness_ms=30 * SECOND, idle_ms=10 * SECOND)


def test_no_time_is_known_before_the_first_message() -> None:
    assert clock().now_ms(5) is None


def test_the_watermark_trails_the_newest_message() -> None:
    partition = clock()
    assert not partition.observe(100 * SECOND, 0)
    assert partition.now_ms(0) == 70 * SECOND
    assert not partition.observe(70 * SECOND, 1)
    assert partition.observe(70 * SECOND - 1, 1), "older than the watermark"
    assert partition.now_ms(1) == 70 * SECOND


def test_an_idle_partition_follows_the_wall_clock() -> None:
    partition = clock()
    partition.observe(100 * SECOND, 1_000_000)
    assert partition.now_ms(1_000_000 + 10 * SECOND - 1) == 70 * SECOND
    assert partition.now_ms(1_000_000 + 10 * SECOND) == 80 * SECOND
    assert partition.now_ms(1_000_000 + 500 * SECOND) == 570 * SECOND


def test_an_old_message_ends_idleness() -> None:
    partition = clock()
    partition.observe(100 * SECOND, 0)
    partition.observe(50 * SECOND, 9 * SECOND)
    assert partition.now_ms(12 * SECOND) == 70 * SECOND


def test_a_timer_moved_earlier_fires_earlier() -> None:
    timers = Timers()
    timers.set(b"a", 1800 * SECOND, 0)
    timers.set(b"a", 140 * SECOND, 0)
    assert timers.due(139 * SECOND, 100 * SECOND, silence_ms=0) == []
    assert timers.due(140 * SECOND, 100 * SECOND, silence_ms=0) == [b"a"]


def test_a_backfill_is_not_cut_by_its_neighbours() -> None:
    timers = Timers()
    timers.set(b"old", 100 * SECOND, wall_ms=0)
    assert timers.due(9999 * SECOND, 9 * SECOND, silence_ms=10 * SECOND) == []
    timers.set(b"old", 200 * SECOND, wall_ms=9 * SECOND)
    assert timers.due(9999 * SECOND, 18 * SECOND, silence_ms=10 * SECOND) == []
    assert timers.due(9999 * SECOND, 19 * SECOND, silence_ms=10 * SECOND) == [b"old"]


def test_a_timer_fires_once_until_set_again() -> None:
    timers = Timers()
    timers.set(b"a", 0, wall_ms=0)
    assert timers.due(1, 10 * SECOND, silence_ms=10 * SECOND) == [b"a"]
    assert timers.due(1, 9999 * SECOND, silence_ms=10 * SECOND) == []
    timers.set(b"a", 0, wall_ms=9999 * SECOND)
    assert timers.due(1, 10_009 * SECOND, silence_ms=10 * SECOND) == [b"a"]


def test_due_sessions_are_bounded_and_continue_next_time() -> None:
    timers = Timers()
    keys = [b"%d" % number for number in range(2 * MOST_DUE + 1)]
    for number, key in enumerate(keys):
        timers.set(key, number, wall_ms=0)
    timers.set(b"not silent", 0, wall_ms=SECOND)
    fired = [timers.due(9999 * SECOND, SECOND, silence_ms=SECOND) for _ in range(4)]
    assert [len(each) for each in fired] == [MOST_DUE, MOST_DUE, 1, 0]
    assert [key for each in fired for key in each] == keys, "those due for longest first"


MOVES = st.tuples(st.sampled_from([b"a", b"b", b"c"]), st.none() | st.integers(0, 50))


@given(st.lists(st.tuples(st.lists(MOVES, max_size=4), st.integers(0, 60)), max_size=25))
def test_exactly_the_due_sessions_are_named(rounds: list[tuple[list[tuple[bytes, int | None]], int]]) -> None:
    timers = Timers()
    due_at: dict[bytes, int] = {}
    for moves, now in rounds:
        for key, due in moves:
            if due is None:
                timers.cancel(key)
                due_at.pop(key, None)
            else:
                timers.set(key, due, wall_ms=0)
                due_at[key] = due
        expected = sorted(key for key, due in due_at.items() if due <= now)
        assert sorted(timers.due(now, 0, silence_ms=0)) == expected
        for key in expected:
            del due_at[key]
