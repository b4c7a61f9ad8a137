"""PATCH edits the best approximate span, refuses unrelated searches, and retracts what it applied."""

from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import RefusedChangeError
from operators.patches import patch, patch_edit
from operators.patches.patch import MAX_RECENT, MAX_RECENT_TEXT
from operators.patches.patch_edit import MAX_TEXT, Patch


def put(time: int, search: str, replace: str, name: str | None = None) -> Patch:
    return Patch(time, name or f"p{time}", search, replace)


def text_after(*patches: Patch) -> str:
    state: patch.State | None = None
    for each in patches:
        state = patch.apply(state, each, "string")
    return "" if state is None else patch.text_of(state)


def test_an_empty_search_creates_then_appends_a_line() -> None:
    assert text_after(put(1, "", "likes tea"), put(2, "", "has a cat")) == "likes tea\nhas a cat"


def test_an_existing_line_is_not_appended_again() -> None:
    assert text_after(put(1, "", "likes tea"), put(2, "", "has a cat"), put(3, "", "likes tea")) == "likes tea\nhas a cat"


def test_only_the_nearest_span_is_replaced() -> None:
    assert text_after(put(1, "", "lives in Paris\nhas a cat"), put(2, "live in Pariss", "lives in Rome")) == "lives in Rome\nhas a cat"


def test_an_empty_replacement_deletes() -> None:
    assert text_after(put(1, "", "a cat, a dog"), put(2, ", a dog", "")) == "a cat"


@pytest.mark.parametrize(("search", "left"), [("one", "two\nthree"), ("two", "one\nthree"), ("three", "one\ntwo"), ("w", "one\nto\nthree")])
def test_a_removed_line_leaves_no_blank_one(search: str, left: str) -> None:
    assert text_after(put(1, "", "one\ntwo\nthree"), put(2, search, "")) == left


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "not_a_patch"),
        ("text", "not_a_patch"),
        ({"search": "x"}, "not_a_patch"),
        ({"search": 3, "replace": "x"}, "not_a_patch"),
        ({"replace": " "}, "empty_patch"),
        ({"search": "", "replace": "x" * (MAX_TEXT + 1)}, "patch_too_long"),
    ],
)
def test_a_value_that_is_no_patch_is_refused(value: object, reason: str) -> None:
    with pytest.raises(RefusedChangeError, match=reason):
        patch.patch_of(value, time=0, source_id="p")


def test_an_unrelated_search_is_refused() -> None:
    state = patch.apply(None, put(1, "", "likes peppermint tea"), "string")
    for search in ("works in a bank", "likes coffee and cake"):
        with pytest.raises(RefusedChangeError, match="no_similar_span"):
            patch.apply(state, put(2, search, "x"), "string")
    with pytest.raises(RefusedChangeError, match="no_similar_span"):
        patch.apply(None, put(2, "likes tea", "likes coffee"), "string")


@pytest.mark.timeout(60)
def test_a_long_search_in_another_script_is_refused_quickly() -> None:
    state = patch.apply(None, put(1, "", "我喜欢在早上喝绿茶" * 444), "string")
    for length in (100, 400, MAX_TEXT):
        with pytest.raises(RefusedChangeError, match="no_similar_span"):
            patch.apply(state, put(2, ("Lives in Paris with her sister; " * 125)[:length], "x"), "string")


@pytest.mark.parametrize(("search", "found"), [("abcdefgx", True), ("abcdefxy", True), ("abcdexyz", False), ("abx", False)])
def test_a_quarter_of_the_search_may_differ(search: str, found: bool) -> None:
    state = patch.apply(None, put(1, "", "--abcdefgh--"), "string")
    if found:
        assert "new" in patch.text_of(patch.apply(state, put(2, search, "new"), "string"))
    else:
        with pytest.raises(RefusedChangeError, match="no_similar_span"):
            patch.apply(state, put(2, search, "new"), "string")


