"""Packs what a recall found into a block of text for a prompt, within a number of tokens.

What changes least stands first, so that a provider's cache of prompt prefixes holds for as long as it can: the fence, which is the same for
all of a user's recalls, the states by type and key, summaries and events by their time, and last the session's tail. Which events stand
there depends on the query; where they stand does not.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory.dates.event_date import shown_date
from memory.fencing import one_line_json
from memory.records import Memory, Message
from memory.text import estimate_tokens
from retrieval.fence import Fence, short_hash
from retrieval.request import RecallHit
from stores.port import TenantScope

MIN_TOKENS: Final = 100
"""The fence and its preface take about eighty."""
_SHARE_OF_STATES: Final = 0.2
_SHARE_OF_TAIL: Final = 0.3
"""Of the room, before the events have got theirs. On LoCoMo, states with .2 leave room for .836 of the evidence in 1,000 tokens, with .3
for .827, and no states for .849 (offline extractor: its states say little)."""
_SECTIONS: Final = ("states", "summaries", "events", "session")


@dataclass(frozen=True, slots=True)
class Citation:
    """What a mark in the block stands for."""

    mark: str
    """As it stands in brackets."""
    id: str
    """Of the memory, or of the message."""
    kind: str
    """Of the memory, or ``message``."""
    evidence: tuple[str, ...]
    """Ids of the messages that it rests on, best first."""


@dataclass(frozen=True, slots=True)
class Context:
    """The block."""

    text: str
    """Empty where nothing was found that fits."""
    tokens: int
    """By :func:`memory.text.estimate_tokens`."""
    citations: tuple[Citation, ...]
    """In the order of the block."""
    notes: tuple[str, ...]
    """The lines that bear the citations, in the same order."""
    left_out: int
    """Memories and messages that were found and did not fit."""


@dataclass(frozen=True, slots=True)
class _Note:
    """One line of the block."""

    section: str
    order: tuple[Any, ...]
    """Within the section."""
    citation: Citation
    line: str
    tokens: int


def pack(
    scope: TenantScope,
    *,
    states: Sequence[Memory],
    hits: Sequence[RecallHit],
    tail: Sequence[Message],
    tokens: int,
    with_said: bool = False,
) -> Context:
    """Packs.

    Args:
        scope: Whose memories they are.
        states: Entities, nearest first within a type. The nearest of each type are wanted most.
        hits: Best first. An entity among them is a state; one that is among the states already is passed over.
        tail: The newest messages of the session, oldest first. Those that a recall put there are passed over.
        tokens: Most tokens of the whole block, at least :data:`MIN_TOKENS`.
        with_said: Whether an event stands there with what its message says, where its content is other words.

    Raises:
        ValueError: If so few tokens hold not even the fence.
    """
    if tokens < MIN_TOKENS:
        raise ValueError(f"a context needs at least {MIN_TOKENS} tokens, got {tokens}")
    fence = Fence(scope)
    known = {each.id for each in states}
    state_notes = [_memory_note(fence, each, tuple(each.message_ids), with_said=False) for each in _types_in_turn(states)]
    hit_notes = [_memory_note(fence, each.memory, each.evidence, with_said=with_said) for each in hits if each.memory.id not in known]
    messages = [_message_note(fence, place, each) for place, each in enumerate(tail) if not each.from_recall]
    messages.reverse()
    packing = _Packing(tokens - estimate_tokens(fence.around([f"{each}:" for each in _SECTIONS])))
    packing.add(state_notes, share=_SHARE_OF_STATES)
    packing.add(messages, share=_SHARE_OF_TAIL)
    # What the tail says in its own words is repeated only where there is room to spare.
    said = {note.citation.id for note in packing.notes if note.section == "session"}
    # A message's id is its own within its session alone.
    here = {None, *(each.session for each in tail)}
    elsewhere = {each.memory.id for each in hits if each.memory.session not in here}
    packing.add([each for each in hit_notes if each.citation.id in elsewhere or not said.issuperset(each.citation.evidence)])
    packing.add([*state_notes, *messages, *hit_notes])
    found = {each.citation.mark for each in (*state_notes, *hit_notes, *messages)}
    return packing.packed(fence, found=len(found))


class _Packing:
    """Takes notes as long as there is room. A note that is too long is passed over; the next may fit."""

    def __init__(self, room: int) -> None:
        self.notes: list[_Note] = []
        self._room = room
        self._whole = room
        self._marks: set[str] = set()

    def add(self, notes: Iterable[_Note], *, share: float = 1.0) -> None:
        """Takes those that fit, in their order.

        Args:
            notes: Most wanted first. Those that are in already are passed over.
            share: The part of the whole room that they may take.
        """
        left = min(self._room, int(self._whole * share))
        for note in notes:
            if note.tokens <= left and note.citation.mark not in self._marks:
                self._marks.add(note.citation.mark)
                self.notes.append(note)
                left -= note.tokens
                self._room -= note.tokens

    def packed(self, fence: Fence, *, found: int) -> Context:
        """The block.

        Args:
            fence: Around it.
            found: How many notes there were to take.
        """
        lines: list[str] = []
        ordered: list[_Note] = []
        for section in _SECTIONS:
            inside = sorted((note for note in self.notes if note.section == section), key=lambda note: note.order)
            if inside:
                lines += [f"{section}:", *(note.line for note in inside)]
                ordered += inside
        text = fence.around(lines) if lines else ""
        return Context(
            text=text,
            tokens=estimate_tokens(text),
            citations=tuple(note.citation for note in ordered),
            notes=tuple(note.line for note in ordered),
            left_out=found - len(ordered),
        )


def _types_in_turn(states: Sequence[Memory]) -> list[Memory]:
    """The first of each type, the second of each, and so on: many instances of one type do not crowd out the others."""
    seen: Counter[str] = Counter()
    rounds = []
    for each in states:
        rounds.append(seen[each.type])
        seen[each.type] += 1
    return [each for _, each in sorted(zip(rounds, states, strict=True), key=lambda ranked: ranked[0])]


def _memory_note(fence: Fence, memory: Memory, evidence: tuple[str, ...], *, with_said: bool) -> _Note:
    mark = short_hash("memory", memory.id)
    citation = Citation(mark, memory.id, memory.kind, evidence)
    if memory.kind == "entity":
        return _note(fence, "states", (memory.type, memory.entity_key or "", memory.id), citation, memory.content)
    section = "events" if memory.kind == "event" else "summaries"
    order = (memory.event_time, memory.session or "", memory.turn or 0, memory.id)
    content = f"{memory.content} (said: {memory.said})" if with_said and memory.said is not None else memory.content
    return _note(fence, section, order, citation, f"{shown_date(memory.event_time, memory.date)} {content}")


def _message_note(fence: Fence, place: int, message: Message) -> _Note:
    identity = message.id or f"{place}"
    citation = Citation(short_hash("message", message.session, identity), identity, "message", (identity,))
    said = [message.text] if message.text.strip() else []
    said += [f"{call.name}: {one_line_json(call.result)}" for call in message.calls]
    said += [f"{result.name or 'tool'}: {one_line_json(result.content)}" for result in message.tool_results]
    return _note(
        fence, "session", (place,), citation, f"{shown_date(message.event_time, None)} {message.speaker or message.role}: {' '.join(said)}"
    )


def _note(fence: Fence, section: str, order: tuple[Any, ...], citation: Citation, text: str) -> _Note:
    line = f"[{citation.mark}] {fence.line(text)}"
    return _Note(section, order, citation, line, estimate_tokens(line))
