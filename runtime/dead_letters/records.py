"""Dead letters and their selection. Pure."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

from memory.positions import LogPosition
from memory.records import DeadLetterMetadata
from runtime.dead_letters.metadata import Outcome, Resolution

DeadLetterState = Literal["open", "redriven", "superseded", "purged"]
"""``superseded``: the feed has a newer value of the same memory, so the letter was not redriven."""


NOT_PURGED: Final[frozenset[DeadLetterState]] = frozenset({"open", "redriven", "superseded"})


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead letter without its content."""

    position: LogPosition
    """Position in the dead-letter topic."""
    metadata: DeadLetterMetadata
    """Metadata, with the tenant if the record contains one."""
    key: bytes | None
    size: int
    """Size of its value, in bytes."""
    state: DeadLetterState = "open"
    settled_at: datetime | None = None
    parts: int = 0
    """Number of following records that hold the content; 0: the letter itself holds it."""

    def as_json(self) -> dict[str, Any]:
        """The letter as JSON for operators, without its content."""
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
class DeadLetterWithContent:
    """A dead letter with its content, untouched."""

    letter: DeadLetter
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    """The headers as the source's producer wrote them."""
    answer: str | None
    """The model's answer, if it caused the failure."""

    def as_json(self) -> dict[str, Any]:
        """The letter with its content: ``value`` as text if it is UTF-8, otherwise ``value_base64``."""
        content: dict[str, Any] = {}
        try:
            content["value"] = None if self.value is None else self.value.decode()
        except UnicodeDecodeError:
            content["value_base64"] = base64.b64encode(self.value or b"").decode("ascii")
        headers = [[name, _text(value)] for name, value in self.headers]
        return {**self.letter.as_json(), "key": _text(self.key), **content, "headers": headers, "answer": self.answer}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterSelection:
    """Selects the dead letters that meet all given conditions."""

    tenant: str | None = None
    stage: str | None = None
    reason: str | None = None
    since: datetime | None = None
    """Failed at this time or later (aware)."""
    until: datetime | None = None
    """Failed before this time (aware)."""
    positions: frozenset[LogPosition] = frozenset()
    """Only these positions. Default: all."""
    states: frozenset[DeadLetterState] = frozenset({"open"})

    def __post_init__(self) -> None:
        for name in ("since", "until"):
            moment: datetime | None = getattr(self, name)
            if moment is not None and moment.tzinfo is None:
                raise ValueError(f"{name} needs a time zone, got {moment.isoformat()}; add one, for example Z")

    @property
    def narrows(self) -> bool:
        """Whether there is any condition other than the state."""
        return bool(self.positions) or any(each is not None for each in (self.tenant, self.stage, self.reason, self.since, self.until))

    def matches(self, letter: DeadLetter) -> bool:
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


def apply_resolutions(letters: Iterable[DeadLetter], resolutions: Iterable[tuple[int, Resolution]]) -> list[DeadLetter]:
    """The letters with their states: the newest resolution counts, except that a purge is final.

    Args:
        letters: The letters, in any order.
        resolutions: Pairs of partition and resolution, in log order within a partition.
    """
    known = {(letter.position.partition, letter.position.offset): letter for letter in letters}
    for partition, resolution in resolutions:
        letter = known.get((partition, resolution.offset))
        if letter is not None and letter.state != "purged":
            known[partition, resolution.offset] = replace(letter, state=resolution.outcome, settled_at=resolution.time)
    return list(known.values())


def deletable_before(letters: Iterable[DeadLetter], ends: dict[int, int]) -> dict[int, int]:
    """Offsets before which records can be deleted, because all letters before them are purged.

    Returns:
        Offsets by partition, without partitions in which nothing was purged.
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
