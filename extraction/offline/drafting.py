"""Drafts a window's segments, events and patches by rule. Pure: between :func:`read_window` and :func:`draft_of` the caller embeds."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import JsonValue

from extraction.bounds import LONGEST_TOPIC, MAX_ITEMS, MAX_KEYWORDS, most_important
from extraction.deduplication import Candidate, Thresholds, compare, merge
from extraction.drafts import Draft, DropCounter, EventDraft, SegmentDraft
from extraction.offline.events.event_types import TypeChooser
from extraction.offline.events.keywords import MAX_OF_EVENT, KeywordRanker
from extraction.offline.events.properties import TASTES, properties_of, tastes_in
from extraction.offline.events.tool_events import stated_type
from extraction.offline.events.wording import event_content, event_date_of
from extraction.offline.facts.endings import Ending
from extraction.offline.facts.profile_facts import believed, patches_of, user_statements
from extraction.offline.facts.sentence_facts import PlainFact
from extraction.offline.grammar.content_words import content_words, has_digit
from extraction.offline.grammar.fact_grammar import Field
from extraction.offline.search_vectors import SearchTexts, plain_text, texts_of, vectors_of
from extraction.offline.segmentation import Utterance, topics
from extraction.offline.turns import Passage, Turn, name_of, passages_of, turns_of
from extraction.port import ExtractionContext
from extraction.statements import either_says_all
from memory.dates.mentions import unclear_dates
from memory.records import Window
from memory.schema import MemorySchema, coerce_properties
from memory.schema.method import DERIVED_TYPES
from memory.texts.prefiltered_patterns import compiled
from memory.texts.text import shortened
from models.embedding.port import Embedding, Vector

_OWN_LIFE: Final = compiled(r"\b(?:I|I['’]\w+|my|we|our)\b")
_NAME: Final = re.compile(r"[a-z,] [A-Z][a-z]")
_TOPIC_KEYWORDS: Final = 3
_MOST_PLACES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadWindow:
    """A window's turns, and the passages of them that are worth remembering."""

    turns: list[Turn]
    passages: list[Passage]
    texts: SearchTexts
    """The texts to embed."""
    facts: list[PlainFact] = field(default_factory=list)
    """Facts that the user plainly states about themselves."""
    endings: list[Ending] = field(default_factory=list)
    """Statements of the user that facts are over."""
    tally: DropCounter = field(default_factory=DropCounter)

    def named_places(self) -> list[str]:
        """The latest homes that count only if the embedding model knows them as places."""
        return list(dict.fromkeys(fact.value for fact in reversed(self.facts) if fact.place_evidence is not None))[:_MOST_PLACES]


def read_window(window: Window, recalled: frozenset[str], earlier: Sequence[str] = ()) -> ReadWindow:
    """Finds what of a window is worth remembering.

    Args:
        window: The window.
        recalled: Content hashes of what recalls returned lately.
        earlier: Contents of the session's latest events, in order.
    """
    tally = DropCounter()
    turns = turns_of(window.messages, recalled=recalled, tally=tally, earlier=earlier)
    passages = [passage for index in range(len(turns)) for passage in passages_of(turns, index)]
    tally.drop("message", "filler", len(turns) - len({passage.turn_index for passage in passages}))
    distinct = list({(passage.turn_index, passage.text): passage for passage in reversed(passages)}.values())[::-1]
    tally.drop("event", "duplicate", len(passages) - len(distinct))
    selected = most_important(distinct, _weights(turns, distinct))
    tally.drop("event", "too_many", len(distinct) - len(selected))
    facts, endings = user_statements(turns, window.user)
    return ReadWindow(turns=turns, passages=selected, texts=texts_of(turns, selected), facts=facts, endings=endings, tally=tally)


def _weights(turns: Sequence[Turn], passages: Sequence[Passage]) -> list[float]:
    """How much each passage matters; a repetition by the same speaker matters less than all else."""
    seen: set[tuple[str, str]] = set()
    weights: list[float] = []
    for passage in passages:
        turn = turns[passage.turn_index]
        statement = (turn.speaker, passage.text)
        weights.append(importance_of(turn, passage) - (statement in seen))
        seen.add(statement)
    return weights


