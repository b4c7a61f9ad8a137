"""Edits of AGENT's block by outside agents: their results, undo, and what a rebuild and the model make of them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.records import Change, Contribution, TextEdit
from operators.agent.edits import MAX_EDIT, MAX_KEPT, MAX_LISTED, UNDO, change_value
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, to_bytes
from operators.entities.render import render
from operators.llm.merging import apply_outcome, outcomes_of
from tests.operators.agent.user_block import FINISH, START, Block, append, rows
from tests.streams.agent_remarks import BLOCK, calls

AT = "2026-11-27T12:00:00Z"


class EditedBlock(Block):
    """A block that outside agents edit, too."""

    def __init__(self, *, has_llm: bool = False, **parameters: Any) -> None:
        super().__init__(has_llm=has_llm, **parameters)
        self.given: list[Contribution] = []
        self.edits = 0

    def contribute(self, *changes: Change) -> None:
        self.position += 1
        made = Contribution(
            tenant="acme",
            entity_type="core_memory",
            entity_key="ann",
            source="extractions/0",
            position=self.position,
            changes=[*changes],
            time=START,
        )
        self.given.append(made)
        self.state = apply_contribution(self.state, made, self.kind).state
        self.settle()

    def say(self, *texts: str, op: Any = "apply") -> None:
        self.contribute(*(Change(op=op, property=BLOCK, source_id=each, value=each, event_time=START) for each in texts))

    def edit(self, tool: str, by: str = "planner (k1)", **arguments: Any) -> str:
        """Makes an edit; returns its id."""
        self.edits += 1
        name = f"edit-{self.edits}"
        value = change_value(tool, by=by, time=AT, **arguments)
        self.contribute(
            Change(op="apply", property=BLOCK, source_id=name, value=value, event_time=START, is_update=True if tool == UNDO else None)
        )
        return name

    def result(self, name: str) -> TextEdit:
        assert self.state is not None
        written = (render(self.state, self.kind, "acme", "ann").written or {})[BLOCK]
        return next(each for each in written.edits or () if each.id == name)

    def rebuilt(self) -> EntityState | None:
        """The entity after a rebuild: the newest outcome first, then everything from the log."""
        assert self.state is not None
        state: EntityState | None = None
        for merged in outcomes_of(self.state, self.kind):
            state = apply_outcome(state, merged, self.kind, "").state
        for each in self.given:
            state = apply_contribution(state, each, self.kind).state
        return state


def test_edits_change_the_block_and_name_their_author() -> None:
    block = EditedBlock()
    first = block.edit("append", text="Lives in Oslo.\nHas a cat.")
    block.edit("insert", line=2, text="Works at night.")
    block.edit("replace", old="Oslo", text="Bergen", by="other (k2)")
    assert block.text == "Lives in Bergen.\nWorks at night.\nHas a cat."
    made = block.result(first)
    assert (made.by, made.time, made.tool, made.status, made.undoable) == ("planner (k1)", AT, "append", "applied", True)


def test_the_second_replacement_of_a_text_conflicts() -> None:
    block = EditedBlock()
    block.edit("append", text="Lives in Oslo.")
    first, second = block.edit("replace", old="Oslo", text="Bergen"), block.edit("replace", old="Oslo", text="Rome")
    assert block.text == "Lives in Bergen."
    assert [block.result(each).status for each in (first, second)] == ["applied", "conflict"]
    assert "is not in the block" in block.result(second).detail


def test_an_edit_of_an_outdated_version_conflicts() -> None:
    block = EditedBlock()
    block.edit("append", text="a", version=0)
    late = block.edit("append", text="b", version=0)
    assert (block.text, block.result(late).status) == ("a", "conflict")
    assert "version 1, not 0" in block.result(late).detail


def test_a_block_that_is_full_takes_nothing() -> None:
    block = EditedBlock(Characters=200)
    block.edit("append", text="x" * 150)
    full = block.edit("append", text="y" * 60)
    assert (len(block.text or ""), block.result(full).status) == (150, "conflict")
    assert "its limit is 200" in block.result(full).detail


def test_undo_restores_the_edited_text() -> None:
    block = EditedBlock()
    names = [block.edit("append", text="a\nb"), block.edit("replace", old="a", text=""), block.edit("insert", line=1, text="c")]
    assert block.text == "c\nb"
    undo = block.edit(UNDO, edit=names[1], by="other (k2)")
    assert block.text == "c\na\nb"
    made = block.result(names[1])
    assert (made.status, made.undo, made.undone_by, made.undoable) == ("undone", undo, "other (k2)", False)
    block.edit(UNDO, edit=names[1])
    assert block.text == "c\na\nb", "it is undone once"


def test_undo_after_the_model_wrote_takes_only_the_edit() -> None:
    block = EditedBlock(has_llm=True)
    edit = block.edit("append", text="Prefers tea.")
    block.say("I live in Oslo.")
    block.answer(calls(append("Lives in Oslo."), FINISH))
    assert block.text == "Prefers tea.\nLives in Oslo."
    block.edit(UNDO, edit=edit)
    assert block.text == "Lives in Oslo."


def test_undo_is_refused_after_a_later_change() -> None:
    block = EditedBlock(has_llm=True)
    edit = block.edit("append", text="Prefers tea.")
    block.say("I prefer coffee.")
    block.answer(calls({"tool": "replace", "old": "tea", "text": "coffee"}, FINISH))
    block.edit(UNDO, edit=edit)
    assert block.text == "Prefers coffee."
    assert (block.result(edit).status, "not undone" in block.result(edit).detail) == ("applied", True)


def test_the_model_sees_edits_and_keeps_them() -> None:
    block = EditedBlock(has_llm=True)
    block.say("I live in Oslo.")
    block.edit("append", text="Prefers tea.")
    block.answer(calls(append("Lives in Oslo."), FINISH))
    assert block.text == "Prefers tea.", "the answer does not know the edit"
    [question] = block.questions
    assert question.content["text"] == "Prefers tea."
    block.answer(calls(append("Lives in Oslo."), FINISH))
    assert block.text == "Prefers tea.\nLives in Oslo."


@pytest.mark.parametrize("has_llm", [False, True])
def test_a_retraction_of_all_statements_keeps_edits(has_llm: bool) -> None:
    block = EditedBlock(has_llm=True)
    block.say("I live in Oslo.")
    block.answer(calls(append("Lives in Oslo."), FINISH))
    block.edit("append", text="Prefers tea.")
    block.edit("replace", old="Oslo", text="Bergen")
    block.has_llm = has_llm
    block.say("I live in Oslo.", op="retract")
    assert block.text == "Prefers tea.\nBergen", "the replaced text was removed, and the agent's own text stays"


def test_a_retracted_statement_is_asked_again_with_edits() -> None:
    block = EditedBlock(has_llm=True)
    block.say("I live in Oslo.", "I have a cat.")
    block.answer(calls(append("Lives in Oslo."), append("Has a cat."), FINISH))
    block.edit("append", text="Prefers tea.")
    block.say("I have a cat.", op="retract")
    assert block.text == "Prefers tea."
    block.answer(calls(append("Lives in Oslo."), FINISH))
    assert block.text == "Prefers tea.\nLives in Oslo."


def test_old_edits_stay_in_the_block() -> None:
    block = EditedBlock()
    names = [block.edit("append", text=f"Fact {number}.") for number in range(MAX_LISTED + 5)]
    assert block.text == "\n".join(f"Fact {number}." for number in range(MAX_LISTED + 5))
    assert sum(block.result(each).undoable for each in names[5:]) == MAX_KEPT
    assert block.state is not None
    assert len(block.state.properties[BLOCK][1]["base"]["edits"]) == MAX_LISTED


@pytest.mark.parametrize(
    "value", [{"edit": {}}, {"edit": {"tool": "drop"}}, {"edit": {"tool": "append", "text": "x" * (MAX_EDIT + 1)}}, {}]
)
def test_malformed_edits_are_refused(value: Any) -> None:
    block = EditedBlock()
    block.edit("append", text="a")
    block.contribute(Change(op="apply", property=BLOCK, source_id="e", value=value, event_time=START))
    assert block.text == "a"


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 4)),
        st.tuples(st.just("retract"), st.integers(0, 4)),
        st.tuples(st.just("append"), st.integers(0, 9)),
        st.tuples(st.just("replace"), st.integers(0, 9)),
        st.tuples(st.just("undo"), st.integers(1, 12)),
        st.tuples(st.just("answer"), st.just(0)),
    ),
    max_size=25,
)


@given(steps=_STEPS, has_llm=st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_rebuild_gives_the_same_bytes(steps: list[tuple[str, int]], has_llm: bool) -> None:
    block = EditedBlock(has_llm=has_llm, Characters=200)
    said: set[int] = set()
    for step, number in steps:
        if step == "say" and number not in said:
            said.add(number)
            block.say(f"Fact {number}.")
        elif step == "retract" and number in said:
            said.remove(number)
            block.say(f"Fact {number}.", op="retract")
        elif step == "append":
            block.edit("append", text=f"Edit {number}.")
        elif step == "replace":
            block.edit("replace", old=f"Edit {number}.", text=f"Edited {number}.")
        elif step == "undo":
            block.edit(UNDO, edit=f"edit-{number}")
        elif step == "answer" and block.questions:
            added = [append(str(each[1])) for each in rows(block.questions[0], "added")]
            block.answer(calls(*added, FINISH))
    while block.questions:
        block.answer(calls(FINISH))
    if block.state is not None:
        rebuilt = block.rebuilt()
        assert rebuilt is not None
        assert to_bytes(rebuilt) == to_bytes(block.state)