def test_the_text_is_bounded() -> None:
    state = patch.apply(None, put(1, "", "a" * MAX_TEXT), "string")
    with pytest.raises(RefusedChangeError, match="text_too_long"):
        patch.apply(state, put(2, "", "b"), "string")


def test_a_typed_text_keeps_its_type() -> None:
    state = patch.apply(None, put(1, "", "12"), "int64")
    state = patch.apply(state, put(2, "", "13"), "int64")
    assert patch_edit.value_of(patch.text_of(state), "int64") == 13
    with pytest.raises(RefusedChangeError, match="not_int64"):
        patch.apply(state, put(3, "13", "many"), "int64")
    listed = patch.apply(patch.apply(None, put(1, "", "tea"), "list<string>"), put(2, "", "cake"), "list<string>")
    assert patch_edit.value_of(patch.text_of(listed), "list<string>") == ["tea", "cake"]


def test_a_patch_is_applied_once() -> None:
    state = patch.apply(None, put(1, "", "tea"), "string")
    with pytest.raises(RefusedChangeError, match="patch_known"):
        patch.apply(state, put(1, "", "tea"), "string")


@pytest.mark.parametrize(
    ("text", "search", "after"),
    [
        ("boyfriend Tom\nbrother Tom, in Graz", "Tom", None),
        ("boyfriend Tom\nbrother Tom, in Graz", "Tom\n", "boyfriend Ben\nbrother Tom, in Graz"),
        ("boyfriend Tom\nTom", "Tom", "boyfriend Tom\nBen"),
        ("likes teapots\nlikes tea", "tea", "likes teapots\nlikes Ben"),
        ("Tom\nAda\nTom", "Tom", "Ben\nAda\nTom"),
        ("Tom, not Tom", "Tom", "Ben, not Tom"),
    ],
)
def test_a_search_in_several_lines_is_refused(text: str, search: str, after: str | None) -> None:
    replace = "Ben\n" if search.endswith("\n") else "Ben"
    if after is None:
        with pytest.raises(RefusedChangeError, match="ambiguous_search"):
            text_after(put(1, "", text), put(2, search, replace))
    else:
        assert text_after(put(1, "", text), put(2, search, replace)) == after


def test_a_late_repetition_leaves_a_patch_its_place() -> None:
    assert text_after(put(2, "", "brother Tom"), put(3, "Tom", "Ben"), put(1, "", "boyfriend Tom")).count("Ben") == 1


def test_a_late_patch_is_applied_at_its_own_time() -> None:
    early, late = put(1, "", "lives in Paris"), put(3, "Paris", "Rome")
    between = put(2, "in Paris", "near Paris")
    assert text_after(early, late, between) == text_after(early, between, late) == "lives near Rome"


def test_a_patch_is_inactive_while_its_base_is_retracted() -> None:
    first, second = put(1, "", "moved to Berlin in May"), put(2, "Berlin in May", "Bonn in June")
    state = patch.apply(patch.apply(None, first, "string"), second, "string")
    without = patch.retract(state, first, "string")
    assert without is not None
    assert patch.text_of(without) == ""
    again = patch.apply(without, put(1, "", "went to Berlin in May", name="p1b"), "string")
    assert patch.text_of(again) == "went to Bonn in June"


def test_an_unknown_patch_cannot_be_retracted() -> None:
    with pytest.raises(RefusedChangeError, match="patch_unknown"):
        patch.retract(None, put(1, "", "tea"), "string")


def test_the_oldest_patches_settle_and_stay() -> None:
    state: Any = None
    patches = [put(each, "", f"fact {each}") for each in range(MAX_RECENT + 5)]
    for each in patches:
        state = patch.apply(state, each, "string")
    assert len(state["recent"]) == MAX_RECENT
    assert patch.text_of(state) == "\n".join(f"fact {each}" for each in range(MAX_RECENT + 5))
    with pytest.raises(RefusedChangeError, match="patch_settled"):
        patch.retract(state, patches[0], "string")
    kept = patch.retract(state, patches[-1], "string")
    assert kept is not None
    assert patch.text_of(kept).endswith(f"fact {MAX_RECENT + 3}")


