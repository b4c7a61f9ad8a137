"""Pack: fits the results of a recall into a text for a prompt, within a number of tokens.

The parts that change least come first, so that a provider's cache of prompt prefixes stays valid as long as possible: the delimiter, which
is the same for all of a user's recalls, entities by type and key, summaries and events by time, and last the session's latest messages. The
query determines which events are included, but not their order. Events far less relevant than the best one are left out, even if there is
space: they cost tokens and answer nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory.dates.event_date import shown_date
from memory.errors import RecordError
from memory.records import Memory, Message
from memory.texts.fencing import one_line_json
from memory.texts.text import estimate_tokens
from retrieval.context_lines import HitGroup, dated_text, doubt, grouped, has_only_figures
from retrieval.prompt_delimiter import PromptDelimiter, short_hash
from retrieval.redundancy.entity_coverage import covered_by_entity
from retrieval.request import RecallHit
from retrieval.state_text import state_text
from runtime.logs import logger
from runtime.redis.session_tail import SessionView
from stores.port import TenantScope

_log = logger(__name__)

MIN_TOKENS: Final = 100
"""The delimiter and its preface take about 80 tokens."""
_SHARE_OF_STATES: Final = 0.2
_SHARE_OF_FIRST_STATE: Final = 0.3
"""The first entity, such as the user's profile, may take more: it answers most questions about how things are now."""
_SHARE_OF_TAIL: Final = 0.3
"""Shares of the tokens that are filled before the events. On LoCoMo, 1,000 tokens contain 0.836 of the evidence if entities get 0.2, 0.827
if they get 0.3, and 0.849 without entities (offline extractor, whose entities contain little)."""
_TOKENS_OF_MEMORY: Final = 20
"""A short memory has fewer tokens, most have more."""
_BYTES_OF_TOKEN: Final = 32
"""A message of more bytes per token does not fit. To clean a text of a megabyte and to count its tokens takes a second, in which no other
request runs."""
_FEWEST_HITS: Final = 10
_MOST_HITS: Final = 200
_LEAST_OF_BEST: Final = 0.02
"""Part of the best score that a hit after the first ten needs. In 1,600 tokens of LoCoMo, this leaves out 11 % of the events' tokens and
keeps 0.8880 of the evidence instead of 0.8882; in small memories (a companion, an agent with tools, meetings) 38 to 53 % of the tokens, and
no answer. With 0.03, an answer was lost."""
_SECTIONS: Final = ("states", "summaries", "events", "session")


@dataclass(frozen=True, slots=True)
class Citation:
    """The source of a line of the text."""

    mark: str
    """The mark in brackets at the start of the line."""
    id: str
    """The id of the memory or of the message."""
    kind: str
    """The kind of the memory, or ``message``."""
    evidence: tuple[str, ...]
    """Ids of its source messages, best first."""


@dataclass(frozen=True, slots=True)
class Context:
    """The packed text."""

    text: str
    """Empty if nothing fits."""
    tokens: int
    """Estimated by :func:`memory.texts.text.estimate_tokens`."""
    citations: tuple[Citation, ...]
    """In the order of the text."""
    notes: tuple[str, ...]
    """The lines of the citations, in the same order."""
    left_out: int
    """Number of memories and messages that did not fit."""


@dataclass(frozen=True, slots=True)
class _Note:
    """One line of the text."""

    section: str
    order: tuple[Any, ...]
    """Within the section."""
    citation: Citation
    line: str
    tokens: int


