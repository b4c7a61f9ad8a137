"""The result of a proof. Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memory.records import Memory
from streams.operations.proof.shadow import compared_fields, digest_input

Outcome = Literal["equal", "different", "unsettled"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One memory that is served differently than the log gives it."""

    memory_id: str
    kind: str
    problem: Literal["missing", "extra", "changed"]
    """``missing``: the log gives it, and the store lacks it. ``extra``: the reverse."""
    fields: tuple[str, ...] = ()
    """For a changed memory: the fields that differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserProof:
    """The proof of one user."""

    tenant: str
    user: str
    outcome: Outcome
    """``unsettled``: the user's memories changed all the time, so nothing can be said."""
    memories: int
    """Number of memories that the log gives."""
    digest: str
    """SHA-256 of the memories that the log gives."""
    served: str
    """SHA-256 of the memories that are served."""
    differences: tuple[Difference, ...] = ()


def differences_of(shadow: Mapping[str, Memory], served: Mapping[str, Memory]) -> tuple[Difference, ...]:
    """The memories in which the served ones differ from those of the log, by id."""
    found: list[Difference] = []
    for memory_id in sorted({*shadow, *served}):
        expected, actual = shadow.get(memory_id), served.get(memory_id)
        if actual is None and expected is not None:
            found.append(Difference(memory_id, expected.kind, "missing"))
        elif expected is None and actual is not None:
            found.append(Difference(memory_id, actual.kind, "extra"))
        elif expected is not None and actual is not None and digest_input(expected) != digest_input(actual):
            found.append(Difference(memory_id, actual.kind, "changed", _differing(expected, actual)))
    return tuple(found)


def digest_of(memories: Mapping[str, Memory]) -> str:
    """The SHA-256 (hex) of memories."""
    sha256 = hashlib.sha256()
    for memory_id in sorted(memories):
        sha256.update(digest_input(memories[memory_id]) + b"\n")
    return sha256.hexdigest()


def _differing(one: Memory, other: Memory) -> tuple[str, ...]:
    before, after = compared_fields(one), compared_fields(other)
    return tuple(sorted(name for name in {*before, *after} if before.get(name) != after.get(name)))
