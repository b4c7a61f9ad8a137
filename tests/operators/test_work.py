"""The work of a patch is counted and bounded, and what exceeds the bound is refused with a reason: nothing here looks at a clock."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Contribution
from operators import work as work_module
from operators.entities.apply import apply_contribution, takes_long
from operators.entities.entity_state import EntityState
from operators.entities.render import render
from operators.errors import RefusedChangeError
from operators.patches import approximate_span as span_module
from operators.patches import patch
from operators.patches.approximate_span import best_approximate_span
from operators.patches.patch_edit import MAX_TEXT, Patch, edit
from operators.work import MAX_CONTRIBUTION_WORK, MAX_PATCH_WORK, WorkBudget, WorkExceededError
from tests.operators.sport import SCHEMA, change, contribution

PROFILE = SCHEMA.entity_types[3]
UNBOUNDED = 10**12
PROSE = "Lives in Paris with her sister and works as a baker; "
REPETITIVE = [
    ("a" * MAX_TEXT, "a" * 1300 + "b" + "a" * 600 + " qz wv jk."),
    ("a" * MAX_TEXT, "a" * 2000 + "b" * 100),
    ("ab" * 2000, "ba" * 900 + "x" * 100),
    ("- " * 2000, "-" * 1000 + " " * 1000),
    ("a" * 1999 + "b" + "a" * 2000, "a" * 500 + "c" + "a" * 400),
    (PROSE * 75, PROSE * 37 + "zz"),
    ("我喜欢在早上喝绿茶" * 444, PROSE * 37),
]


class CountedPasses:
    """Counts the columns that searches compute, whatever they have paid."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.columns = 0
        self._compute = span_module._distances_by_end
        monkeypatch.setattr(span_module, "_distances_by_end", self._counted)

    def _counted(self, text: str, search: str, *, anchored: bool) -> list[int]:
        self.columns += len(text)
        return self._compute(text, search, anchored=anchored)


class CountedText(str):
    """A text that counts how often something is looked for in it."""

    finds = 0

    def find(self, *arguments: Any) -> int:
        CountedText.finds += 1
        return super().find(*arguments)


