"""PATCH as an operator: the text that the extractor's patches edit (VikingMem 3.1)."""

from typing import ClassVar

from memory.schema.operator_specs import OperatorSpec, built_in
from operators import patch
from operators.operator import Operand, Operator, UnknownValue, Value
from operators.patch_edit import Patch, value_of


class PatchedText(Operator):
    """A text, or a value that is written as one, edited by SEARCH/REPLACE patches: see :mod:`operators.patch`."""

    spec: ClassVar[OperatorSpec] = built_in("PATCH")

    def apply(self, state: patch.State | None, operand: Operand) -> patch.State:
        """See :meth:`Operator.apply`."""
        return patch.apply(state, _patch_of(operand), self._configuration.value_type, operand.work)

    def retract(self, state: patch.State | None, operand: Operand) -> patch.State | None:
        """See :meth:`Operator.retract`; a patch that has settled is refused."""
        return patch.retract(state, _patch_of(operand), self._configuration.value_type, operand.work)

    def value(self, state: patch.State) -> Value:
        """The text as a value of the property's type."""
        text = patch.text_of(state)
        if not text.strip():
            return None
        value = value_of(text, self._configuration.value_type)
        return UnknownValue.UNKNOWN if value is None else value

    def since(self, state: patch.State) -> list[int]:
        """The local time since which each line of the text holds that is not blank, in microseconds."""
        return patch.since_of(state)


def _patch_of(operand: Operand) -> Patch:
    return patch.patch_of(operand.value, time=operand.time, source_id=operand.source_id, offset=operand.offset)
