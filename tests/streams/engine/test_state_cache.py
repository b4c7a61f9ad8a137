"""State objects in memory: the latest, as many as may weigh so much."""

from hypothesis import given
from hypothesis import strategies as st

from streams.engine.state.state_cache import StateCache

KEYS = [b"%d" % number for number in range(6)]


@given(
    steps=st.lists(st.tuples(st.sampled_from(["put", "get", "drop"]), st.sampled_from(KEYS), st.integers(0, 20_000)), max_size=60),
    max_bytes=st.integers(0, 60_000),
)
def test_least_recently_used_objects_are_evicted(steps: list[tuple[str, bytes, int]], max_bytes: int) -> None:
    cache: StateCache[int] = StateCache(max_bytes=max_bytes)
    latest: list[tuple[bytes, int]] = []
    for step, key, row_bytes in steps:
        if step == "put":
            cache.put(key, row_bytes, row_bytes=row_bytes)
            latest = [each for each in latest if each[0] != key] + [(key, row_bytes)]
            while sum(4096 + row for _, row in latest) > max_bytes and len(latest) > 1:
                latest.pop(0)
        elif step == "drop":
            cache.drop(key)
            latest = [each for each in latest if each[0] != key]
        else:
            used = [each for each in latest if each[0] == key]
            assert cache.get(key) == (used[0][1] if used else None)
            latest = [each for each in latest if each[0] != key] + used
    assert [key for key in KEYS if cache.get(key) is not None] == sorted(key for key, _ in latest)
