"""A history with a merged text is walked through at a cost that does not grow with it, and ends as the entity does."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memory.records import Contribution, Merged
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState
from operators.entities.history_state import WalkedState
from operators.entities.render import known_values
from operators.llm.merged_text import MAX_RECENT, MergedText
from operators.llm.merging import apply_outcome
from operators.registry import bind
from tests.operators.merging_log import START, STORY, entity_type, said

TYPE = entity_type(Characters=8000)


def statement(position: int, op: str = "apply", *, of: int | None = None) -> Contribution:
    """One statement, on its own day."""
    number = position if of is None else of
    return Contribution(
        tenant="acme",
        entity_type="profile",
        entity_key="ann",
        source="extractions/0",
        position=position,
        changes=said(f"e{number}", f"Statement {number}.", day=number, op=op),
        time=START,
    )


def answer(covered: int) -> Contribution:
    """A model's answer about all statements up to a position."""
    driver = bind(TYPE.properties[0], TYPE)
    assert driver is not None
    assert isinstance(driver.operator, MergedText)
    outcome: dict[str, Any] = {
        "number": 1,
        "count": covered + 1,
        "sources": {"extractions/0": [covered, []]},
        "settled": "A model's words.",
        "recent": [],
        "text": "A model's words.",
        "by": "a-model",
        "superseded": [],
        "unasked": False,
    }
    common = {"tenant": "acme", "entity_type": "profile", "entity_key": "ann", "source": "extractions/0", "position": 0, "time": START}
    return Contribution(kind="merged", merged=Merged(property=STORY, outcome=outcome), **common)


def story(state: EntityState | None) -> Any:
    return None if state is None else known_values(state, TYPE).get(STORY)


def test_waiting_statements_are_merged_on_the_way() -> None:
    walked, plain = WalkedState(None), None
    for position in range(4 * MAX_RECENT):
        walked.apply(statement(position), TYPE)
        plain = apply_contribution(plain, statement(position), TYPE).state
        assert walked.state is not None
        assert len(walked.state.properties[STORY][1]["changes"]) <= MAX_RECENT
        assert story(walked.state) == story(plain)


@given(st.integers(1, 90), st.integers(0, 89), st.integers(0, 89), st.integers(0, 90))
def test_a_replayed_answer_gives_the_original_state(total: int, covered: int, taken_back: int, before: int) -> None:
    """Whatever the rule had merged before it came, from whatever state the walk began."""
    covered, before = min(covered, total - 1), min(before, total)
    steps = [statement(position) for position in range(total)]
    if taken_back < total:
        steps.append(statement(total, "retract", of=taken_back))
    first: EntityState | None = None
    for step in steps[:before]:
        first = apply_contribution(first, step, TYPE).state
    walked, plain = WalkedState(first), first
    for step in steps[before:]:
        walked.apply(step, TYPE)
        plain = apply_contribution(plain, step, TYPE).state
    merged = answer(covered)
    assert merged.merged is not None
    walked.apply(merged, TYPE)
    assert story(walked.state) == story(apply_outcome(plain, merged.merged, TYPE, "").state)
