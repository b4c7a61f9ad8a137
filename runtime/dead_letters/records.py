"""Dead letters as operators see and select them. Pure: records in, letters out."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

from memory.positions import LogPosition
from memory.records import DeadLetter
from runtime.dead_letters.metadata import Outcome, Resolution

LetterState = Literal["open", "redriven", "superseded", "purged"]
"""``superseded``: a newer value of the same memory stands in the feed, so that there was nothing to drive again."""


NOT_PURGED: Final[frozenset[LetterState]] = frozenset({"open", "redriven", "superseded"})


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter without its content."""

    position: LogPosition
    """In the dead-letter topic."""
    metadata: DeadLetter
    """With its tenant, where the record says one."""
    key: bytes | None
    size: int
    """Of its value, in bytes."""
    state: LetterState = "open"
    settled_at: datetime | None = None
    parts: int = 0
    """How many parts behind the letter hold its content; 0: it lies in the letter."""

    def as_json(self) -> dict[str, Any]:
        """The letter as operators are shown it, without its content."""
        metadata = self.metadata.model_dump(mode="json", exclude={"schema_version"})
        return {
            "place": self.position.within_topic,
            "state": self.state,
            **metadata,
            "key": _text(self.key),
            "size": self.size,
            "parts": self.parts,
            "settled_at": None if self.settled_at is None else self.settled_at.isoformat(),
        }

    def resolved(self, outcome: Outcome, time: datetime) -> Resolution:
        """The resolution of this letter."""
        return Resolution(self.position.offset, outcome, time)


@dataclass(frozen=True, slots=True)
class LetterWithContent:
    """A dead letter with its content, untouched."""

    letter: Letter
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    """As the source's producer wrote them."""
    answer: str | None
    """What the model answered, where that was the reason."""

    def as_json(self) -> dict[str, Any]:
        """The letter with its content: ``value`` as text where it is UTF-8, else ``value_base64``."""
        content: dict[str, Any] = {}
        try:
            content["value"] = None if self.value is None else self.value.decode()
        except UnicodeDecodeError:
            content["value_base64"] = base64.b64encode(self.value or b"").decode("ascii")
        headers = [[name, _text(value)] for name, value in self.headers]
        return {**self.letter.as_json(), "key": _text(self.key), **content, "headers": headers, "answer": self.answer}


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterSelection:
    """Selects dead letters: those that meet all that is given."""

    tenant: str | None = None
    stage: str | None = None
    reason: str | None = None
    since: datetime | None = None
    """Given up at this moment or later (aware)."""
    until: datetime | None = None
    """Given up before this moment (aware)."""
    positions: frozenset[LogPosition] = frozenset()
    """Only these; empty: all."""
    states: frozenset[LetterState] = frozenset({"open"})

    def __post_init__(self) -> None:
        for name in ("since", "until"):
            moment: datetime | None = getattr(self, name)
            if moment is not None and moment.tzinfo is None:
                raise ValueError(f"{name} needs a time zone, got {moment.isoformat()}; add one, for example Z")

    @property
    def narrows(self) -> bool:
        """Whether anything but the state is asked for."""
        return bool(self.positions) or any(each is not None for each in (self.tenant, self.stage, self.reason, self.since, self.until))

    def matches(self, letter: Letter) -> bool:
        """Whether a letter is selected."""
        metadata = letter.metadata
        return (
            letter.state in self.states
            and (self.tenant is None or metadata.tenant == self.tenant)
            and (self.stage is None or metadata.stage == self.stage)
            and (self.reason is None or metadata.reason == self.reason)
            and (self.since is None or metadata.last_time >= self.since)
            and (self.until is None or metadata.last_time < self.until)
            and (not self.positions or letter.position in self.positions)
        )


def apply_resolutions(letters: Iterable[Letter], resolutions: Iterable[tuple[int, Resolution]]) -> list[Letter]:
    """The letters with what became of them: the newest resolution counts, but nothing brings back what was purged.

    Args:
        letters: In any order.
        resolutions: Each with its partition; in the order of their log within a partition.
    """
    known = {(letter.position.partition, letter.position.offset): letter for letter in letters}
    for partition, resolution in resolutions:
        letter = known.get((partition, resolution.offset))
        if letter is not None and letter.state != "purged":
            known[partition, resolution.offset] = replace(letter, state=resolution.outcome, settled_at=resolution.time)
    return list(known.values())


def deletable_before(letters: Iterable[Letter], ends: dict[int, int]) -> dict[int, int]:
    """Up to where each partition's records can be deleted: all letters before are purged.

    Args:
        letters: All that the topic still has.
        ends: By partition, the end up to which it was read.

    Returns:
        By partition, the offset to delete up to; partitions in which nothing was purged are left out.
    """
    purged: dict[int, list[int]] = {}
    first_unpurged: dict[int, int] = {}
    for letter in letters:
        partition, offset = letter.position.partition, letter.position.offset
        if letter.state == "purged":
            purged.setdefault(partition, []).append(offset)
        else:
            first_unpurged[partition] = min(offset, first_unpurged.get(partition, offset))
    bounds = {partition: first_unpurged.get(partition, ends[partition]) for partition in purged}
    return {partition: bound for partition, bound in bounds.items() if any(offset < bound for offset in purged[partition])}


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("utf-8", "backslashreplace")
