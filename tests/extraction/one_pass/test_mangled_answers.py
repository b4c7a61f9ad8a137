"""Whatever a model answers, validation raises nothing and lets no event through that breaks its schema."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from extraction.assemble import build_extraction
from extraction.drafts import Draft
from extraction.errors import UnusableAnswerError
from extraction.one_pass.answer import form
from extraction.one_pass.answer.parsing import parse_answer
from extraction.one_pass.answer.validation import validate_answer
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.flow import extraction_flow
from memory.records import Extraction
from memory.schema import MemorySchema, coerce_properties
from models.llm.cache import prompt_hash
from models.llm.port import LLMAnswer
from tests.extraction.conftest import BuildTask
from tests.extraction.windows import window_of

HALVES = st.sampled_from(["\ud83d", "\ude00", "a\ud800b"])
JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**400), 10**400)
    | HALVES
    | st.floats()
    | st.text(max_size=12)
    | st.lists(st.integers(-3, 12), max_size=4)
)
PLACES = st.lists(st.integers(-2, 8), max_size=5) | JUNK
RANGES = st.lists(st.lists(st.integers(-2, 8), max_size=3), max_size=3) | JUNK
EVENTS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["life_event", "exercise", "LIFE EVENT", "other"]) | JUNK,
        "content": st.text(max_size=30) | JUNK,
        "msgs": PLACES,
    },
    optional={
        "date": st.sampled_from(["2023-05-07", "2023", "soon", "2023-02-30T25:61"]) | JUNK,
        "count": JUNK,
        "props": st.dictionaries(st.sampled_from(["place", "people", "count", "topic", "score", "right", "x"]), JUNK, max_size=6) | JUNK,
        "keywords": st.lists(JUNK, max_size=4) | JUNK,
        "weight": JUNK,
    },
)
PATCHES = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["profile", "progress", "life_event"]) | JUNK,
        "field": st.sampled_from(["home", "likes", "gaps", "mean", "topic"]) | JUNK,
        "msgs": PLACES,
        "search": st.text(max_size=10) | JUNK,
        "replace": st.text(max_size=10) | JUNK,
    },
    optional={"key": st.lists(st.text(max_size=5) | JUNK, max_size=3) | JUNK},
)
ANSWERS = st.fixed_dictionaries(
    {
        "segments": st.lists(st.fixed_dictionaries({"topic": st.text(max_size=8) | JUNK, "ranges": RANGES}) | JUNK, max_size=4) | JUNK,
        "events": st.lists(EVENTS | JUNK, max_size=5) | JUNK,
        "patches": st.lists(PATCHES | JUNK, max_size=4) | JUNK,
    }
)
TEXTS = st.builds(json.dumps, ANSWERS | st.lists(EVENTS | PATCHES, max_size=4), ensure_ascii=st.booleans())
SNIPPETS = st.sampled_from([*"{}[],:\"'\\", "```", "//", "/*", "null", "\\u", "\n", '"events":', "\ud800"]) | st.text(max_size=4)


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """An answer with pieces cut out, put in, doubled, and its end cut off."""
    text = draw(TEXTS)
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.sampled_from([text[start:end] * 2, ""]) | SNIPPETS) + text[end:]
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


@given(text=mangled() | st.text(), size=st.integers(1, 6), recalled=st.booleans())
def test_no_answer_raises_or_breaks_the_schema(schema: MemorySchema, text: str, size: int, recalled: bool) -> None:
    window = window_of({"text": "From memory.", "from_recall": recalled}, *(f"Text {number}." for number in range(1, size)))
    extraction = _extraction(text, window, schema)

    allowed = {message.id for message in window.messages if not message.from_recall}
    for event in extraction.events:
        event_type = schema.event_type(event.type)
        assert event_type is not None
        assert event.content.strip()
        assert coerce_properties(event_type, event.properties).properties == event.properties
        assert set(event.message_ids) <= allowed
        assert event.segment_id is None or event.segment_id in {segment.id for segment in extraction.segments}
    for patch in extraction.patches:
        entity_type = schema.entity_type(patch.entity_type)
        assert entity_type is not None
        assert patch.field in {each.name for each in entity_type.patched_properties()}
        assert patch.search != patch.replace
        assert patch.entity_key.startswith("alice")
        assert set(patch.message_ids) <= allowed
    for segment in extraction.segments:
        assert all(0 <= first <= last < size for first, last in segment.ranges)
    assert Extraction.from_json(extraction.to_json()) == extraction


@given(answer=ANSWERS, share=st.floats(0, 1))
def test_a_truncated_answer_retains_its_first_events(schema: MemorySchema, answer: dict[str, Any], share: float) -> None:
    window = window_of(*(f"Text {number}." for number in range(6)))
    text = json.dumps(answer)
    whole = _extraction(text, window, schema)
    part = _extraction(text[: int(len(text) * share)], window, schema)

    assert [(event.type, event.content) for event in part.events] == [(event.type, event.content) for event in whole.events][
        : len(part.events)
    ]


@given(texts=st.tuples(*[mangled()] * 3), reasons=st.tuples(*[st.sampled_from(["stop", "length", "other"])] * 3), share=st.floats(0.3, 1))
def test_no_sequence_of_answers_raises(
    schema: MemorySchema, task_of: BuildTask, texts: tuple[str, ...], reasons: tuple[Any, ...], share: float
) -> None:
    """Cut off, continued, repaired: each request can be sent, and what is good in the answers keeps the schema."""
    window = window_of(*(f"Text {number}." for number in range(6)))
    first = texts[0][: int(len(texts[0]) * share)]
    flow = extraction_flow(task_of(window))
    draft: Draft | None = None
    request = next(flow)
    with suppress(UnusableAnswerError):
        try:
            for text, reason in zip((first, *texts[1:]), reasons, strict=True):
                prompt_hash(request, model="m", max_tokens=500)
                request = flow.send(LLMAnswer(text=text, model="m", finish_reason=reason))
            raise AssertionError("the flow asks for more than a continuation and a repair")
        except StopIteration as end:
            draft = end.value
    if draft is not None:
        extraction = build_extraction(draft, window=window, schema=schema, extractor="llm:test", generation="", usage=())
        assert Extraction.from_json(extraction.to_json()) == extraction


@given(mangled())
def test_parsed_items_can_be_encoded_again(text: str) -> None:
    raw = parse_answer(text)
    encoded = form.encode_answer(raw.lists)

    encoded.encode()
    assert {name: len(items) for name, items in parse_answer(encoded).lists.items()} == {
        name: len(items) for name, items in raw.lists.items()
    }


def _extraction(text: str, window: Any, schema: MemorySchema) -> Extraction:
    draft = validate_answer(parse_answer(text), ExtractionInput(window, schema))
    return build_extraction(draft, window=window, schema=schema, extractor="llm:test", generation="", usage=())
