"""The mutants are in the code's words of today; ``make chaos-mutants`` sees whether the suite notices them."""

import ast

import pytest

from tests.chaos.faults import FAULTS
from tests.chaos.mutants import MUTANTS, Mutant
from tests.chaos.mutation import ROOT, mutated


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: str(mutant.name))
def test_a_mutant_applies_to_the_code(mutant: Mutant) -> None:
    source = (ROOT / mutant.file).read_text()
    assert ast.dump(ast.parse(mutated(source, mutant))) != ast.dump(ast.parse(source))
    assert all((ROOT / test).exists() for test in mutant.tests)
    assert set(mutant.faults) <= FAULTS.keys()
    assert mutant.tests or mutant.faults, "something should notice it"


def test_mutants_have_names_of_their_own() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
