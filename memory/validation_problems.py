"""Problems that pydantic found in a value, as sentences that say what to do."""

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from memory.name_hints import meant_value

MAX_PROBLEMS: Final = 20
"""Limit of the problems that one message lists."""
_PLAIN: Final[Mapping[str, str]] = {
    **dict.fromkeys(("list_type", "tuple_type"), 'Input should be a list, such as ["one", "two"]'),
    **dict.fromkeys(
        ("datetime_type", "datetime_parsing", "datetime_from_date_parsing", "datetime_object_invalid"),
        "it is not a time: write ISO 8601 with a UTC offset, such as 2024-05-06T18:00:00Z",
    ),
    "dict_type": "Input should be an object: names with values",
    "extra_forbidden": "unknown name: correct its spelling, or leave it out",
    "model_type": "Input should be an object: names with values",
    "timezone_aware": "it has no UTC offset, so its moment is unknown: append Z if it is UTC, or an offset such as +02:00; "
    "a day needs a time, too: 2024-05-06T00:00:00Z",
}
"""Sentences for types of pydantic's problems whose own sentence does not say what to do."""
_PREFIX: Final = "Value error, "
"""Text that pydantic writes before the sentence of a validator."""
_QUOTED: Final = re.compile(r"'([^']*)'")


def problems_of(error: ValidationError) -> str:
    """A validation error as one line: ``messages.0.role: Input should be ...; text: Field required``. Lists the first problems."""
    problems = error.errors(include_url=False)
    lines = [f"{'.'.join(map(str, problem['loc'])) or 'record'}: {plain_problem(problem)}" for problem in problems[:MAX_PROBLEMS]]
    return "; ".join((*lines, f"and {len(problems) - len(lines)} more problems") if len(problems) > len(lines) else lines)


def plain_problem(problem: Mapping[str, Any]) -> str:
    """The problem of a value and the remedy, without its path and without pydantic's own terms.

    Args:
        problem: One of the errors of a ``ValidationError``.
    """
    plain = _PLAIN.get(problem["type"]) or str(problem["msg"]).removeprefix(_PREFIX)
    given = problem.get("input")
    if problem["type"] == "literal_error" and isinstance(given, str):
        # The value itself is not repeated: it may be personal data, and errors are logged.
        meant = meant_value(given, _QUOTED.findall(str(problem["ctx"]["expected"])))
        return plain if meant is None else f"{plain}; did you mean {meant!r}?"
    return plain
