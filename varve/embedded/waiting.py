"""What a stage that does not get ready waits for, by the last line of its log."""

import ast
import re
from pathlib import Path
from typing import Final

import orjson

from memory.errors import VarveError
from varve.errors import StartError

_EVENT: Final = "retry_scheduled"
_ERROR: Final = re.compile(r""" error=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
"""As the console shows it: a text's ``repr``."""


def waiting_stage(log: str, *, name: str, path: Path) -> VarveError | None:
    """Why a stage is not ready, where it says so; None where its log ends otherwise.

    Args:
        log: The end of its log.
        name: The stage.
        path: The whole log.
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
