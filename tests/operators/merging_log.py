"""One entity with a merged text as the entities stage runs it: contributions and answers in any order, and what a rebuild has of them."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from memory.records import Change, Contribution, Merged
from memory.schema import parse_schema
from memory.schema.model import EntityType
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, from_bytes, to_bytes
from operators.entities.render import render
from operators.llm.llm_operator import LLMOperator, Question
from operators.llm.merging import apply_outcome, plan_questions
from operators.registry import bound_operator

START = datetime(2024, 5, 1, tzinfo=UTC)
STORY = "story"
_DAY = re.compile(r"^\d{4}-\d{2}-\d{2}: ")


def entity_type(**parameters: Any) -> EntityType:
    """A type with one merged text, and a counter in addition."""
    merged = {"Op": "LLM_MERGE", "EventType": "remark", "EventPropertyName": "content", **parameters}
    schema = parse_schema(
        {
            "Name": "remarks",
            "EventTypes": [{"EventType": "remark"}],
            "EntityTypes": [
                {
                    "EntityType": "profile",
                    "Keys": ["user"],
                    "Properties": [
                        {
                            "PropertyName": STORY,
                            "PropertyValueType": "string",
                            "Description": "Their story.",
                            "AggregateExpression": merged,
                        },
                        {
                            "PropertyName": "remarks",
                            "PropertyValueType": "int64",
                            "AggregateExpression": {"Op": "COUNT", "EventType": "remark"},
                        },
                    ],
                }
            ],
        }
    )
    return schema.entity_types[0]


def said(name: str, text: str, *, day: int = 0, op: Any = "apply", order: int = 0) -> list[Change]:
    """An event's changes: what it says, and that it counts."""
    time = START + timedelta(days=day)
    common = {"op": op, "source_id": name, "event_time": time, "order": order}
    return [Change(property=STORY, value=text, **common), Change(property="remarks", **common)]


def contribution(changes: Sequence[Change], *, position: int, source: str = "extractions/0") -> Contribution:
    """The changes of one extraction to the entity."""
    return Contribution(
        tenant="acme", entity_type="profile", entity_key="ann", source=source, position=position, changes=list(changes), time=START
    )


def undated(line: str) -> str:
    """A line without the day that the rule writes."""
    return _DAY.sub("", line)


def plain_answer(question: Question) -> str:
    """A model's answer that shows what it was asked: every line once for each time that it was given."""
    content: dict[str, Any] = question.content
    lines = [*map(undated, content["text"].splitlines()), *(text for _, text in content["added"])]
    for _, text in content["withdrawn"]:
        lines.remove(text)
    return orjson.dumps({"thoughts": "", "text": "\n".join(sorted(lines)), "superseded": []}).decode()


@dataclass
class MergedEntity:
    """The entity, the questions that wait, and the newest outcome as the log keeps it."""

    kind: EntityType
    has_llm: bool = True
    answer: Callable[[Question], str] = plain_answer
    state: EntityState | None = None
    questions: list[Question] = field(default_factory=list)
    asked: int = 0
    newest: Merged | None = None

    @property
    def operator(self) -> LLMOperator:
        driver = bound_operator(self.kind, STORY)
        assert driver is not None
        assert isinstance(driver.operator, LLMOperator)
        return driver.operator

    def contribute(self, *batch: Contribution) -> None:
        """Handles contributions in one batch."""
        for each in batch:
            self._took(apply_contribution(self.state, each, self.kind).state)
        self._settle()

    def apply_outcome(self, merged: Merged) -> bool:
        """Handles an outcome; returns whether it was new."""
        applied = apply_outcome(self.state, merged, self.kind, "")
        if applied.changed:
            self._took(applied.state)
            self.newest = merged
        self._settle()
        return applied.changed

    def answer_next(self, *, by_rule: bool = False) -> Merged:
        """The outcome of the oldest question; it is not applied yet."""
        question = self.questions.pop(0)
        outcome = self.operator.outcome_by_rule(question) if by_rule else self.operator.outcome(question, self.answer(question), model="m")
        return Merged(property=STORY, outcome=outcome.content)

    def answer_all(self) -> None:
        """Answers until nothing is asked."""
        while self.questions:
            self.apply_outcome(self.answer_next())

    @property
    def text(self) -> str | None:
        memory = self.memory
        return None if memory is None else memory.properties.get(STORY)

    @property
    def memory(self) -> Any:
        assert self.state is not None
        return None if self.state.empty else render(self.state, self.kind, "acme", "ann")

    @property
    def written(self) -> Any:
        return self.memory.written[STORY]

    @property
    def raw(self) -> bytes:
        assert self.state is not None
        return to_bytes(self.state)

    def _settle(self) -> None:
        assert self.state is not None
        settled = plan_questions(self.state, self.kind, has_llm=self.has_llm)
        self._took(settled.state)
        self.questions += [question for _, question in settled.questions]
        self.asked += len(settled.questions)
        self.newest = settled.merged[-1] if settled.merged else self.newest

    def _took(self, state: EntityState) -> None:
        self.state = from_bytes(to_bytes(state))


def rebuilt(live: MergedEntity, contributions: Iterable[Sequence[Contribution]]) -> MergedEntity:
    """The entity as a rebuild makes it: the newest outcome first, then the contributions, batch by batch."""
    entity = MergedEntity(live.kind, has_llm=live.has_llm)
    if live.newest is not None:
        entity.apply_outcome(live.newest)
    for batch in contributions:
        entity.contribute(*batch)
    return entity