def test_a_settled_patch_is_removed_with_its_lines() -> None:
    state: Any = None
    patches = [put(each, "", f"fact {each}") for each in range(MAX_RECENT + 2)]
    for each in patches:
        state = patch.apply(state, each, "string")
    state = patch.remove(state, patches[0], "string")
    assert patch.text_of(state) == "\n".join(f"fact {each}" for each in range(1, MAX_RECENT + 2))
    assert len(patch.since_of(state)) == MAX_RECENT + 1
    with pytest.raises(RefusedChangeError, match="patch_settled"):
        patch.remove(state, patches[0], "string")
    for each in patches[1:]:
        state = patch.remove(state, each, "string")
    assert state is None, "in any order, nothing is left of all"


def test_a_removal_keeps_what_newer_patches_wrote() -> None:
    state: Any = patch.apply(None, put(1, "", "lives in Paris"), "string")
    state = patch.apply(state, put(2, "Paris", "Rome"), "string")
    for each in range(3, MAX_RECENT + 3):
        state = patch.apply(state, put(each, "", f"fact {each}"), "string")
    with pytest.raises(RefusedChangeError, match="patch_settled"):
        patch.remove(state, put(1, "", "lives in Paris"), "string")
    state = patch.remove(state, put(2, "Paris", "Rome"), "string")
    assert "lives in" not in patch.text_of(state)


WORDS = st.sampled_from(["likes tea", "has a cat", "lives in Rome", "runs", "bakes bread"])
PATCHES = st.lists(st.tuples(WORDS | st.just(""), WORDS | st.just("")), max_size=40)


@given(PATCHES)
def test_a_state_is_bounded_json_of_its_patches(pairs: list[tuple[str, str]]) -> None:
    state: patch.State | None = None
    text = ""
    for time, (search, replace) in enumerate(pairs):
        one = put(time, search, replace)
        try:
            state = patch.apply(state, patch.patch_of({"search": search, "replace": replace}, time=time, source_id=one.id), "string")
        except RefusedChangeError:
            continue
        # Where it is not found, it edits what stood there before.
        text = patch_edit.edit(text, one).text if search in text else patch.text_of(state)
        assert orjson.loads(orjson.dumps(state)) == state
        assert len(state["recent"]) <= MAX_RECENT
        assert sum(len(each[2]) + len(each[3]) for each in state["recent"]) <= MAX_RECENT_TEXT
        assert patch.text_of(state) == text


@given(st.lists(st.tuples(st.just(""), WORDS), max_size=MAX_RECENT - 1, unique=True), st.integers(0, 20), WORDS)
def test_apply_then_retract_is_the_identity(pairs: list[tuple[str, str]], time: int, added: str) -> None:
    state: patch.State | None = None
    for time, (search, replace) in enumerate(pairs):
        state = patch.apply(state, put(time, search, replace), "string")
    one = put(time, "", added, name="added")
    assert patch.retract(patch.apply(state, one, "string"), one, "string") == state


@given(st.permutations(range(6)))
def test_patch_order_is_by_event_time(order: list[int]) -> None:
    patches = [put(each, "", f"fact {each}") for each in range(6)]
    assert text_after(*(patches[each] for each in order)) == text_after(*patches)


LIVES = [f"job: {each}" for each in ("baker", "pilot at KLM", "nurse", "teacher", "judge", "at sea")]


@given(st.permutations(range(1, 6)), st.lists(st.integers(0, 5), min_size=5, max_size=5))
def test_the_newest_fact_wins_over_late_arrivals(order: list[int], shown: list[int]) -> None:
    """The author of each patch has seen the first fact, or a newer one that was in force before."""
    patches = {time: put(time, LIVES[min(shown[time - 1], time - 1)], LIVES[time]) for time in range(1, 6)}
    state: Any = patch.apply(None, put(0, "", f"likes tea\n{LIVES[0]}"), "string")
    known = [0]
    for time in order:
        about = min(shown[time - 1], time - 1)
        try:
            state = patch.apply(state, patches[time], "string")
        except RefusedChangeError:
            assert time < max(known) or about not in known, "only what is older, or edits what is not known"
            continue
        known.append(time)
        assert patch.text_of(state) == f"likes tea\n{LIVES[max(known)]}"
        assert patch.since_of(state) == [0, max(known)]