def spent(text: str, search: str) -> int:
    work = WorkBudget(UNBOUNDED)
    work._in_patch = UNBOUNDED
    best_approximate_span(text, search, max_distance=len(search) // 4, work=work)
    return UNBOUNDED - work.left


def put(time: int, search: str, replace: str) -> Patch:
    return Patch(time, f"p{time}", search, replace)


def noted(*patches: dict[str, Any], position: int = 0, op: str = "apply") -> Contribution:
    changes = [change(op, "name", f"{position}-{number}", each, day=position + number / 1000) for number, each in enumerate(patches)]
    return contribution(*changes, position=position)


def text_of(state: EntityState | None) -> str:
    assert state is not None
    return str(render(state, PROFILE, "acme", "ann").properties.get("name", ""))


@pytest.mark.parametrize(("text", "search"), REPETITIVE)
def test_one_search_fits_into_the_allowance_of_a_patch(text: str, search: str) -> None:
    assert spent(text, search) <= MAX_PATCH_WORK // 2


@pytest.mark.parametrize(("text", "search"), REPETITIVE)
def test_computed_work_is_charged(text: str, search: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passes, CountedText.finds = CountedPasses(monkeypatch), 0
    paid = spent(CountedText(text), search)
    assert passes.columns > 0
    assert passes.columns * 32 + CountedText.finds * 25 <= paid


@given(st.text("ab c", max_size=200), st.text("ab c", min_size=1, max_size=60), st.integers(0, 20_000))
def test_a_search_stays_within_its_budget(text: str, search: str, limit: int) -> None:
    whole, work = WorkBudget(UNBOUNDED), WorkBudget(limit)
    expected = best_approximate_span(text, search, max_distance=len(search) // 4, work=whole)
    if UNBOUNDED - whole.left <= limit:
        assert best_approximate_span(text, search, max_distance=len(search) // 4, work=work) == expected
    else:
        with pytest.raises(WorkExceededError, match="contribution_too_costly"):
            best_approximate_span(text, search, max_distance=len(search) // 4, work=work)
    assert 0 <= work.left <= limit


def test_a_patch_that_costs_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_module, "MAX_PATCH_WORK", 60_000)
    state = patch.apply(None, put(1, "", "a" * 1999), "string")
    with pytest.raises(RefusedChangeError, match="patch_too_costly"):
        patch.apply(state, put(2, "a" * 1300 + "b" * 20, "x"), "string")
    # What is there word for word is found nearly for nothing.
    assert patch.text_of(patch.apply(state, put(2, "a" * 1900, "x"), "string")) == "x" + "a" * 99


def test_costly_patches_stay_within_their_contributions_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    """The patches of a model that is made to copy a text of few letters: 40 long SEARCH texts that do not occur."""
    passes = CountedPasses(monkeypatch)
    texts = [{"search": "", "replace": "a" * 1960 + end} for end in (" that is the first line.", " and that the second.")]
    copied = [{"search": "a" * (1300 + i) + "b" + "a" * (600 - i) + " qz wv jk.", "replace": f"x{i}"} for i in range(40)]
    applied = apply_contribution(None, noted(*texts, *copied), PROFILE)
    assert passes.columns * 32 <= MAX_CONTRIBUTION_WORK
    refused = {each.reason: each.count for each in applied.refused}
    assert refused["contribution_too_costly"] > 20
    assert sum(refused.values()) == 40
    assert all(each.what == "patch" for each in applied.refused)
    assert len(text_of(applied.state).splitlines()) == 2
    again = apply_contribution(None, noted(*texts, *copied), PROFILE)
    assert again == applied, "live and in a rebuild alike"


def test_other_changes_of_a_costly_contribution_are_applied() -> None:
    long_text = {"search": "", "replace": "a" * 1990}
    copied = [{"search": "a" * (1300 + i) + "b" * 20, "replace": "x"} for i in range(30)]
    last = {"search": "", "replace": "likes tea"}
    state = apply_contribution(None, noted(long_text, *copied, last), PROFILE).state
    assert text_of(state).splitlines()[-1] == "likes tea"
    next_one = apply_contribution(state, noted({"search": "likes tea", "replace": "likes coffee"}, position=1), PROFILE)
    assert next_one.refused == ()
    assert text_of(next_one.state).splitlines()[-1] == "likes coffee", "each contribution has its own allowance"


def test_a_retraction_is_never_refused_for_its_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    state = None
    patches = [put(1, "", "secret"), put(2, "", "likes tea a lot"), put(3, "likes tee a lot", "likes coffee a lot")]
    for each in patches:
        state = patch.apply(state, each, "string")
    without = patch.retract(state, patches[0], "string", WorkBudget(0))
    assert without is not None
    assert "secret" not in patch.text_of(without)
    assert [row[1] for row in without["recent"]] == ["p2", "p3"], "the others are kept for the next change"
    later = patch.apply(without, put(0, "", "has a cat"), "string")
    assert patch.text_of(later) == "has a cat\nlikes coffee a lot"


def test_a_late_patch_is_refused_rather_than_others_lost() -> None:
    state = None
    for each in (put(1, "", "likes tea a lot"), put(3, "likes tee a lot", "likes coffee a lot")):
        state = patch.apply(state, each, "string")
    with pytest.raises(RefusedChangeError, match="contribution_too_costly"):
        patch.apply(state, put(0, "", "has a cat"), "string", WorkBudget(400))


def test_only_possibly_long_work_is_declared_long() -> None:
    text = noted({"search": "", "replace": PROSE * 30})
    assert not takes_long(None, text, PROFILE)
    state = apply_contribution(None, text, PROFILE).state
    assert not takes_long(state, noted({"search": "Paris", "replace": "Rome"}, position=1), PROFILE)
    assert takes_long(state, noted(*[{"search": "Paris", "replace": "Rome"}] * 3, position=1), PROFILE)
    assert not takes_long(state, noted({"replace": 3}, position=1), PROFILE)


def test_a_retraction_searches_for_all_later_patches() -> None:
    removed = {"search": "", "replace": PROSE * 30}
    moves = [{"search": "Paris", "replace": "Rome"}, {"search": "Rome", "replace": "Paris"}] * 3
    state = apply_contribution(None, noted(removed, *moves), PROFILE).state
    assert takes_long(state, noted(removed, op="retract"), PROFILE)


def test_each_place_of_a_search_is_paid() -> None:
    def paid(text: str) -> int:
        work = WorkBudget(UNBOUNDED)
        work._in_patch = UNBOUNDED
        edit(text, put(1, "Tom", "Ben"), work=work)
        return UNBOUNDED - work.left

    assert paid("Tom\n" * 500) - paid("Tom\n" + "Ada\n" * 499) > 499 * 100
