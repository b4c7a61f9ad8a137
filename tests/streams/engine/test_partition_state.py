"""State of a partition: changed atomically, bounded in memory, and safe from a stale worker's late rows."""

from hypothesis import given
from hypothesis import strategies as st

from streams.engine.state.partition_state import PartitionState, StateChange, is_stale, pack, unpack
from tests.streams.harness import InMemoryRows

KEYS = [b"a", b"b", b"c", b"d"]


class NumbersCodec:
    def encode(self, state: list[int]) -> bytes:
        return ",".join(map(str, state)).encode()

    def decode(self, raw: bytes) -> list[int]:
        return [int(each) for each in raw.decode().split(",")]


def state_on(rows: InMemoryRows, *, cache_bytes: int = 10_000) -> PartitionState[list[int]]:
    return PartitionState(rows, NumbersCodec(), cache_bytes=cache_bytes)


CHANGES = st.lists(st.tuples(st.sampled_from(KEYS), st.none() | st.integers(0, 99)), max_size=5)


@given(steps=st.lists(st.tuples(CHANGES, st.booleans()), max_size=15))
def test_a_step_is_applied_completely_or_not(steps: list[tuple[list[tuple[bytes, int | None]], bool]]) -> None:
    rows = InMemoryRows()
    state = state_on(rows)
    model: dict[bytes, list[int]] = {}
    for position, (changes, commits) in enumerate(steps):
        draft = {key: list(value) for key, value in model.items()}
        for key, number in changes:
            if number is None:
                state.delete(key, position=position)
                draft.pop(key, None)
            else:
                # As handlers do: the object that get() gave is changed in place.
                numbers = state.get(key) or []
                numbers.append(number)
                state.put(key, numbers, position=position)
                draft.setdefault(key, []).append(number)
            assert {each: state.get(each) for each in KEYS if state.get(each) is not None} == draft
        if commits:
            state.commit(state.changes(), position)
            model = draft
        else:
            state.discard()
        assert {key: state.get(key) for key in KEYS if state.get(key) is not None} == model
        assert dict(state.scan()) == model
    assert dict(state_on(rows).scan()) == model, "the disk has exactly what was committed"


def test_object_changed_in_place_is_discarded_with_its_step() -> None:
    rows = InMemoryRows({b"a": pack(1, b"1")})
    state = state_on(rows)
    numbers = state.get(b"a")
    assert numbers is not None
    numbers.append(2)
    state.discard()
    assert state.get(b"a") == [1]


def test_evicted_state_is_read_again() -> None:
    rows = InMemoryRows()
    state = state_on(rows, cache_bytes=10_000)
    for number, key in enumerate(KEYS):
        state.put(key, [number], position=number)
        state.commit(state.changes(), number)
    assert state.get(b"d") == [3]
    assert state.get(b"c") == [2]
    assert rows.reads == 0
    assert state.get(b"a") == [0]
    assert rows.reads == 1


def test_rows_and_the_changelogs_offset_are_written_together() -> None:
    rows = InMemoryRows()
    state = state_on(rows)
    state.put(b"a", [1], position=7)
    state.commit(state.changes(), 41)
    assert rows.changelog_offset == 41
    assert unpack(rows.rows[b"a"]) == (7, b"1")


def test_a_step_without_changes_writes_nothing() -> None:
    rows = InMemoryRows()
    state = state_on(rows)
    state.commit(state.changes(), -1)
    assert rows.changelog_offset == -1


def test_a_deleted_key_becomes_a_tombstone() -> None:
    state = state_on(InMemoryRows({b"a": pack(1, b"1")}))
    state.delete(b"a", position=2)
    assert state.changes() == [StateChange(b"a", None)]


@given(st.integers(0, 2**62), st.integers(0, 2**62), st.binary(max_size=5), st.binary(max_size=5))
def test_only_a_row_of_a_lower_position_is_stale(late: int, stored: int, one: bytes, other: bytes) -> None:
    assert is_stale(pack(late, one), pack(stored, other)) == (late < stored)
    assert not is_stale(pack(late, one), None)