@given(st.permutations(range(1, 6)), st.integers(1, 5))
def test_a_late_patch_is_retracted_without_a_trace(order: list[int], taken: int) -> None:
    def state_of(times: list[int]) -> Any:
        state: Any = patch.apply(None, put(0, "", LIVES[0]), "string")
        for time in times:
            state = patch.apply(state, put(time, LIVES[0], LIVES[time]), "string")
        return state

    assert patch.retract(state_of(order), put(taken, "", ""), "string") == state_of(sorted(set(order) - {taken}))


@given(st.integers(0, MAX_RECENT + 8), st.sampled_from(["fact 3", "fact 20", "likes tea"]), st.sampled_from(["", "changed"]))
def test_settled_facts_are_safe_from_older_patches(time: int, search: str, replace: str) -> None:
    state: Any = patch.apply(None, put(0, "", "likes tea"), "string")
    for each in range(1, MAX_RECENT + 8):
        state = patch.apply(state, put(each, "", f"fact {each}"), "string")
    before = dict(zip(patch.text_of(state).splitlines(), patch.since_of(state), strict=True))
    with suppress(RefusedChangeError):
        state = patch.apply(state, put(time, search, replace, name="late"), "string")
    after = set(patch.text_of(state).splitlines())
    assert all(since <= time for line, since in before.items() if line not in after)


def test_an_older_patch_does_not_replace_a_newer_fact() -> None:
    state: Any = patch.apply(None, put(50, "", "lives in Rome"), "string")
    for each in range(MAX_RECENT + 1):
        state = patch.apply(state, put(100 + each, "", f"fact {each}"), "string")
    with pytest.raises(RefusedChangeError, match="newer_fact"):
        patch.apply(state, put(20, "lives in Rome", "lives in Paris", name="late"), "string")
    later = patch.apply(state, put(60, "lives in Rome", "lives in Bonn", name="later"), "string")
    assert patch.text_of(later).splitlines()[0] == "lives in Bonn"
    number: Any = None
    for each in range(MAX_RECENT + 2):
        number = patch.apply(number, put(100 + each, "", str(each)), "int64")
    with pytest.raises(RefusedChangeError, match="newer_fact"):
        patch.apply(number, put(20, "", "99", name="late"), "int64")


def test_patches_out_of_order_are_applied_in_order() -> None:
    state: Any = patch.apply(None, put(0, "", "lives in Paris"), "string")
    state = patch.apply(state, put(20, "Paris", "a house in Rome"), "string")
    state = patch.apply(state, put(10, "Paris", "Lyon", name="late"), "string")
    assert patch.text_of(state) == "lives in a house in Rome"
    for each in range(2 * MAX_RECENT):
        state = patch.apply(state, put(30 + each, "", f"fact {each}"), "string")
        assert patch.text_of(state).startswith("lives in a house in Rome\nfact 0")
        assert patch.since_of(state)[0] == 20
        one = put(1000, "", "for a moment", name="tried")
        assert patch.retract(patch.apply(state, one, "string"), one, "string") is not None


def test_a_correction_outranks_patches_of_the_old_value() -> None:
    state: Any = patch.apply(None, put(0, "", "lives in Paris"), "string")
    state = patch.apply(state, Patch(10, "corrected", None, "moved to Oslo"), "string")
    with pytest.raises(RefusedChangeError, match="no_similar_span"):
        patch.apply(state, put(20, "lives in Paris", "lives near Paris"), "string")
    assert patch.since_of(state) == [10]
