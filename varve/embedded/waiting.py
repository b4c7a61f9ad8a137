"""Finds the reason for which a stage is not ready in the last line of its log."""

import ast
import re
from pathlib import Path
from typing import Final

import orjson

from memory.errors import VarveError
from varve.errors import StartError

_EVENT: Final = "retry_scheduled"
_ERROR: Final = re.compile(r""" error=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
"""The form of the console log: a ``repr`` of the text."""


def waiting_stage(log: str, *, name: str, path: Path) -> VarveError | None:
    """The error that explains why a stage is not ready; None if the last line of its log does not say.

    Args:
        log: The end of its log.
        name: Name of the stage.
        path: The log file.
    """
    last = next((line for line in reversed(log.splitlines()) if line.strip()), "")
    error = _error_of(last) if _EVENT in last else None
    return None if error is None else StartError(f"{name} is not ready: {error} (whole log: {path})")


def _error_of(line: str) -> str | None:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError:
        found = _ERROR.search(line)
        return None if found is None else str(ast.literal_eval(found[1]))
    return str(fields["error"]) if isinstance(fields, dict) and "error" in fields else None
