"""A patch edits the fact that it was written for, and no similar one, even after its own text was removed."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from operators.errors import RefusedChangeError
from operators.patches import patch
from operators.patches.patch_edit import Patch
from operators.work import WorkBudget


def put(time: int, search: str, replace: str) -> Patch:
    return Patch(time, f"p{time}", search, replace)


def after(*patches: Patch) -> Any:
    state: Any = None
    for each in patches:
        state = patch.apply(state, each, "string")
    return state


def without(state: Any, time: int) -> Any:
    return patch.retract(state, put(time, "", "gone"), "string")


@pytest.mark.parametrize(
    ("kept", "taken", "search", "replace", "edited"),
    [
        ("Plays tennis on Monday", "Plays tennis on Friday", "Plays tennis on Friday", "Plays squash on Friday", "Plays squash on Friday"),
        ("Dog: Bella, a labrador", "Cat: Della, a siamese", "Della", "Stella", "Cat: Stella, a siamese"),
        ("Hates steak", "Likes tea", "tea", "coffee", "Likes coffee"),
        ("Has a cat named Tom", "Has a cat named Tim", "Has a catt named Tim", "Has a dog", "Has a dog"),
        ("Dentist on 2026-05-12", "Dentist on 2026-06-12", "Dentist on 2026-06-12", "", None),
    ],
)
def test_retracting_a_fact_keeps_similar_facts(kept: str, taken: str, search: str, replace: str, edited: str | None) -> None:
    state = after(put(1, "", kept), put(2, "", taken), put(3, search, replace))
    assert patch.text_of(state).splitlines() == [kept, *([edited] if edited else [])]
    back = without(state, 2)
    assert patch.text_of(back) == kept
    assert patch.text_of(patch.apply(back, put(4, "", "Likes juice"), "string")) == f"{kept}\nLikes juice"
    again = patch.apply(back, Patch(2, "again", "", taken), "string")
    assert patch.text_of(again) == patch.text_of(state), "the patch edits its text once that is there again"


def test_retracting_a_fact_keeps_replaced_facts() -> None:
    state = after(
        put(1, "", "Dentist on Monday at nine"),
        put(2, "", "Dentist on Friday at nine"),
        put(3, "Dentist on Monday at nine", "Gym on Monday"),
        put(4, "Dentist on Friday at nine", "Doctor on Friday"),
    )
    assert patch.text_of(state) == "Gym on Monday\nDoctor on Friday"
    assert patch.text_of(without(state, 2)) == "Gym on Monday", "what Monday's line was before is not what the last patch was of"


@pytest.mark.parametrize(
    ("text", "search"),
    [
        ("Dentist on 2026-05-12", "Dentist on 2026-06-12"),
        ("Room 12, second floor", "Room 13, second floor"),
        ("Room 12, second floor", "Room 1, second floor"),
        ("Likes teakwood", "Likes tea."),
        ("Overlooked", ": looked"),
    ],
)
def test_a_span_with_another_meaning_is_refused(text: str, search: str) -> None:
    state = after(put(1, "", text))
    with pytest.raises(RefusedChangeError, match="no_similar_span"):
        patch.apply(state, put(2, search, "x"), "string")


@pytest.mark.parametrize(
    ("text", "search", "left"),
    [
        ("Dentist on 2026-05-12", "dentist on 2026-05-12", "x"),
        ("Likes teakwood", "Likes tea", "xkwood"),
        ("Moved to Tromsø in May", "Moved to Tromso", "x in May"),
        ("我喜欢在早上喝绿茶和咖啡", "喜欢在早上喝红茶", "我x和咖啡"),
    ],
)
def test_a_span_with_the_same_meaning_is_edited(text: str, search: str, left: str) -> None:
    assert patch.text_of(after(put(1, "", text), put(2, search, "x"))) == left


DAYS = ("Monday", "Friday", "Sunday")
SPORTS = ("tennis", "squash", "boxing", "diving")


@given(lengths=st.lists(st.integers(1, 4), min_size=3, max_size=3), data=st.data())
def test_a_retraction_changes_only_its_own_fact(lengths: list[int], data: st.DataObject) -> None:
    """For each day there is a fact, and patches that change it; all are within a quarter of each other."""
    steps = [(day, step) for day, length in zip(DAYS, lengths, strict=True) for step in range(length)]
    order = data.draw(st.permutations(steps))
    # The steps of a day in their order, whatever comes in between.
    order = [(day, step) for place, (day, _) in enumerate(order) for step in [sum(each == day for each, _ in order[:place])]]
    state: Any = None
    for time, (day, step) in enumerate(order):
        search = f"Plays {SPORTS[step - 1]} on {day}" if step else ""
        state = patch.apply(state, put(time, search, f"Plays {SPORTS[step]} on {day}"), "string")
    taken = data.draw(st.integers(0, len(order) - 1))
    left = without(state, taken)
    lines = patch.text_of(left).splitlines() if left else []
    day, step = order[taken]
    others = {f"Plays {SPORTS[length - 1]} on {each}" for each, length in zip(DAYS, lengths, strict=True) if each != day}
    own = {f"Plays {SPORTS[step - 1]} on {day}"} if step else set()
    assert set(lines) == others | own


LINES = st.sampled_from([f"Plays {sport} on {day}" for sport in SPORTS for day in DAYS])
NEAR = st.builds(lambda line, at, letter: f"{line[:at]}{letter}{line[at + 1 :]}", LINES, st.integers(0, 20), st.sampled_from("xk 1"))
SEARCHES = st.just("") | LINES | NEAR
PAIRS = st.lists(st.tuples(SEARCHES, LINES | st.just("")), min_size=1, max_size=10)


@given(PAIRS, st.integers(0, 10), SEARCHES, LINES, st.permutations(range(10)))
def test_apply_then_retract_leaves_no_trace_of_near_searches(
    pairs: list[tuple[str, str]], time: int, search: str, put_in: str, order: list[int]
) -> None:
    state: Any = None
    for number in (each for each in order if each < len(pairs)):
        wanted, replacement = pairs[number]
        if wanted or replacement:
            state = _applied(state, put(number, wanted, replacement))
    assume(state is not None)
    one = Patch(time, "added", search, put_in)
    tried = _applied(state, one)
    assert _replayed(tried) == patch.text_of(tried)
    if tried is not state:
        assert patch.retract(tried, one, "string") == state
    for _, name, *_ in state["recent"]:
        left = patch.retract(state, Patch(0, name, "", ""), "string")
        assert left is None or _replayed(left) == patch.text_of(left)


def test_a_state_without_nearness_is_still_read() -> None:
    state = after(put(1, "", "Hates steak"), put(2, "", "Likes tea"), put(3, "tea", "coffee"))
    old = {**state, "recent": [each[:4] for each in state["recent"]]}
    grown = patch.apply(old, put(4, "coffee", "juice"), "string")
    assert [len(each) for each in grown["recent"]] == [4, 4, 4, 5]
    assert patch.text_of(grown) == "Hates steak\nLikes juice"
    assert patch.retract(grown, put(4, "", ""), "string") == old
    assert patch.text_of(without(old, 2)) == "Hates scoffeek", "it stored nothing that shows it"


def _applied(state: Any, one: Patch) -> Any:
    try:
        return patch.apply(state, one, "string")
    except RefusedChangeError:
        return state


def _replayed(state: Any) -> str:
    base, recent, _ = patch._unpack(state)
    return patch._replayed(base, recent, "string", WorkBudget()).text