def draft_of(
    read: ReadWindow,
    *,
    embeddings: Mapping[str, Embedding],
    type_embeddings: Sequence[Embedding],
    place_scores: Mapping[str, float],
    window: Window,
    schema: MemorySchema,
    context: ExtractionContext,
) -> Draft:
    """Segments, events and patches of a window.

    Args:
        read: What of the window is worth remembering.
        embeddings: Of each of the window's ``texts.distinct()``.
        type_embeddings: Of the schema's event types, as :func:`extraction.offline.events.event_types.type_text` words them.
        place_scores: Of :meth:`ReadWindow.named_places`.
        window: The window.
        schema: The tenant's.
        context: Known entities and the session's earlier events.
    """
    turns, passages, tally = read.turns, read.passages, read.tally
    vectors = vectors_of(turns, passages, read.texts, embeddings)
    ranker = KeywordRanker([passage.text for passage in passages], names=[turn.speaker for turn in turns])
    utterances = [Utterance(plain_text(turn), embedding) for turn, embedding in zip(turns, vectors.turns, strict=True)]
    segments, segment_of = _segments(turns, passages, utterances, ranker)
    facts, endings = believed(read.facts, read.endings, place_scores)
    home_turns = {fact.message for fact in facts if fact.field is Field.HOME}
    tastes = [fact for fact in facts if fact.field in TASTES]
    chooser = TypeChooser(schema.event_types, type_embeddings, turns)
    events: list[EventDraft] = []
    for index, passage in enumerate(passages):
        call = turns[passage.turn_index].message.tool_call
        stated = tastes_in(passage, turns[passage.turn_index], tastes)
        states_home = passage.turn_index in home_turns
        event_type = chooser.choose(passage, vectors.passages[index], call, states_home=states_home, states_taste=bool(stated))
        if event_type is None:
            tally.drop("event", "no_event_type")
            continue
        topic = segments[segment_of[passage.turn_index]].topic
        coerced = coerce_properties(event_type, properties_of(event_type, turns, passage, topic=topic, tastes=stated))
        if stated_type((event_type,), call) is not None:
            tally.drop_stated(coerced.dropped)
        else:
            tally.drop_properties(coerced.dropped)
        events.append(
            _event(
                turns, passage, event_type.name, coerced.properties, segment_of[passage.turn_index], ranker, read.texts.of_passages[index]
            )
        )
    patches = list(patches_of(facts, endings, turns, window=window, schema=schema, entities=context.entities, tally=tally))
    tally.drop("patch", "too_many", max(0, len(patches) - MAX_ITEMS))
    return Draft(
        segments=tuple(segments),
        events=tuple(events),
        patches=tuple(patches[:MAX_ITEMS]),
        tally=tally,
    )


def stated_events(window: Window, schema: MemorySchema, recalled: frozenset[str]) -> Draft:
    """See :data:`extraction.port.StatedEvents`. They are those that :func:`draft_of` drafts for these messages, without a segment."""
    event_types = schema.without_event_types(*DERIVED_TYPES).event_types
    if not any(stated_type(event_types, message.tool_call) for message in window.messages):
        return Draft()
    turns, tally = turns_of(window.messages, recalled=recalled, tally=DropCounter()), DropCounter()
    events: list[EventDraft] = []
    for index, turn in enumerate(turns):
        if (event_type := stated_type(event_types, turn.message.tool_call)) is None:
            continue
        (passage,) = passages_of(turns, index)
        coerced = coerce_properties(event_type, properties_of(event_type, turns, passage, topic=""))
        tally.drop_stated(coerced.dropped)
        ranker = KeywordRanker([passage.text], names=[turn.speaker])
        events.append(_event(turns, passage, event_type.name, coerced.properties, None, ranker, None))
    return Draft(events=tuple(events), tally=tally)


