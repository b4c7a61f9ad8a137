"""The specifications of the shipped operators agree with their classes."""

import pytest

from memory.schema.operator_specs import BUILT_IN
from operators.llm.llm_operator import LLMOperator
from operators.publishing import LinkedOperator
from operators.registry import operators

NAMES = [spec.name for spec in BUILT_IN]


@pytest.mark.parametrize("name", NAMES)
def test_an_operator_with_a_model_describes_its_absence(name: str) -> None:
    operator = operators()[name]
    assert bool(operator.spec.without_model) == issubclass(operator, LLMOperator)


@pytest.mark.parametrize("name", NAMES)
def test_an_operator_that_links_memories_allows_the_path(name: str) -> None:
    operator = operators()[name]
    assert ("links" in operator.spec.paths) == issubclass(operator, LinkedOperator)
