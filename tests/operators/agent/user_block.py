"""A block that an AGENT operator edits, without stages."""

from datetime import UTC, datetime, timedelta
from typing import Any, cast

from memory.records import Change, Contribution, Merged
from operators.agent.agent import AgentText
from operators.agent.loop import Loop
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState
from operators.entities.render import render
from operators.llm.llm_operator import Question
from operators.llm.merging import apply_outcome, plan_questions
from operators.registry import bound_operator
from tests.streams.agent_remarks import BLOCK, schema

START = datetime(2024, 5, 1, tzinfo=UTC)
FINISH = {"tool": "finish"}


def append(text: str) -> dict[str, Any]:
    return {"tool": "append", "text": text}


def rows(question: Question, name: str) -> list[list[Any]]:
    """Statements of a question."""
    return cast(list[list[Any]], question.content[name])


class Block:
    """One user's block, with the questions that wait."""

    def __init__(self, *, has_llm: bool = True, **parameters: Any) -> None:
        self.kind = schema(**parameters).entity_types[0]
        self.has_llm = has_llm
        self.state: EntityState | None = None
        self.questions: list[Question] = []
        self.position = 0

    @property
    def operator(self) -> AgentText:
        driver = bound_operator(self.kind, BLOCK)
        assert driver is not None
        assert isinstance(driver.operator, AgentText)
        return driver.operator

    def say(self, *texts: str, op: Any = "apply") -> None:
        changes = [
            Change(op=op, property=BLOCK, source_id=each, value=each, event_time=START + timedelta(days=index), message_ids=[f"m-{each}"])
            for index, each in enumerate(texts)
        ]
        self.position += 1
        given = Contribution(
            tenant="acme",
            entity_type="core_memory",
            entity_key="ann",
            source="extractions/0",
            position=self.position,
            changes=changes,
            time=START,
        )
        self.state = apply_contribution(self.state, given, self.kind).state
        self.settle()

    def settle(self) -> None:
        assert self.state is not None
        settled = plan_questions(self.state, self.kind, has_llm=self.has_llm)
        self.state = settled.state
        self.questions += [each for _, each in settled.questions]

    def adopt(self, outcome: Any) -> None:
        self.state = apply_outcome(self.state, Merged(property=BLOCK, outcome=outcome.content), self.kind, "").state
        self.settle()

    def answer(self, *answers: str) -> Loop:
        """Runs the loop of the oldest question with these answers, and adopts its outcome."""
        question = self.questions.pop(0)
        loop = self.operator.begin(question)
        for each in answers:
            assert not loop.is_done
            loop = self.operator.answered(question, loop, each, model="m")
            while loop.lookup is not None:
                loop = self.operator.found(question, loop, [])
        assert loop.is_done
        self.adopt(self.operator.conclude(question, loop))
        return loop

    @property
    def text(self) -> str | None:
        assert self.state is not None
        value = render(self.state, self.kind, "acme", "ann").properties.get(BLOCK)
        return None if value is None else str(value)

    @property
    def outcome(self) -> dict[str, Any]:
        assert self.state is not None
        inner: dict[str, Any] = self.state.properties[BLOCK][1]["base"]
        return inner
