"""Questions of an entity's operators, and the outcomes applied to them. Pure: state in, state out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from memory.records import Contribution, Dropped, Merged, MergeRequest, NoteUpdate
from memory.schema.model import EntityType
from operators.applied_positions import merged_sources
from operators.entities.apply import Applied, latest_known
from operators.entities.entity_state import EntityState, current_states
from operators.llm.llm_operator import LLMOperator, Moment, Outcome, Question, Settled
from operators.operator import State
from operators.registry import bound_operator

_Step = Callable[[LLMOperator, State, Moment], Settled]


@dataclass(frozen=True, slots=True)
class SettledEntity:
    """An entity with the questions and outcomes of its operators."""

    state: EntityState
    questions: tuple[tuple[str, Question], ...] = ()
    """Each with the name of its property."""
    merged: tuple[Merged, ...] = ()
    """The outcomes that needed no question."""
    dropped: tuple[tuple[str, str], ...] = ()
    """Property and part of each outcome that is no longer needed."""


def plan_questions(state: EntityState, entity_type: EntityType, *, has_llm: bool) -> SettledEntity:
    """Plans the questions of an entity's operators after a batch of changes.

    Args:
        state: The entity; not modified.
        entity_type: Its type.
        has_llm: Whether an LLM is configured to answer questions.

    Returns:
        The result; it has the same state object if there is nothing to do.
    """
    return _settled(state, entity_type, lambda operator, before, moment: operator.plan_questions(before, moment), has_llm=has_llm)


def merge_requests(planned: SettledEntity, cause: Contribution) -> list[MergeRequest]:
    """The planned questions as requests to the merging stage.

    Args:
        planned: The result of :func:`plan_questions`.
        cause: The contribution that the questions follow from.
    """
    return [
        MergeRequest(
            tenant=cause.tenant,
            user=cause.user,
            entity_type=cause.entity_type,
            entity_key=cause.entity_key,
            property=name,
            part=question.part,
            question=question.content,
            lookups=[*question.lookups] or None,
            time=cause.time,
            schema_name=cause.schema_name,
            schema_revision=cause.schema_revision,
            generation=cause.generation,
        )
        for name, question in planned.questions
    ]


def forget(state: EntityState, entity_type: EntityType, *, has_llm: bool) -> SettledEntity:
    """Drops the texts about erased events from an entity's operators; arguments and result as :func:`plan_questions`."""
    return _settled(state, entity_type, lambda operator, before, moment: operator.forget(before, moment), has_llm=has_llm)


def outcomes_of(state: EntityState, entity_type: EntityType) -> list[Merged]:
    """The outcomes that an entity uses, which the log keeps for a rebuild."""
    return [
        Merged(property=name, part=each.part, outcome=each.content)
        for name, bound, inner in current_states(state, entity_type)
        if isinstance(bound.operator, LLMOperator)
        for each in bound.operator.outcomes(inner)
    ]


def is_in_use(merged: Merged, state: EntityState, entity_type: EntityType) -> bool:
    """Whether an entity uses an outcome. A late outcome is not used; it only closes its question.

    Args:
        merged: The outcome.
        state: The entity after it.
        entity_type: Its type.
    """
    return any(
        (each.property, each.part) == (merged.property, merged.part)
        and all(merged.outcome.get(name) == value for name, value in each.outcome.items())
        for each in outcomes_of(state, entity_type)
    )


def updates_of(state: EntityState, entity_type: EntityType, property_name: str) -> tuple[NoteUpdate, ...]:
    """The changes of other entities that follow from the newest outcome of a property.

    Args:
        state: The entity; not modified.
        entity_type: Its type.
        property_name: The property.
    """
    for name, bound, inner in current_states(state, entity_type):
        if name == property_name and isinstance(bound.operator, LLMOperator):
            return bound.operator.updates(inner)
    return ()


def _settled(state: EntityState, entity_type: EntityType, step: _Step, *, has_llm: bool) -> SettledEntity:
    questions: list[tuple[str, Question]] = []
    merged: list[Merged] = []
    dropped: list[tuple[str, str]] = []
    properties, version = dict(state.properties), state.version
    moment = Moment(sources=merged_sources(state.sources), newest=state.last_time or 0, has_llm=has_llm)
    for name, (tag, operator), before in current_states(state, entity_type):
        if not isinstance(operator, LLMOperator):
            continue
        settled = step(operator, before, moment)
        if settled.state is before:
            continue
        properties[name] = [tag, settled.state]
        version += (0 if settled.state is None else operator.adopted(settled.state)) - operator.adopted(before)
        questions += [(name, each) for each in settled.questions]
        merged += [Merged(property=name, part=each.part, outcome=each.content) for each in settled.outcomes]
        dropped += [(name, part) for part in settled.dropped]
        if settled.state is None:
            del properties[name]
        state = replace(state, properties=dict(properties), version=version)
    return SettledEntity(state, tuple(questions), tuple(merged), tuple(dropped))


def apply_outcome(
    state: EntityState | None, merged: Merged, entity_type: EntityType, generation: str, *, recorded_at: datetime | None = None
) -> Applied:
    """Applies an outcome to its property.

    Args:
        state: The entity so far; None if there is none, as in a rebuild.
        merged: The outcome.
        entity_type: The entity's type.
        generation: The entity's generation.
        recorded_at: Append time of the outcome; None: not from a log.

    Returns:
        The result; unchanged, with the reason, if the outcome has nothing new, or the property has another operator by now.
    """
    state = state or EntityState(generation=generation)
    name = merged.property
    tag, operator = bound_operator(entity_type, name) or (None, None)
    if not isinstance(operator, LLMOperator):
        return _not_adopted(state, "unknown_property")
    known_tag, before = state.properties.get(name, (tag, None))
    if known_tag != tag:
        return _not_adopted(state, "operator_changed")
    after = operator.apply_outcome(before, Outcome(merged.outcome, merged.part))
    if after is before:
        return _not_adopted(state, "merge_superseded")
    version = state.version + operator.adopted(after) - (0 if before is None else operator.adopted(before))
    known = latest_known(state, recorded_at)
    return Applied(replace(state, properties={**state.properties, name: [tag, after]}, version=version, known=known), changed=True)


def _not_adopted(state: EntityState, reason: str) -> Applied:
    return Applied(state, changed=False, refused=(Dropped(what="property", reason=reason),))
