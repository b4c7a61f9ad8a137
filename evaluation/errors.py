"""Errors of benchmarks."""

from memory.errors import VarveError


class EvaluationError(VarveError):
    """Base of this package's errors."""


class DataSetError(EvaluationError):
    """A data set is in no form that the benchmark reads; says which file and what was expected."""
