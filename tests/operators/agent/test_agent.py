"""AGENT: bounded loops, exact retraction of recent statements, and what remains without a model."""

from typing import Any

import orjson
import pytest

from memory.errors import SchemaError
from memory.records import Merged
from memory.schema import parse_schema
from memory.schema.write import to_json
from operators.agent.tools import PAGE
from operators.entities.entity_state import to_bytes
from operators.errors import UnusableAnswerError
from operators.llm.merged_text import MAX_RECENT
from operators.llm.merging import apply_outcome, forget
from tests.operators.agent.user_block import FINISH, Block, append, rows
from tests.streams.agent_remarks import BLOCK, calls, schema


def test_a_block_grows_over_windows() -> None:
    block = Block()
    block.say("I live in Oslo.")
    assert block.text is None, "nothing is shown before the model has written it"
    block.answer(calls(append("Lives in Oslo."), FINISH))
    block.say("I moved to Bergen.")
    block.answer(calls({"tool": "replace", "old": "Oslo", "text": "Bergen"}), calls(FINISH))
    assert block.text == "Lives in Bergen."
    assert (block.outcome["steps"], block.outcome["ended"], block.outcome["by"]) == (2, "finished", "m")
    assert [each["tool"] for each in block.outcome["calls"]] == ["replace", "finish"]


def test_mistakes_are_explained_and_counted() -> None:
    block = Block(Steps=3)
    block.say("I live in Oslo.")
    loop = block.answer(
        "no call", calls({"tool": "erase"}, append("Lives in Oslo.")), calls({"tool": "replace", "old": "Rome", "text": ""})
    )
    assert (block.text, loop.ended, loop.executed, len(loop.calls)) == ("Lives in Oslo.", "steps", 1, 4)
    assert ["error" in each for each in loop.calls] == [True, True, False, True]
    assert loop.shown[1]["error"] == loop.calls[1]["error"]


def test_a_model_without_a_usable_call_changes_nothing() -> None:
    block = Block(Steps=1)
    block.say("I live in Oslo.")
    [question] = block.questions
    with pytest.raises(UnusableAnswerError, match="no tool call"):
        block.operator.outcome(question, "no call", model="m")
    block.adopt(block.operator.outcome_by_rule(question))
    assert (block.text, block.outcome["by"]) == (None, "rule")


def test_the_loop_ends_at_its_tokens() -> None:
    block = Block(Steps=20, Tokens=12_000)
    block.say("I live in Oslo.")
    question, steps = block.questions[0], 0
    loop = block.operator.begin(question)
    while not loop.is_done:
        loop, steps = block.operator.answered(question, loop, calls(append(f"Fact {steps}.")), model="m"), steps + 1
    assert (loop.ended, loop.steps) == ("tokens", steps)
    assert loop.tokens <= 12_000
    assert 2 <= steps < 20


def test_a_search_is_recorded_by_page() -> None:
    block = Block()
    block.say("I live in Oslo.")
    question = block.questions[0]
    answer = calls({"tool": "search", "query": "home", "page": 1}, append("Moved to Oslo."), FINISH)
    waiting = block.operator.answered(question, block.operator.begin(question), answer, model="m")
    assert waiting.lookup is not None
    assert (waiting.lookup.text, waiting.lookup.limit, waiting.lookup.kinds, waiting.block) == ("home", 2 * PAGE, ["event"], "")
    memories = [{"id": f"e{index}", "version": index, "score": 0.5, "content": f"said {index}", "day": "2024-05-01"} for index in range(7)]
    loop = block.operator.found(question, waiting, memories)
    assert loop.calls[0] == {"tool": "search", "query": "home", "page": 1, "found": [["e5", 5, 0.5], ["e6", 6, 0.5]]}
    assert loop.shown[0]["result"] == [{"day": "2024-05-01", "says": "said 5"}, {"day": "2024-05-01", "says": "said 6"}]
    assert (loop.block, loop.is_done) == ("Moved to Oslo.", True)
    assert "said 5" not in orjson.dumps(block.operator.conclude(question, loop).content).decode(), "the log names found memories only by id"


def test_a_retracted_statement_is_not_shown() -> None:
    block = Block()
    block.say("I live in Oslo.", "I have a cat.")
    block.answer(calls(append("Lives in Oslo."), append("Has a cat."), FINISH))
    block.say("I have a cat.", op="retract")
    assert block.text is None
    [question] = block.questions
    assert question.content["text"] == ""
    assert [each[1] for each in rows(question, "added")] == ["I live in Oslo."]
    block.answer(calls(append("Lives in Oslo."), FINISH))
    alone = Block()
    alone.say("I live in Oslo.")
    alone.answer(calls(append("Lives in Oslo."), FINISH))
    assert block.text == alone.text == "Lives in Oslo."


def test_a_settled_statement_is_removed_or_all_is() -> None:
    for has_model in (True, False):
        block = Block()
        for number in range(MAX_RECENT + 1):
            block.say(f"fact {number}")
            block.answer(calls(append(f"Fact {number}."), FINISH))
        block.say("fact 0", op="retract")
        assert block.text is None, "it may depend on the retracted statement"
        [question] = block.questions
        assert [each[1] for each in rows(question, "withdrawn")] == ["fact 0"]
        if has_model:
            block.answer(calls({"tool": "replace", "old": "Fact 0.\n", "text": ""}, FINISH))
            assert block.text == "\n".join(f"Fact {number}." for number in range(1, MAX_RECENT + 1))
        else:
            block.adopt(block.operator.outcome_by_rule(block.questions.pop(0)))
            assert block.text is None


def test_an_erasure_leaves_no_settled_text() -> None:
    block = Block()
    for number in range(MAX_RECENT + 1):
        block.say(f"fact {number}")
        block.answer(calls(append(f"Fact {number}."), FINISH))
    block.has_llm = False
    block.say("fact 0", op="retract")
    assert block.state is not None
    assert b"Fact" not in to_bytes(forget(block.state, block.kind, has_llm=False).state)


def test_statements_wait_for_a_model() -> None:
    block = Block(has_llm=False)
    for number in range(3 * MAX_RECENT):
        block.say(f"fact {number}")
    assert (block.text, block.questions) == (None, [])
    assert len(to_bytes(block.state)) < 20_000 if block.state else False
    block.has_llm = True
    block.say("fact at last")
    [question] = block.questions
    added = [each[1] for each in rows(question, "added")]
    assert added[-1] == "fact at last"
    assert len(added) > 1
    assert len(set(added)) == len(added)


def test_the_newest_outcome_gives_the_state() -> None:
    """A rebuild reads the newest outcome first."""
    block = Block()
    for number in range(4):
        block.say(f"fact {number}")
        block.answer(calls(append(f"Fact {number}."), FINISH))
    again = Block()
    again.state = apply_outcome(None, Merged(property=BLOCK, outcome=block.outcome), again.kind, "").state
    for number in range(4):
        again.say(f"fact {number}")
    assert again.questions == []
    assert again.state is not None
    assert block.state is not None
    assert again.state.properties == block.state.properties


def test_a_block_needs_exactly_the_key_user() -> None:
    document: dict[str, Any] = to_json(schema())
    document["EntityTypes"][0]["Keys"] = ["session"]
    with pytest.raises(SchemaError, match="Keys"):
        parse_schema(document)
