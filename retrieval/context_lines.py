"""The words of a context's lines, and which memories share one: a prompt pays for each word that a line repeats."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.dates.calendar import day_in_words
from memory.dates.event_date import UNKNOWN_DATE, shown_date
from memory.keys import entity_key_parts
from memory.records import Memory
from memory.records.wording import attributed_text
from retrieval.request import RecallHit

_DURATION: Final = re.compile(r" after [\d.e+-]+ ms(?=[ ;.]|$)")
"""How long a tool ran, in an event that a rule worded."""


def dated_text(memory: Memory) -> str:
    """The memory's text after its date; a person's own words with their name."""
    if memory.speaker is not None and memory.said_at is not None:
        return _quoted(memory, memory.said_at)
    shown = shown_date(memory.event_time, memory.date)
    content = memory.content
    if shown == memory.event_time.date().isoformat():
        # An event that a rule worded names its day, which the line begins with.
        content = content.replace(f" ({day_in_words(memory.event_time)})", "", 1)
    # Of two announcements for different days, the one that was made later holds.
    announced = (
        f" (said {shown_date(memory.said_at, None)})" if memory.said_at is not None and _is_announced(memory, memory.said_at) else ""
    )
    return f"{shown} {content}{announced}"


def _quoted(memory: Memory, said_at: datetime) -> str:
    """A person's own words with their name and the day on which they said it; then when it happened or is to happen, if that is named."""
    line = f"{shown_date(said_at, None)} {attributed_text(memory)}"
    if memory.date is None or memory.date == UNKNOWN_DATE.text:
        return line
    return f"{line} ({'for' if _is_announced(memory, said_at) else 'happened'}: {shown_date(memory.event_time, memory.date)})"


def _is_announced(memory: Memory, said_at: datetime) -> bool:
    """Whether it was said before the day for which it was said: a plan may not have happened."""
    return memory.kind == "event" and memory.event_time.date() > said_at.date()


def doubt(memory: Memory) -> str:
    """The end of the line of a memory that may be an invention, or an entity that is partly based on such; else empty."""
    if not memory.unsupported:
        return ""
    return " (unconfirmed)" if memory.kind == "event" else " (partly unconfirmed)"


def has_only_figures(memory: Memory) -> bool:
    """Whether an entity has numbers and truth values only, besides its key.

    Args:
        memory: An entity.
    """
    key = entity_key_parts(memory.entity_key) if memory.entity_key else ()
    return not any(isinstance(value, (str, list)) and value not in key for value in memory.properties.values())


@dataclass(frozen=True, slots=True)
class HitGroup:
    """Hits that share a line: the newest of them, with the evidence of all."""

    hit: RecallHit
    since: datetime
    """The time of the oldest."""
    size: int = 1

    @property
    def suffix(self) -> str:
        """The end of the line, about the others; empty if there is none."""
        if self.size == 1:
            return ""
        first, last = (each.date() for each in (self.since, self.hit.memory.event_time))
        return f" ({self.size} times {'that day' if first == last else f'since {first.isoformat()}'})"


def grouped(hits: Iterable[RecallHit]) -> list[HitGroup]:
    """Puts events together that rules or models worded alike, except for the day and the duration of a tool's call.

    A tool that failed five times in the same way is one line. Words of people, and events of an inexact date, stay alone.

    Args:
        hits: Best first.

    Returns:
        The groups, ordered by the best hit of each.
    """
    groups: dict[object, HitGroup] = {}
    for hit in hits:
        key = _shape(hit.memory)
        known = groups.get(key)
        if known is None:
            groups[key] = HitGroup(hit, hit.memory.event_time)
            continue
        newer, older = (hit, known.hit) if hit.memory.event_time > known.hit.memory.event_time else (known.hit, hit)
        scores = dict(zip(newer.evidence, newer.evidence_scores, strict=True))
        scores |= {name: score for name, score in zip(older.evidence, older.evidence_scores, strict=True) if name not in scores}
        merged = newer._replace(evidence=tuple(scores), evidence_scores=tuple(scores.values()))
        groups[key] = HitGroup(merged, min(known.since, hit.memory.event_time), known.size + 1)
    return list(groups.values())


def _shape(memory: Memory) -> object:
    if memory.kind != "event" or memory.speaker is not None or memory.date is not None:
        return memory.id
    words = memory.content.replace(f" ({day_in_words(memory.event_time)})", "", 1)
    return memory.user, memory.session, memory.type, memory.unsupported, _DURATION.sub("", words, count=1)
