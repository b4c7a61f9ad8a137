"""Lists each change in an entity's history with its outcome; a superseded change was not wrong. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Final, Literal

from pydantic import JsonValue

from memory.records import Change, Contribution, HistoryEntry
from memory.schema.model import AGENT, LATEST, LLM_MERGE, PATCH, EntityType
from operators.entities.entity_state import EntityState
from operators.entities.former_fields import with_former_fields
from operators.entities.history import Beginning, KnownStep, Moment, TypeOf
from operators.entities.history_state import WalkedState
from operators.entities.render import known_values

ChangeOutcome = Literal["stands", "superseded", "wrong", "extracted_again", "expired", "merged"]
"""The outcome of a change. ``stands``: it holds, or counts. ``superseded``: it was true, and a later change replaced it. ``wrong``: a
correction retracted it. ``extracted_again``: its window was extracted again. ``expired``: its time to live expired. ``merged``: it is part
of a text in other words."""

_TEXTS: Final = (PATCH, LLM_MERGE, AGENT)
"""Operators whose values are texts."""
_OUTCOME_BY_CAUSE: Final[dict[str, ChangeOutcome]] = {"extraction": "extracted_again", "correction": "wrong", "expiry": "expired"}


@dataclass(slots=True)
class SeenChange:
    """One change with its outcome."""

    change: Change
    step: str
    cause: str
    op: str | None
    """The operator of its property."""
    outcome: ChangeOutcome = "stands"
    by: str | None = None
    """Id of the step that replaced or retracted it."""
    lines: tuple[str, ...] = field(init=False, default=())
    """The lines of its value, if its property is a text."""

    def __post_init__(self) -> None:
        if self.op in _TEXTS:
            value = self.change.value
            text = (value.get("replace") or _text_of_edit(value)) if isinstance(value, Mapping) else value
            self.lines = tuple(line.strip() for line in str(text or "").splitlines() if line.strip())


@dataclass(slots=True)
class SeenStep:
    """One step with its effect on the values."""

    id: str
    contribution: Contribution
    recorded_at: datetime
    changes: list[SeenChange] = field(default_factory=list)
    before: dict[str, JsonValue] = field(default_factory=dict)
    """Previous values of the properties that the step changed."""
    after: dict[str, JsonValue] = field(default_factory=dict)


class HistoryWalk:
    """Walks through all retained steps.

    Args:
        start: The place from which values are known; None: steps are listed without values.
        moment: The requested moment.
        type_of: Returns the entity type under which a contribution was made.
        former: The type in other schemas of the entity, newest first: a field that a later step's schema lacks keeps its value.
    """

    def __init__(self, start: Beginning | None, moment: Moment, type_of: TypeOf, *, former: Sequence[EntityType] = ()) -> None:
        self._moment = moment
        self._type_of = type_of
        self._former = former
        self._has_values = start is not None
        state = None if start is None else start.state
        self._walked = WalkedState(state)
        type_before = None if start is None or start.made_under is None else type_of(start.made_under)
        self._values = {} if type_before is None else self._known_values(state, type_before)
        self._standing: dict[tuple[str, str], SeenChange] = {}
        self.steps: list[SeenStep] = []

    def take(self, known: KnownStep) -> None:
        """Applies one step if it is within the moment."""
        contribution = self._moment.within(known.step.contribution)
        if contribution is None or not self._moment.knows(known.recorded_at):
            return
        entity_type = self._type_of(contribution)
        seen = SeenStep(name_of(known.step), contribution, known.recorded_at)
        self._note(seen, contribution, entity_type)
        if self._has_values and entity_type is not None:
            self._walked.apply(contribution, entity_type)
            values = self._known_values(self._walked.state, entity_type)
            changed = sorted(name for name in {*values, *self._values} if values.get(name) != self._values.get(name))
            seen.before = {name: self._values.get(name) for name in changed}
            seen.after = {name: values.get(name) for name in changed}
            self._values = values
            self._supersede_texts(seen)
        self.steps.append(seen)

    def finish(self) -> list[SeenStep]:
        """All steps, in their order."""
        latest: defaultdict[str, list[SeenChange]] = defaultdict(list)
        for statement in self._standing.values():
            if statement.op == LATEST:
                latest[statement.change.property].append(statement)
        for changes in latest.values():
            # The order of the operator LATEST.
            changes.sort(key=lambda each: (-each.change.event_time.timestamp(), -each.change.order, each.change.source_id))
            for newer, older in pairwise(changes):
                older.outcome, older.by = _superseded_by(newer.cause), newer.step
        return self.steps

    def _known_values(self, state: EntityState | None, entity_type: EntityType) -> dict[str, JsonValue]:
        return {} if state is None else known_values(state, with_former_fields(state, entity_type, self._former))

    def _note(self, seen: SeenStep, contribution: Contribution, entity_type: EntityType | None) -> None:
        again = _repeated_unchanged(contribution.changes)
        # The operators apply retractions first.
        for change in sorted(contribution.changes, key=lambda each: each.op != "retract"):
            name = change.property, change.source_id
            each = entity_type.property(change.property) if entity_type is not None else None
            noted = SeenChange(change, seen.id, contribution.cause, entity_type.op_of(each) if entity_type is not None and each else None)
            if name in again or change.op not in ("apply", "retract"):
                continue
            if change.op == "apply":
                self._standing[name] = noted
            else:
                taken = self._standing.pop(name, None)
                if taken is not None:
                    taken.outcome, taken.by = _OUTCOME_BY_CAUSE[contribution.cause], seen.id
            seen.changes.append(noted)

    def _supersede_texts(self, seen: SeenStep) -> None:
        """Updates the outcomes of the statements that a step added to a text, or removed from it."""
        texts = {name: _text_of(self._values.get(name)) for name in {*seen.after, *(each.change.property for each in seen.changes)}}
        gained = {name: _gained(_text_of(seen.before[name]), texts[name]) for name in seen.after}
        for statement in self._standing.values():
            if statement.op not in _TEXTS or statement.change.property not in texts:
                continue
            if statement.outcome != "stands" and not any(line in gained.get(statement.change.property, "") for line in statement.lines):
                # No line of it came back. Most changes of a long history are so, and the text is much longer than the lines of one step.
                continue
            if all(line in texts[statement.change.property] for line in statement.lines):
                statement.outcome, statement.by = "stands", None
            elif statement.outcome == "stands":
                is_own_step = statement.step == seen.id
                if statement.op != PATCH:
                    statement.outcome = "merged"
                else:
                    statement.outcome = "superseded" if is_own_step else _superseded_by(seen.contribution.cause)
                statement.by = None if is_own_step else seen.id


def name_of(step: HistoryEntry) -> str:
    """The id of a step: its source and offset; for a model's answer, the property and the recorded time.

    A newer answer replaces an older one at another place in the history, so it is another step.
    """
    contribution = step.contribution
    if contribution.merged is None:
        return f"{contribution.source}@{contribution.position}"
    since = "" if contribution.recorded_at is None else contribution.recorded_at.isoformat().replace("+00:00", "Z")
    return "/".join(filter(None, ("merged", contribution.merged.property, contribution.merged.part))) + f"@{since}"


def _superseded_by(cause: str) -> ChangeOutcome:
    return "wrong" if cause == "correction" else "superseded"


def _repeated_unchanged(changes: Iterable[Change]) -> set[tuple[str, str]]:
    """Changes that a contribution retracts and applies again unchanged, as a repeated extraction of a window does."""
    said: defaultdict[tuple[str, str], dict[str, tuple[JsonValue, datetime]]] = defaultdict(dict)
    for change in changes:
        said[change.property, change.source_id][change.op] = change.value, change.event_time
    return {name for name, by_op in said.items() if "retract" in by_op and by_op.get("apply") == by_op["retract"]}


def _gained(before: str, after: str) -> str:
    """The lines that a text has now, and had not before."""
    known = set(before.splitlines())
    return "\n".join(line for line in after.splitlines() if line not in known)


def _text_of(value: JsonValue) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def _text_of_edit(value: Mapping[str, JsonValue]) -> str:
    """The text that an edit of a block writes."""
    edit = value.get("edit")
    return str(edit.get("text", "")) if isinstance(edit, Mapping) else ""
