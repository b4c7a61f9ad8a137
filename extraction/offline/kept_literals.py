"""The required literals of the rules, in a file of the cache: a process that has to derive them starts seconds later."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ValidationError

from memory.texts import required_literals, words
from memory.texts.prefiltered_patterns import prepare

FILE: Final = "required-literals.json"
_DERIVED_BY: Final = (required_literals, words)


class _KeptLiterals(BaseModel):
    """The file.

    Attributes:
        derived_by: The digest of the code that derived the literals.
        literals: Those of each pattern, by the digest of the pattern and its flags.
    """

    derived_by: str
    literals: dict[str, required_literals.RequiredLiterals] = {}


def prepare_rules(cache: Path) -> None:
    """Prepares all rules of the process, with the literals in the cache's file, and keeps new ones there.

    A file that cannot be read or written costs only the time in which the literals are derived again.

    Args:
        cache: The cache folder.
    """
    prepare(partial(_derived, cache / FILE))


def _derived(path: Path, patterns: Sequence[tuple[str, int]]) -> list[required_literals.RequiredLiterals]:
    kept = _read(path)
    known = len(kept.literals)
    keys = [sha256(f"{flags} {pattern}".encode()).hexdigest() for pattern, flags in patterns]
    for key, (pattern, flags) in zip(keys, patterns, strict=True):
        if key not in kept.literals:
            kept.literals[key] = required_literals.required_literals(pattern, flags)
    if len(kept.literals) > known:
        _write(path, kept)
    return [kept.literals[key] for key in keys]


def _read(path: Path) -> _KeptLiterals:
    code = b"".join(Path(str(each.__file__)).read_bytes() for each in _DERIVED_BY)
    derived_by = sha256(sys.version.encode() + code).hexdigest()
    with suppress(OSError, ValidationError):
        kept = _KeptLiterals.model_validate_json(path.read_bytes())
        if kept.derived_by == derived_by:
            return kept
    return _KeptLiterals(derived_by=derived_by)


def _write(path: Path, kept: _KeptLiterals) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(kept.model_dump_json())
        temporary.replace(path)
