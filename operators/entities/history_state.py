"""The state of an entity as its history is walked through: merged texts are kept short on the way, as they are live. Pure."""

from contextlib import suppress
from dataclasses import replace

from memory.records import Contribution, Merged
from memory.schema.model import EntityType
from memory.times import microseconds_of, offset_of
from operators.applied_positions import merged_sources, source_without_copy
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, current_states
from operators.errors import RefusedChangeError
from operators.llm.llm_operator import Moment
from operators.llm.merged_text import MergedText
from operators.llm.merging import apply_outcome
from operators.operator import Operand, State
from operators.registry import bound_operator


class WalkedState:
    """Applies contributions one by one, each at a cost that does not grow with the number of earlier ones.

    The steps contain only the newest of a model's answers. Until the walk reaches it, all statements would wait, and each step would merge
    all of them. So the rule merges them on the way, as it does live without a model. The answer then replaces the statements it covers,
    and those that it does not cover are applied again.

    Args:
        state: The entity before; None: there was none.
    """

    def __init__(self, state: EntityState | None) -> None:
        self._first = state
        self._taken: list[Contribution] = []
        self.state = state
        """The entity so far; None if there is none."""

    def apply(self, contribution: Contribution, entity_type: EntityType) -> None:
        """Applies a contribution."""
        if contribution.merged is not None:
            self.state = self._adopted(contribution.merged, entity_type, contribution.generation)
        else:
            self._taken.append(contribution)
            self.state = apply_contribution(self.state, contribution, entity_type).state
        self.state = _shortened(self.state, entity_type)

    def _adopted(self, merged: Merged, entity_type: EntityType, generation: str) -> EntityState:
        bound = bound_operator(entity_type, merged.property)
        if bound is None or not isinstance(bound.operator, MergedText) or self.state is None:
            return apply_outcome(self.state, merged, entity_type, generation).state
        known = {name: each for name, each in self.state.properties.items() if name != merged.property}
        if self._first is not None and merged.property in self._first.properties:
            known[merged.property] = self._first.properties[merged.property]
        adopted = apply_outcome(replace(self.state, properties=known), merged, entity_type, generation)
        if not adopted.changed:
            return self.state
        tag, inner = adopted.state.properties[merged.property]
        properties = {**known, merged.property: [tag, self._behind(inner, merged.property, bound.operator)]}
        return replace(adopted.state, properties=properties)

    def _behind(self, inner: State, name: str, operator: MergedText) -> State:
        """A text's state with the contributions that its newest answer does not cover. The operator skips the covered ones."""
        for contribution in self._taken:
            for change in sorted(contribution.changes, key=lambda each: each.op != "retract"):
                if change.property != name or change.op not in ("apply", "retract"):
                    continue
                time = microseconds_of(change.event_time)
                source, position = source_without_copy(contribution.source), contribution.position
                offset = offset_of(change.event_time)
                operand = Operand(change.value, time, change.source_id, time, source, position, change.order, offset=offset)
                with suppress(RefusedChangeError):
                    inner = operator.apply(inner, operand) if change.op == "apply" else operator.retract(inner, operand)
        return inner


def _shortened(state: EntityState, entity_type: EntityType) -> EntityState:
    properties = dict(state.properties)
    moment = Moment(sources=merged_sources(state.sources), newest=state.last_time or 0, has_llm=False)
    for name, bound, inner in current_states(state, entity_type):
        if isinstance(bound.operator, MergedText):
            properties[name] = [bound.tag, bound.operator.plan_questions(inner, moment).state]
    return replace(state, properties=properties)
