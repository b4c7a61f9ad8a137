"""What a window's messages become without an LLM. Pure: the vectors are made between the two steps, by whoever calls them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import JsonValue

from extraction.bounds import LONGEST_TOPIC, MAX_ITEMS, MAX_KEYWORDS, most_important, shortened
from extraction.dedup import Candidate, Thresholds, compare, merge
from extraction.drafts import Draft, EventDraft, SegmentDraft, Tally
from extraction.offline.content_words import content_words, only_asks
from extraction.offline.event_types import TypeChooser
from extraction.offline.keywords import KeywordRanker
from extraction.offline.profile_facts import patches_of
from extraction.offline.properties import properties_of
from extraction.offline.segmentation import Utterance, topics
from extraction.offline.turns import Passage, Turn, passages_of, turns_of
from extraction.offline.wording import event_content, event_time_of
from extraction.port import ExtractionContext
from extraction.statements import either_says_all
from memory.records import Window
from memory.schema import MemorySchema, coerce_properties
from models.embedding.port import Embedding, Vector

_OWN_LIFE: Final = re.compile(r"\b(?:I|I['’]\w+|my|we|our)\b")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


def importance_of(turn: Turn, passage: Passage) -> float:
    """A share from 0.1 to 1: content words, then numbers, dates, names and words of the speaker's own life; questions count little.

    Args:
        turn: The message.
        passage: The part of it that is weighed.
    """
    call = turn.message.tool_call
    if call is not None:
        return 0.8 if call.success is False else 0.5
    if turn.is_filler:
        return 0.2
    text = passage.text
    share = 0.2 + 0.3 * min(1.0, len(content_words(text)) / 12)
    share += 0.1 * any(character.isdigit() for character in text)
    share += 0.15 * bool(passage.mentions)
    share += 0.1 * bool(_NAME.search(text))
    share += 0.15 * bool(_OWN_LIFE.search(text))
    return round(share * (0.5 if only_asks(text) else 1.0), 3)


def may_hold_repetitions(candidates: Sequence[Candidate]) -> bool:
    """Whether any of the window's events holds all the words of another one, or it of them: only then vectors are worth their cost.

    Args:
        candidates: The session's events, then the window's.
    """
    return any(
        later.type == earlier.type and either_says_all(earlier.statement, later.statement)
        for place, later in enumerate(candidates)
        if not later.is_from_earlier_window
        for earlier in candidates[:place]
    )


def without_repetitions(draft: Draft, candidates: Sequence[Candidate], vectors: Sequence[Vector], thresholds: Thresholds) -> Draft:
    """The draft with each event once, and without those that the session has laid down before.

    Args:
        draft: What was found in the window.
        candidates: The session's events, then the draft's.
        vectors: Of the candidates' contents, in the same order.
        thresholds: The cosines to go by.
    """
    same, _ = compare(candidates, vectors, thresholds)
    events = merge(draft.events, same, draft.tally, from_earlier_windows=len(candidates) - len(draft.events))
    return replace(draft, events=tuple(replace(each, keywords=each.keywords[:MAX_KEYWORDS]) for each in events))


_KEYWORDS = 6
_TOPIC_KEYWORDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadWindow:
    """A window's turns, and the passages of them that are worth remembering."""

    turns: list[Turn]
    passages: list[Passage]
    tally: Tally = field(default_factory=Tally)

    def texts(self) -> list[str]:
        """What has to be embedded: each turn, then each passage."""
        return [*self.spoken(), *(passage.text for passage in self.passages)]

    def spoken(self) -> list[str]:
        """What each turn says."""
        return [turn.text or turn.speaker for turn in self.turns]


def read_window(window: Window, recalled: frozenset[str]) -> ReadWindow:
    """Finds what of a window is worth remembering.

    Args:
        window: The window.
        recalled: Content hashes of what recalls returned lately.
    """
    tally = Tally()
    turns = turns_of(window.messages, recalled=recalled, tally=tally)
    passages = [passage for index in range(len(turns)) for passage in passages_of(turns, index)]
    tally.drop("message", "filler", len(turns) - len({passage.index for passage in passages}))
    told_once = list({(passage.index, passage.text): passage for passage in reversed(passages)}.values())[::-1]
    tally.drop("event", "duplicate", len(passages) - len(told_once))
    kept = most_important(told_once, _weights(turns, told_once))
    tally.drop("event", "too_many", len(told_once) - len(kept))
    return ReadWindow(turns=turns, passages=kept, tally=tally)


