"""The extractor that asks no LLM: by rule and embedding alone."""

import asyncio
from collections.abc import Sequence

from pydantic import JsonValue

from memory.records import Extraction, Window
from memory.schema import MemorySchema, coerce_properties
from models.embedding.port import Embedder
from models.extraction.drafts import Draft, EventDraft, SegmentDraft, Tally
from models.extraction.laying import lay_down
from models.extraction.port import ExtractionContext
from models.offline.contents import event_content, event_time_of
from models.offline.event_types import TypeChooser, type_text
from models.offline.facts import patches_of
from models.offline.gaps import Utterance
from models.offline.importance import importance_of
from models.offline.keywords import KeywordRanker
from models.offline.properties import properties_of
from models.offline.segmentation import topics
from models.offline.turns import Passage, Turn, passages_of, turns_of

NAME = "offline"
_KEYWORDS = 6
_TOPIC_KEYWORDS = 3


class OfflineExtractor:
    """Segments, events and patches without an LLM: the cheap tier, the budget's fallback, and what works without any network.

    The same window gives the same extraction, byte for byte: its rules know no chance, and the embedded model gives a text the same
    vectors whatever is embedded beside it.
    """

    def __init__(self, *, embedder: Embedder) -> None:
        """Takes the embedder that segments and types are told apart with.

        Args:
            embedder: Shared with others; :meth:`close` leaves it open.
        """
        self._embedder = embedder

    @property
    def name(self) -> str:
        """``offline``."""
        return NAME

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        """Extracts one window.

        Raises:
            models.errors.ModelError: If the embedder cannot embed now.
        """
        tally = Tally()
        turns = turns_of(window.messages, recalled=context.recalled_hashes, tally=tally)
        passages = [passage for index in range(len(turns)) for passage in passages_of(turns, index)]
        silent = len(turns) - len({passage.index for passage in passages})
        tally.drop("message", "filler", silent)
        spoken = [turn.text or turn.speaker for turn in turns]
        embeddings = await self._embedder.embed_documents([*spoken, *(passage.text for passage in passages)])
        of_passages = embeddings[len(turns) :]
        of_types = await asyncio.gather(*(self._embedder.embed_query(type_text(each)) for each in schema.event_types))
        ranker = KeywordRanker([passage.text for passage in passages], names=[turn.speaker for turn in turns])
        utterances = [Utterance(text, embedding) for text, embedding in zip(spoken, embeddings[: len(turns)], strict=True)]
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
            coerced = coerce_properties(event_type, properties_of(event_type, turns, passage.index, text=passage.text, topic=topic))
            for dropped in coerced.dropped:
                tally.drop("property", dropped.reason, dropped.count)
            events.append(_event(turns, passage, event_type.name, coerced.properties, segment_of[passage.index], ranker))
        draft = Draft(
            segments=tuple(segments),
            events=tuple(events),
            patches=tuple(patches_of(turns, window=window, schema=schema, entities=context.entities)),
            tally=tally,
        )
        return lay_down(draft, window=window, schema=schema, extractor=NAME, generation=context.generation, usage=())

    async def close(self) -> None:
        """Nothing of its own to free: the embedder belongs to whoever gave it."""


def _segments(
    turns: Sequence[Turn], passages: Sequence[Passage], utterances: Sequence[Utterance], ranker: KeywordRanker
) -> tuple[list[SegmentDraft], dict[int, int]]:
    """The segments without their noise, and for each turn of a passage the segment that it is in."""
    segments: list[SegmentDraft] = []
    segment_of: dict[int, int] = {}
    told = {passage.index for passage in passages}
    for stretches in topics(utterances):
        members = [index for first, last in stretches for index in range(first, last + 1) if index in told]
        if not members:
            continue
        segment_of.update(dict.fromkeys(members, len(segments)))
        words = ranker.keywords(" . ".join(turns[index].text for index in members), limit=_TOPIC_KEYWORDS)
        ranges = _joined([turns[index].place for index in members])
        segments.append(SegmentDraft(topic=", ".join(words) or turns[members[0]].speaker, ranges=ranges))
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
        importance=importance_of(turn, passage.text),
        keywords=tuple(ranker.keywords(passage.text, limit=_KEYWORDS)),
        segment=segment,
        messages=(turn.place, passage.asked.place) if passage.asked is not None and passage.is_short else (turn.place,),
        event_time=event_time_of(passage.text, said_at),
        said_at=said_at,
    )