def hits_for(tokens: int) -> int:
    """How many hits a recall needs to fill a text of so many tokens."""
    return min(max(tokens // _TOKENS_OF_MEMORY, _FEWEST_HITS), _MOST_HITS)


def messages_of(view: SessionView) -> list[Message]:
    """The messages of a session's tail, oldest first. Values that are no messages are left out."""
    messages = []
    for raw in view.messages:
        try:
            messages.append(Message.from_json(raw))
        except RecordError as error:
            _log.warning("tail_message_unreadable", error=str(error))
    return messages


def pack(
    scope: TenantScope,
    *,
    states: Sequence[Memory],
    hits: Sequence[RecallHit],
    tail: Sequence[Message],
    tokens: int,
    with_said: bool = False,
) -> Context:
    """Packs the results.

    Args:
        scope: The owner of the memories.
        states: Entities, best first within a type. The best of each type are included first.
        hits: Best first. Entities among them are added to the states, without repetition. An event that a state repeats is left out if that
            state is shown.
        tail: The latest messages of the session, oldest first. Those that contain a recalled text are left out.
        tokens: Most tokens of the whole text, at least :data:`MIN_TOKENS`.
        with_said: Whether an event that a model worded is followed by the words of its message.

    Raises:
        ValueError: If the delimiter alone exceeds the number of tokens.
    """
    if tokens < MIN_TOKENS:
        raise ValueError(f"a context needs at least {MIN_TOKENS} tokens, got {tokens}")
    delimiter = PromptDelimiter(scope)
    known = {each.id for each in states}
    ordered = _types_in_turn(states)
    state_notes = _notes(delimiter, map(_of_state, ordered), with_said=False)
    messages = [_message_note(delimiter, place, each, tokens * _BYTES_OF_TOKEN) for place, each in enumerate(tail) if not each.from_recall]
    messages.reverse()
    packing = _Packing(tokens - estimate_tokens(delimiter.around([f"{each}:" for each in _SECTIONS])))
    _add_states(packing, state_notes, {each.id: each.type for each in states})
    packing.add(messages, share=_SHARE_OF_TAIL)
    shown = {each.citation.id for each in packing.notes}
    hits = _relevant(_without_repeated(hits, [each for each in states if each.id in shown]))
    hit_notes = _notes(delimiter, grouped(each for each in hits if each.memory.id not in known), with_said=with_said)
    # Events whose messages are in the tail are included only if there is space left.
    said = {note.citation.id for note in packing.notes if note.section == "session"}
    # A message id is unique only within its session.
    here = {None, *(each.session for each in tail)}
    elsewhere = {each.memory.id for each in hits if each.memory.session not in here}
    packing.add([each for each in hit_notes if each.citation.id in elsewhere or not said.issuperset(each.citation.evidence)])
    nearest = {each.id for each in _nearest_of_types(states)}
    packing.add([*(each for each in state_notes if each.citation.id in nearest), *messages, *hit_notes])
    found = {each.citation.mark for each in (*state_notes, *hit_notes, *messages)}
    return packing.packed(delimiter, found=len(found))


class _Packing:
    """Adds notes as long as there is space. A note that is too long is skipped; the next one may fit."""

    def __init__(self, tokens: int) -> None:
        self.notes: list[_Note] = []
        self._left = tokens
        self._whole = tokens
        self._marks: set[str] = set()

    @property
    def used_share(self) -> float:
        """The part of all tokens that is used."""
        return (self._whole - self._left) / self._whole

    def add(self, notes: Iterable[_Note], *, share: float = 1.0) -> bool:
        """Adds the notes that fit, in their order. Whether there was one.

        Args:
            notes: Most important first. Notes that were added before are skipped.
            share: The part of all tokens that they may take.
        """
        before = len(self.notes)
        left = min(self._left, int(self._whole * share))
        for note in notes:
            if note.tokens <= left and note.citation.mark not in self._marks:
                self._marks.add(note.citation.mark)
                self.notes.append(note)
                left -= note.tokens
                self._left -= note.tokens
        return len(self.notes) > before

    def packed(self, delimiter: PromptDelimiter, *, found: int) -> Context:
        """The text.

        Args:
            delimiter: Encloses the text.
            found: Number of all notes.
        """
        lines: list[str] = []
        ordered: list[_Note] = []
        for section in _SECTIONS:
            inside = sorted((note for note in self.notes if note.section == section), key=lambda note: note.order)
            if inside:
                lines += [f"{section}:", *(note.line for note in inside)]
                ordered += inside
        text = delimiter.around(lines) if lines else ""
        return Context(
            text=text,
            tokens=estimate_tokens(text),
            citations=tuple(note.citation for note in ordered),
            notes=tuple(note.line for note in ordered),
            left_out=found - len(ordered),
        )


def _add_states(packing: "_Packing", notes: Sequence[_Note], types: Mapping[str, str]) -> None:
    """Adds the entities that fit into their share. None takes the place of a nearer one of its type that is too long."""
    too_long: set[str] = set()
    for place, note in enumerate(notes):
        share = _SHARE_OF_STATES if place else _SHARE_OF_FIRST_STATE
        if types[note.citation.id] not in too_long and not packing.add([note], share=share - packing.used_share):
            too_long.add(types[note.citation.id])


def _types_in_turn(states: Sequence[Memory]) -> list[Memory]:
    """The first of each type, then the second of each, and so on: many entities of one type do not displace the others.

    Entities that consist of figures come last: a count without a word answers few questions.
    """
    seen: Counter[str] = Counter()
    places = []
    for state in states:
        places.append((has_only_figures(state), seen[state.type]))
        seen[state.type] += 1
    return [each for _, each in sorted(zip(places, states, strict=True), key=lambda ranked: ranked[0])]


def _nearest_of_types(states: Sequence[Memory]) -> Iterable[Memory]:
    return {each.type: each for each in reversed(states)}.values()


def _without_repeated(hits: Sequence[RecallHit], shown: Sequence[Memory]) -> Sequence[RecallHit]:
    """The hits without those that a shown entity repeats. Those of an entity that does not fit stay: the text would not have them."""
    covered = covered_by_entity((each for each in hits if each.repeated_by is not None), shown)
    return [each for each in hits if each.memory.id not in covered] if covered else hits


def _relevant(hits: Sequence[RecallHit]) -> list[RecallHit]:
    """The hits without those of far lower scores. The scores of further retrievers cannot be compared, so their hits stay."""
    least = _LEAST_OF_BEST * max((each.score for each in hits if each.path is None), default=0.0)
    return [each for place, each in enumerate(hits) if place < _FEWEST_HITS or each.path is not None or each.score >= least]


def _of_state(memory: Memory) -> HitGroup:
    evidence = tuple(memory.message_ids)
    return HitGroup(
        RecallHit(memory=memory, score=0.0, parts={}, evidence=evidence, evidence_scores=(0.0,) * len(evidence)), memory.event_time
    )


def _notes(delimiter: PromptDelimiter, groups: Iterable[HitGroup], *, with_said: bool) -> list[_Note]:
    notes = (_memory_note(delimiter, each, with_said=with_said) for each in groups)
    return [each for each in notes if each is not None]


def _memory_note(delimiter: PromptDelimiter, group: HitGroup, *, with_said: bool) -> _Note | None:
    """The line of memories. None: it would be empty."""
    memory = group.hit.memory
    citation = Citation(short_hash("memory", memory.id), memory.id, memory.kind, group.hit.evidence)
    if memory.kind == "entity" and not _is_note(memory):
        text = state_text(memory.content, memory.properties)
        place = (memory.type, memory.entity_key or "", memory.id)
        return (
            None
            if text is None
            else _note(delimiter, "states", place, citation, f"{shown_date(memory.event_time, None)} {text}{doubt(memory)}")
        )
    section = "summaries" if memory.kind in ("summary", "segment") else "events"
    if memory.speaker is not None and memory.said_at is not None:
        order = (memory.said_at, memory.session or "", memory.turn or 0, memory.id)
        return _note(delimiter, section, order, citation, dated_text(memory))
    order = (memory.event_time, memory.session or "", memory.turn or 0, memory.id)
    said = f" (said: {memory.said})" if with_said and memory.said is not None else ""
    return _note(delimiter, section, order, citation, f"{dated_text(memory)}{doubt(memory)}{said}{group.suffix}")


def _is_note(memory: Memory) -> bool:
    """Whether an entity's memory is a note of one event (``LINK``): it names the event and its window."""
    return all(isinstance(memory.properties.get(name), str) for name in ("event", "window"))


def _message_note(delimiter: PromptDelimiter, place: int, message: Message, longest: int) -> _Note:
    """The line of a message. Of one with more bytes than ``longest`` it is empty, and has more tokens than fit."""
    identity = message.id or f"{place}"
    citation = Citation(short_hash("message", message.session, identity), identity, "message", (identity,))
    if len(message.to_json()) > longest:
        return _Note("session", (place,), citation, "", longest)
    said = [message.text] if message.text.strip() else []
    said += [f"{call.name}: {one_line_json(call.result)}" for call in message.calls]
    said += [f"{result.name or 'tool'}: {one_line_json(result.content)}" for result in message.tool_results]
    return _note(
        delimiter,
        "session",
        (place,),
        citation,
        f"{shown_date(message.event_time, None)} {message.speaker or message.role}: {' '.join(said)}",
    )


def _note(delimiter: PromptDelimiter, section: str, order: tuple[Any, ...], citation: Citation, text: str) -> _Note:
    line = f"[{citation.mark}] {delimiter.line(text)}"
    return _Note(section, order, citation, line, estimate_tokens(line))
