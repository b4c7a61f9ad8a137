"""The operator API for plugins: everything that an operator in another package imports, apart from its laws (:mod:`operators.laws`).

``docs/build/write-an-operator.md`` shows how to write, check and install a plugin. Other modules may change without notice.
"""

from memory.records import Link, Lookup, Memory, NoteUpdate, WrittenText
from memory.schema.model import ValueType
from memory.schema.operator_specs import OperatorSpec
from operators.aggregates import exact_sum
from operators.aging import AgedEvent, AgingOperator
from operators.errors import RefusedChangeError, UnusableAnswerError
from operators.llm.llm_operator import LLMOperator, Moment, Outcome, Prompt, Question, Settled
from operators.operator import (
    AdditiveOperator,
    BoundedOperator,
    Configuration,
    MergeableOperator,
    Operand,
    Operator,
    State,
    UnknownValue,
    Value,
)
from operators.publishing import LinkedOperator, Note, Owner, PublishingOperator

__all__ = [
    "AdditiveOperator",
    "AgedEvent",
    "AgingOperator",
    "BoundedOperator",
    "Configuration",
    "LLMOperator",
    "Link",
    "LinkedOperator",
    "Lookup",
    "Memory",
    "MergeableOperator",
    "Moment",
    "Note",
    "NoteUpdate",
    "Operand",
    "Operator",
    "OperatorSpec",
    "Outcome",
    "Owner",
    "Prompt",
    "PublishingOperator",
    "Question",
    "RefusedChangeError",
    "Settled",
    "State",
    "UnknownValue",
    "UnusableAnswerError",
    "Value",
    "ValueType",
    "WrittenText",
    "exact_sum",
]