def _segments(
    turns: Sequence[Turn], passages: Sequence[Passage], utterances: Sequence[Utterance], ranker: KeywordRanker
) -> tuple[list[SegmentDraft], dict[int, int]]:
    """The segments without their noise, and for each turn of a passage the segment that it is in."""
    segments: list[SegmentDraft] = []
    segment_of: dict[int, int] = {}
    texts: dict[int, list[str]] = {}
    for passage in passages:
        texts.setdefault(passage.turn_index, []).append(passage.text)
    for stretches in topics(utterances):
        members = [index for first, last in stretches for index in range(first, last + 1) if index in texts]
        if not members:
            continue
        segment_of.update(dict.fromkeys(members, len(segments)))
        words = ranker.keywords(*(text for index in members for text in texts[index]), limit=_TOPIC_KEYWORDS)
        ranges = _ranges_of([turns[index].message_index for index in members])
        segments.append(SegmentDraft(topic=shortened(", ".join(words) or turns[members[0]].speaker, LONGEST_TOPIC), ranges=ranges))
    return segments, segment_of


def _ranges_of(indices: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Ascending indices as inclusive ranges."""
    ranges: list[tuple[int, int]] = []
    for index in indices:
        if ranges and index == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], index)
        else:
            ranges.append((index, index))
    return tuple(ranges)


def _event(
    turns: Sequence[Turn],
    passage: Passage,
    event_type: str,
    properties: dict[str, JsonValue],
    segment: int | None,
    ranker: KeywordRanker,
    searched: str | None,
) -> EventDraft:
    turn = turns[passage.turn_index]
    said_at = turn.message.event_time
    date = event_date_of(passage.mentions, said_at, unclear_dates(passage.text, said_at.date()))
    messages = [turn.message_index]
    if passage.turn_before is not None and (passage.is_short or passage.agreed):
        messages.append(passage.turn_before.message_index)
    return EventDraft(
        type=event_type,
        content=event_content(turn, passage, event_type=event_type),
        speaker=None if turn.message.tool_call is not None else name_of(turn),
        search_text=searched,
        properties=properties,
        importance=importance_of(turn, passage),
        keywords=tuple(ranker.keywords(passage.text, limit=MAX_OF_EVENT)),
        segment=segment,
        messages=tuple(messages),
        event_time=said_at if date is None else date.begins_at(said_at.tzinfo) or said_at,
        date=date,
        said_at=said_at,
    )


def importance_of(turn: Turn, passage: Passage) -> float:
    """A share from 0.1 to 1: content words, then numbers, dates, names and words of the speaker's own life; questions count little.

    Args:
        turn: The message.
        passage: A part of it.
    """
    call = turn.message.tool_call
    if call is not None:
        return 0.8 if call.success is False else 0.5
    if turn.is_filler:
        return 0.2
    text = passage.text
    share = 0.2 + 0.3 * min(1.0, len(content_words(text)) / 12)
    share += 0.1 * has_digit(text)
    share += 0.15 * bool(passage.mentions)
    share += 0.1 * bool(_NAME.search(text))
    share += 0.15 * bool(_OWN_LIFE.search(text))
    return round(share * (0.5 if passage.only_asks else 1.0), 3)


def may_hold_repetitions(candidates: Sequence[Candidate]) -> bool:
    """Whether any of the window's events holds all the words of another event, or the other way round. Only then vectors are needed.

    Args:
        candidates: The session's events, then the window's.
    """
    return any(
        later.type == earlier.type and either_says_all(earlier.statement, later.statement)
        for index, later in enumerate(candidates)
        if not later.is_from_earlier_window
        for earlier in candidates[:index]
    )


def without_repetitions(draft: Draft, candidates: Sequence[Candidate], vectors: Sequence[Vector], thresholds: Thresholds) -> Draft:
    """The draft with each event once, and without those of the session's earlier windows.

    Args:
        draft: What was found in the window.
        candidates: The session's events, then the draft's.
        vectors: Of the candidates' contents, in the same order.
        thresholds: The cosines that decide.
    """
    same, _ = compare(candidates, vectors, thresholds)
    events = merge(draft.events, same, draft.tally, from_earlier_windows=len(candidates) - len(draft.events))
    return replace(draft, events=tuple(replace(each, keywords=each.keywords[:MAX_KEYWORDS]) for each in events))