def _weights(turns: Sequence[Turn], passages: Sequence[Passage]) -> list[float]:
    """How much each passage matters; what the same speaker has said before matters less than all else."""
    told: set[tuple[str, str]] = set()
    weights: list[float] = []
    for passage in passages:
        turn = turns[passage.index]
        said = (turn.speaker, passage.text)
        weights.append(importance_of(turn, passage) - (said in told))
        told.add(said)
    return weights


def draft_of(
    read: ReadWindow,
    *,
    embeddings: Sequence[Embedding],
    of_types: Sequence[Embedding],
    window: Window,
    schema: MemorySchema,
    context: ExtractionContext,
) -> Draft:
    """Segments, events and patches of a window.

    Args:
        read: What of the window is worth remembering.
        embeddings: Of :meth:`ReadWindow.texts`, in the same order.
        of_types: Of the schema's event types, as :func:`extraction.offline.event_types.type_text` words them.
        window: The window.
        schema: The tenant's.
        context: What else is known.
    """
    turns, passages, tally = read.turns, read.passages, read.tally
    of_passages = embeddings[len(turns) :]
    ranker = KeywordRanker([passage.text for passage in passages], names=[turn.speaker for turn in turns])
    utterances = [Utterance(text, embedding) for text, embedding in zip(read.spoken(), embeddings[: len(turns)], strict=True)]
    segments, segment_of = _segments(turns, passages, utterances, ranker)
    chooser = TypeChooser(schema.event_types, of_types)
    events: list[EventDraft] = []
    for place, passage in enumerate(passages):
        is_tool_call = turns[passage.index].message.tool_call is not None
        event_type = chooser.choose(of_passages[place], is_tool_call=is_tool_call)
        if event_type is None:
            tally.drop("event", "no_event_type")
            continue
        topic = segments[segment_of[passage.index]].topic
        coerced = coerce_properties(event_type, properties_of(event_type, turns, passage, topic=topic))
        for dropped in coerced.dropped:
            tally.drop("property", dropped.reason, dropped.count)
        events.append(_event(turns, passage, event_type.name, coerced.properties, segment_of[passage.index], ranker))
    patches = list(patches_of(turns, window=window, schema=schema, entities=context.entities, tally=tally))
    tally.drop("patch", "too_many", max(0, len(patches) - MAX_ITEMS))
    return Draft(
        segments=tuple(segments),
        events=tuple(events),
        patches=tuple(patches[:MAX_ITEMS]),
        tally=tally,
    )


def _segments(
    turns: Sequence[Turn], passages: Sequence[Passage], utterances: Sequence[Utterance], ranker: KeywordRanker
) -> tuple[list[SegmentDraft], dict[int, int]]:
    """The segments without their noise, and for each turn of a passage the segment that it is in."""
    segments: list[SegmentDraft] = []
    segment_of: dict[int, int] = {}
    told: dict[int, list[str]] = {}
    for passage in passages:
        told.setdefault(passage.index, []).append(passage.text)
    for stretches in topics(utterances):
        members = [index for first, last in stretches for index in range(first, last + 1) if index in told]
        if not members:
            continue
        segment_of.update(dict.fromkeys(members, len(segments)))
        words = ranker.keywords(" . ".join(text for index in members for text in told[index]), limit=_TOPIC_KEYWORDS)
        ranges = _joined([turns[index].place for index in members])
        segments.append(SegmentDraft(topic=shortened(", ".join(words) or turns[members[0]].speaker, LONGEST_TOPIC), ranges=ranges))
    return segments, segment_of


def _joined(places: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Ascending places as inclusive ranges."""
    ranges: list[tuple[int, int]] = []
    for place in places:
        if ranges and place == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], place)
        else:
            ranges.append((place, place))
    return tuple(ranges)


def _event(
    turns: Sequence[Turn],
    passage: Passage,
    event_type: str,
    properties: dict[str, JsonValue],
    segment: int,
    ranker: KeywordRanker,
) -> EventDraft:
    turn = turns[passage.index]
    said_at = turn.message.event_time
    return EventDraft(
        type=event_type,
        content=event_content(turn, passage),
        properties=properties,
        importance=importance_of(turn, passage),
        keywords=tuple(ranker.keywords(passage.text, limit=_KEYWORDS)),
        segment=segment,
        messages=(turn.place, passage.asked.place) if passage.asked is not None and passage.is_short else (turn.place,),
        event_time=event_time_of(passage.mentions, said_at),
        said_at=said_at,
    )
