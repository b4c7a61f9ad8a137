"""Updates of notes that follow from a decision of LINK: each is owned by one event, and changes the note of another."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from memory.records import NoteRef, NoteUpdate
from memory.texts.text import shortened
from operators.links.link_prompt import Decision, PromptNote

MAX_TEXT: Final = 4_000
"""Characters of a note's own words."""


def note_text(value: JsonValue) -> str:
    """The words of a note, from the value of its change."""
    text = value.get("text") if isinstance(value, dict) else None
    return shortened(text, MAX_TEXT) if isinstance(text, str) else ""


def note_digest(text: str) -> str:
    """Digest of a note's words."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note that a lookup found."""

    ref: NoteRef
    note: PromptNote
    score: float
    """The cosine, 0 to 1."""


def neighbour_of(found: Mapping[str, Any]) -> Neighbour | None:
    """A found memory as a neighbour; None if it is no note."""
    note = found.get("note")
    if not isinstance(note, dict):
        return None
    ref = NoteRef(id=note["event"], window_id=note["window"], digest=note_digest(note["text"]))
    return Neighbour(ref, PromptNote(text=note["text"], day=note["day"]), found["score"])


def updates_of_decision(decision: Decision, own: NoteRef, neighbours: Sequence[Neighbour], *, order: int) -> list[NoteUpdate]:
    """The updates that a decision brings: first those of the neighbours, owned by the note, then those of the note, owned by them.

    Args:
        decision: The decision.
        own: The note.
        neighbours: The notes that it was compared with.
        order: The order of the note's event: of several updates of a note, the one with the greatest order is the newest.
    """
    of_neighbours: dict[int, dict[str, JsonValue]] = {}
    of_own: dict[int, dict[str, JsonValue]] = {}
    for index, relation in decision.links.items():
        score = neighbours[index].score
        of_neighbours[index] = {"link": [own.id, score, relation]}
        of_own[index] = {"link": [neighbours[index].ref.id, score, relation]}
    for index, change in decision.changes.items():
        of_neighbours[index] = {**of_neighbours.get(index, {}), **change}
    if decision.known_as is not None:
        of_own[decision.known_as] = {"hidden": "known"}
    if decision.merged_into is not None:
        index, text = decision.merged_into
        of_neighbours[index] = {"text": text}
        of_own[index] = {"hidden": "merged"}
    for index in decision.contradicted:
        of_neighbours[index] = {"hidden": "contradicted"}
    refs = [each.ref for each in neighbours]
    return [
        *(
            NoteUpdate(owner=own, target=refs[index], change={**each, "of": refs[index].digest, "order": order})
            for index, each in of_neighbours.items()
        ),
        *(NoteUpdate(owner=refs[index], target=own, change={**each, "of": own.digest, "order": order}) for index, each in of_own.items()),
    ]
