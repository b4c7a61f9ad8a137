"""The operator API for plugins: everything that an operator in another package imports, apart from its laws (:mod:`operators.laws`).

``docs/build/write-an-operator.md`` shows how to write, check and install a plugin. Other modules may change without notice.
"""

from memory.schema.model import ValueType
from memory.schema.operator_specs import OperatorSpec
from operators import exact_sum
from operators.errors import RefusedChangeError
from operators.llm_operator import LLMOperator
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

__all__ = [
    "AdditiveOperator",
    "BoundedOperator",
    "Configuration",
    "LLMOperator",
    "MergeableOperator",
    "Operand",
    "Operator",
    "OperatorSpec",
    "RefusedChangeError",
    "State",
    "UnknownValue",
    "Value",
    "ValueType",
    "exact_sum",
]
