import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.bounds import LONGEST_SEARCHES
from extraction.drafts import Draft
from extraction.one_pass.answer.coercion import as_weight
from extraction.one_pass.answer.dates import read_when
from extraction.one_pass.answer.parsing import parse_answer
from extraction.one_pass.answer.validation import validate_answer
from extraction.one_pass.extraction_input import ExtractionInput
from memory.dates.event_date import UNKNOWN_DATE, EventDate
from memory.keys import entity_key
from memory.records import Window
from memory.schema import MemorySchema, parse_schema
from memory.texts.text import content_hash
from tests.extraction.windows import BEGIN, window_of

EVENT = {"type": "life_event", "msgs": [1], "content": "Alice moved to Oslo.", "place": "Oslo", "weight": 7}
PATCH = {"type": "profile", "field": "home", "msgs": [1], "search": "Bergen", "replace": "Oslo"}
SEGMENT = {"topic": "Moving", "ranges": [[1, 2]]}


@pytest.fixture
def window() -> Window:
    return window_of("Hi!", "I moved to Oslo yesterday.", "From Bergen.", "Nice weather.")


def read(window: Window, schema: MemorySchema, hashes: frozenset[str] = frozenset(), /, **lists: Any) -> Draft:
    return validate_answer(parse_answer(json.dumps(lists)), ExtractionInput(window, schema, hashes))


def dropped(draft: Draft) -> dict[tuple[str, str], int]:
    return {(each.what, each.reason): each.count for each in draft.tally.as_dropped()}


def test_a_valid_answer_is_kept_completely(window: Window, schema: MemorySchema) -> None:
    draft = read(
        window, schema, segments=[SEGMENT], events=[{**EVENT, "date": "2023-05-07", "keywords": ["Oslo", "oslo", "move"]}], patches=[PATCH]
    )

    (event,) = draft.events
    assert draft.segments[0].ranges == ((1, 2),)
    assert (event.type, event.segment, event.messages, event.properties) == ("life_event", 0, (1,), {"place": "Oslo"})
    assert event.importance == pytest.approx(0.7)
    assert event.keywords == ("oslo", "move")
    assert event.event_time == datetime(2023, 5, 7, tzinfo=UTC)
    assert event.said_at == BEGIN + timedelta(minutes=1)
    assert (draft.patches[0].entity_key, draft.patches[0].search) == (entity_key("alice"), "Bergen")
    assert dropped(draft) == {}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"content": "  "}, ("event", "no_content")),
        ({"content": None}, ("event", "no_content")),
        ({"msgs": [], "content": "Alice sold her red bicycle."}, ("event", "no_evidence")),
        ({"msgs": ["x"], "content": "Alice sold her red bicycle."}, ("event", "no_evidence")),
    ],
)
def test_only_the_bad_event_is_dropped_with_its_reason(
    window: Window, schema: MemorySchema, change: dict[str, Any], reason: tuple[str, str]
) -> None:
    draft = read(window, schema, segments=[SEGMENT], events=[{**EVENT, **change}, EVENT])

    assert [event.content for event in draft.events] == [EVENT["content"]]
    assert dropped(draft)[reason] == 1


@pytest.mark.parametrize("name", ["wedding", 7, None])
def test_an_unknown_type_follows_from_the_properties(window: Window, schema: MemorySchema, name: Any) -> None:
    done = {"type": name, "msgs": [2], "content": "Alice solved it.", "props": {"topic": "algebra", "score": 1}}
    draft = read(window, schema, events=[EVENT, {**EVENT, "type": name, "content": "Alice is in Oslo."}, done])

    assert [each.type for each in draft.events] == ["life_event", "life_event", "exercise"]
    assert dropped(draft) == {("property", "unknown_type"): 2}


def test_an_event_of_an_unclear_type_is_a_fact(window: Window) -> None:
    person = {"PropertyName": "person", "PropertyValueType": "string"}
    types = [{"EventType": name, "Description": name, "Properties": [person]} for name in ("mood", "plan")]
    schema = parse_schema([*types, {"EventType": "fact", "Description": "Something else."}])
    unclear = {"type": "anniversary", "msgs": [1], "content": "Alice moved a year ago.", "person": "Alice"}
    draft = read(window, schema, events=[unclear, {**unclear, "type": "plan", "content": "Alice moves again."}])

    assert [(each.type, each.content) for each in draft.events] == [("fact", unclear["content"]), ("plan", "Alice moves again.")]


@pytest.mark.parametrize("references", [{}, {"msgs": None}, {"msgs": [7]}, {"msgs": "the second"}])
def test_words_find_the_evidence_that_is_missing(window: Window, schema: MemorySchema, references: dict[str, Any]) -> None:
    event = {name: value for name, value in EVENT.items() if name != "msgs"} | references
    weather = {"type": "life_event", "msgs": [3], "content": "The weather is nice."}

    assert [each.messages for each in read(window, schema, events=[event, weather]).events] == [(1,), (3,)]
    assert dropped(read(window, schema, events=[event]))["event", "no_evidence"] == 1, "then the model is asked again"


def test_numbers_that_begin_with_one_are_understood(window: Window, schema: MemorySchema) -> None:
    weather = {"type": "life_event", "msgs": [4], "content": "The weather is nice."}
    patch = {**PATCH, "msgs": [2, 3]}
    draft = read(
        window, schema, segments=[{"topic": "Moving", "ranges": [[2, 4]]}], events=[{**EVENT, "msgs": [2]}, weather], patches=[patch]
    )

    assert [each.messages for each in draft.events] == [(1,), (3,)]
    assert (draft.segments[0].ranges, draft.patches[0].messages) == (((1, 3),), (1, 2))
    assert dropped(draft) == {}


@pytest.mark.parametrize("others", [[{**EVENT, "msgs": [0, 1]}], [EVENT]])
def test_a_number_too_high_shifts_no_others(window: Window, schema: MemorySchema, others: list[dict[str, Any]]) -> None:
    draft = read(window, schema, events=[*others, {"type": "life_event", "msgs": [2, 4], "content": "Alice is from Bergen."}])

    assert [each.messages for each in draft.events] == [tuple(others[0]["msgs"]), (2,)]
    assert dropped(draft) == {("message", "bad_index"): 1}


def test_lists_of_texts_become_a_text(window: Window, schema: MemorySchema) -> None:
    event = {**EVENT, "place": ["Oslo", "Norway"]}
    draft = read(window, schema, events=[event], patches=[{**PATCH, "field": "likes", "search": "", "replace": ["cats", "tea"]}])

    assert draft.events[0].properties == {"place": "Oslo, Norway"}
    assert draft.patches[0].replace == "cats\ntea"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"type": "life_event"}, "unknown_type"),
        ({"field": "age"}, "unknown_field"),
        ({"type": "progress", "field": "mean", "key": ["algebra"]}, "unknown_field"),
        ({"search": "Oslo"}, "no_change"),
        ({"msgs": [99]}, "no_evidence"),
        ({"type": "progress", "field": "gaps"}, "bad_key"),
        ({"type": "progress", "field": "gaps", "key": [""]}, "bad_key"),
    ],
)
def test_only_the_bad_patch_is_dropped_with_its_reason(window: Window, schema: MemorySchema, change: dict[str, Any], reason: str) -> None:
    draft = read(window, schema, patches=[{**PATCH, **change}, PATCH])

    assert [patch.replace for patch in draft.patches] == ["Oslo"]
    assert dropped(draft)["patch", reason] == 1


@pytest.mark.parametrize("key", ["algebra", ["algebra"], ["alice", "algebra"], ["Al", "algebra"], ["", "algebra"]])
def test_a_patch_changes_only_the_windows_user(schema: MemorySchema, key: Any) -> None:
    window = window_of("Hi!", {"text": "I moved to Oslo yesterday.", "speaker": "Al"})
    (patch,) = read(window, schema, patches=[{**PATCH, "type": "progress", "field": "gaps", "key": key}]).patches

    assert patch.entity_key == entity_key("alice", "algebra")


@pytest.mark.parametrize("patch", [{"key": ["Tom"]}, {"key": "mallory"}, {"type": "progress", "field": "gaps", "key": ["Tom", "algebra"]}])
def test_a_patch_for_somebody_else_is_dropped(window: Window, schema: MemorySchema, patch: dict[str, Any]) -> None:
    draft = read(window, schema, patches=[{**PATCH, **patch}])

    assert draft.patches == ()
    assert dropped(draft) == {("patch", "bad_key"): 1}


TEXT_256 = "".join(f"{number:04}" for number in range(64))


@pytest.mark.parametrize("topic", [TEXT_256, "ha" * 60, "al\x07gebra", "a\u200cb", "true"])
def test_an_entity_key_is_never_altered(window: Window, schema: MemorySchema, topic: str) -> None:
    (patch,) = read(window, schema, patches=[{**PATCH, "type": "progress", "field": "gaps", "key": [topic]}]).patches

    assert patch.entity_key == entity_key("alice", topic)


def test_white_space_in_a_key_makes_no_second_entity(window: Window, schema: MemorySchema) -> None:
    (patch,) = read(window, schema, patches=[{**PATCH, "type": "progress", "field": "gaps", "key": [" linear\n algebra"]}]).patches

    assert patch.entity_key == entity_key("alice", "linear algebra")


@pytest.mark.parametrize("key", [TEXT_256 + "x", ["one", "two", "three"], [["algebra"]], "  "])
def test_a_patch_without_a_whole_key_is_dropped(window: Window, schema: MemorySchema, key: Any) -> None:
    draft = read(window, schema, patches=[{**PATCH, "type": "progress", "field": "gaps", "key": key}, PATCH])

    assert [patch.entity_type for patch in draft.patches] == ["profile"]
    assert dropped(draft) == {("patch", "bad_key"): 1}


def test_a_search_text_too_long_is_dropped_not_cut(window: Window, schema: MemorySchema) -> None:
    search = "".join(f"{number:05}" for number in range(401))
    draft = read(window, schema, patches=[{**PATCH, "search": search}, PATCH])

    assert [patch.search for patch in draft.patches] == ["Bergen"]
    assert dropped(draft) == {("patch", "search_too_long"): 1}


def test_values_of_a_wrong_type_are_coerced_or_dropped(window: Window, schema: MemorySchema) -> None:
    given = {"place": 7, "people": "Bob", "count": "3", "colour": "red"}
    exercise = {"type": "Exercise", "msgs": "1, 2", "content": 5, "props": {"score": "high", "right": "yes"}, "weight": "9"}
    draft = read(window, schema, segments=[SEGMENT], events=[{**EVENT, "props": given, "msgs": ["[1]", 2.0]}, exercise])

    first, second = draft.events
    assert (first.properties, first.messages) == ({"place": "7", "people": ["Bob"], "count": 3}, (1, 2))
    assert (second.type, second.messages, second.content, second.properties) == ("exercise", (1, 2), "5", {"right": True})
    assert second.importance == pytest.approx(0.9)
    assert dropped(draft) == {("property", "unknown_property"): 1, ("property", "not_float32"): 1}


@pytest.mark.parametrize(
    ("people", "kept"), [("none", None), (["None"], None), (["n/a"], None), ([], []), (["Tom", "None"], ["Tom", "None"]), ("Tom", ["Tom"])]
)
def test_a_word_for_an_empty_list_is_no_item(window: Window, schema: MemorySchema, people: Any, kept: list[str] | None) -> None:
    (event,) = read(window, schema, events=[{**EVENT, "people": people}]).events

    assert event.properties.get("people") == kept


def test_properties_are_read_flat_and_nested(window: Window, schema: MemorySchema) -> None:
    beside = {**EVENT, "place": "Rome", "count": 3, "colour": "red", "props": {"place": "Oslo"}}
    draft = read(window, schema, events=[beside, {**EVENT, "content": "Alice lives in Oslo.", "props": "Oslo"}])

    assert [event.properties for event in draft.events] == [{"place": "Oslo", "count": 3}, {"place": "Oslo"}]
    assert dropped(draft) == {("property", "not_an_object"): 1, ("property", "unknown_property"): 1}


@pytest.mark.parametrize("blank", ["", "  ", None, "null", "NULL"])
def test_a_blank_counts_as_absent(window: Window, schema: MemorySchema, blank: str | None) -> None:
    given = {"place": blank, "count": blank, "people": ["Bob", blank]}
    draft = read(window, schema, events=[{**EVENT, "props": given, "date": blank}])

    assert draft.events[0].properties == {"people": ["Bob"]}
    assert draft.events[0].event_time == draft.events[0].said_at
    assert dropped(draft) == {}


@pytest.mark.parametrize(
    ("weight", "importance"),
    [
        (0, 0),
        (10, 1),
        (1, 0.1),
        (1.0, 0.1),
        ("1", 0.1),
        ("1.0", 0.1),
        (0.8, 0.8),
        ("0.8", 0.8),
        (1.5, 0.15),
        (10.0, 1),
        (99, 1),
        (-3, 0),
        (10**30, 1),
        (-(10**30), 0),
        (10**399, 0.5),
        ("x", 0.5),
        (None, 0.5),
    ],
)
def test_weights_become_importances(window: Window, schema: MemorySchema, weight: Any, importance: float) -> None:
    assert read(window, schema, events=[{**EVENT, "weight": weight}]).events[0].importance == pytest.approx(importance)


@given(st.integers(-(2**53), 2**53))
def test_a_weight_is_parsed_from_every_json_type(weight: int) -> None:
    read = {as_weight(each, max_weight=10) for each in (weight, float(weight), str(weight), f" {weight}.0")}

    assert read == {max(0, min(weight, 10)) / 10}


def test_numbers_without_end_break_nothing(window: Window, schema: MemorySchema) -> None:
    endless = 10**399
    bad = {**EVENT, "content": endless}
    odd = {**EVENT, "msgs": [1, endless], "props": {"place": endless}, "weight": endless, "date": endless}
    draft = read(window, schema, events=[bad, odd], patches=[{**PATCH, "search": endless, "replace": endless}])
    (event,) = draft.events
    assert (event.messages, event.properties, event.importance) == ((1,), {}, 0.5)
    assert dropped(draft)["event", "no_content"] == 1


def test_only_out_of_range_indices_are_dropped(window: Window, schema: MemorySchema) -> None:
    draft = read(
        window, schema, segments=[{"topic": "All", "ranges": [[2, 40], [90, 91], "0-1"]}], events=[{**EVENT, "msgs": [1, 4, -1, 1e9]}]
    )

    assert draft.segments[0].ranges == ((0, 3),)
    assert draft.events[0].messages == (1,)
    assert dropped(draft) == {("message", "bad_index"): 5}


@pytest.mark.parametrize(
    ("given", "ranges"),
    [
        ([0, 2], ((0, 2),)),
        ([[0], [2]], ((0, 0), (2, 2))),
        ([[0, 1, 3]], ((0, 1), (3, 3))),
        ([0, 1, 3], ((0, 1), (3, 3))),
        (["2-1", 3.0], ((1, 3),)),
        ("0 to 1", ((0, 1),)),
        (2, ((2, 2),)),
    ],
)
def test_ranges_are_read_in_other_forms(window: Window, schema: MemorySchema, given: Any, ranges: Any) -> None:
    draft = read(window, schema, segments=[{"topic": "Moving", "ranges": given}])

    assert draft.segments[0].ranges == ranges
    assert dropped(draft) == {}


@pytest.mark.parametrize(
    ("given", "messages"),
    [
        ([[0, 1]], (0, 1)),
        ([3, [0, 1]], (3, 0, 1)),
        ("0-1", (0, 1)),
        ("3, 0-1", (3, 0, 1)),
        (["2-3", "0"], (2, 3, 0)),
        (["0, 3"], (0, 3)),
        ([0, 3], (0, 3)),
        ([[2]], (2,)),
        (2, (2,)),
    ],
)
def test_evidence_is_read_in_other_forms(window: Window, schema: MemorySchema, given: Any, messages: tuple[int, ...]) -> None:
    draft = read(window, schema, events=[{**EVENT, "msgs": given}])

    assert [event.messages for event in draft.events] == [messages]
    assert dropped(draft) == {}


@pytest.mark.parametrize("given", ["1-999999", [[1, 10**30]], [1, "9-8"]])
def test_evidence_ends_with_the_window(window: Window, schema: MemorySchema, given: Any) -> None:
    draft = read(window, schema, events=[{**EVENT, "msgs": given}])

    assert draft.events[0].messages[0] == 1
    assert draft.events[0].messages[-1] <= 3
    assert dropped(draft) == {("message", "bad_index"): 1}


@pytest.mark.parametrize("wrapped", ['{{"events": [{event}]}}', "[{event}]", "{event}"])
@pytest.mark.parametrize("named", [{}, {"type": ""}, {"type": None}])
def test_the_only_event_type_needs_no_name(window: Window, wrapped: str, named: dict[str, Any]) -> None:
    schema = parse_schema([{"EventType": "concert", "Description": "A concert."}])
    event = json.dumps({"msgs": [1], "content": "Alice heard a concert.", **named})
    draft = validate_answer(parse_answer(wrapped.format(event=event)), ExtractionInput(window, schema))

    assert [(each.type, each.content) for each in draft.events] == [("concert", "Alice heard a concert.")]


def test_of_several_event_types_one_is_named(window: Window, schema: MemorySchema) -> None:
    draft = read(window, schema, events=[{"msgs": [1], "content": "Alice moved to Oslo."}])

    assert draft.events == ()
    assert dropped(draft) == {("event", "unknown_type"): 1}


@pytest.mark.parametrize(
    ("messages", "ranges", "segment"),
    [
        ([1], [[[1, 2]]], 0),
        ([3], [[[1, 2]]], None),
        ([3], [], None),
        ([0, 3], [[[1, 2]], [[0, 0], [3, 3]]], 1),
        ([1, 3], [[[3, 3]], [[1, 2]]], 1),
        ([3, 1], [[[3, 3]], [[1, 2]]], 0),
        ([3, 1, 2], [[[3, 3]], [[1, 2]]], 1),
        ([1], [[[0, 2]], [[1, 1]]], 0),
    ],
)
def test_an_event_belongs_to_the_segment_of_most_messages(
    window: Window, schema: MemorySchema, messages: list[int], ranges: list[list[list[int]]], segment: int | None
) -> None:
    segments = [{"topic": f"topic {number}", "ranges": each} for number, each in enumerate(ranges)]
    draft = read(window, schema, segments=[{"topic": ""}, *segments], events=[{**EVENT, "msgs": messages}])

    assert draft.events[0].segment == segment


@pytest.mark.parametrize(
    ("date", "expected", "known"),
    [
        ("2023", datetime(2023, 1, 1, tzinfo=UTC), "2023"),
        ("2023-04", datetime(2023, 4, 1, tzinfo=UTC), "2023-04"),
        ("2023/4", datetime(2023, 4, 1, tzinfo=UTC), "2023-04"),
        ("2023/04/02", datetime(2023, 4, 2, tzinfo=UTC), "2023-04-02"),
        ("2023-05-01/2023-05-07", datetime(2023, 5, 1, tzinfo=UTC), "2023-05-01/2023-05-07"),
        ("2022-06 to 2022-08", datetime(2022, 6, 1, tzinfo=UTC), "2022-06/2022-08"),
        ("2024-12-24", datetime(2024, 12, 24, tzinfo=UTC), "2024-12-24"),
        ("last week", datetime(2023, 5, 1, tzinfo=UTC), "2023-05-01/2023-05-07"),
        ("in August 2022", datetime(2022, 8, 1, tzinfo=UTC), "2022-08"),
        ("the other day", datetime(2023, 5, 1, tzinfo=UTC), "2023-05-01/2023-05-07"),
        ("2023-05-07T18:30", datetime(2023, 5, 7, 18, 30, tzinfo=UTC), None),
        ("2023-05-07T18:30:05.5+02:00", datetime(2023, 5, 7, 18, 30, 5, tzinfo=timezone(timedelta(hours=2))), None),
        ("unknown", BEGIN + timedelta(minutes=1), "unknown"),
        ("2023-05-08", BEGIN + timedelta(minutes=1), None),
        ("today", BEGIN + timedelta(minutes=1), None),
        (None, BEGIN + timedelta(minutes=1), None),
        ("", BEGIN + timedelta(minutes=1), None),
    ],
)
def test_dates_are_read(window: Window, schema: MemorySchema, date: Any, expected: datetime, known: str | None) -> None:
    draft = read(window, schema, events=[{**EVENT, "date": date}])

    assert draft.events[0].event_time == expected
    assert draft.events[0].date == (None if known is None else EventDate.parse(known))
    assert dropped(draft) == {}


@pytest.mark.parametrize(
    "date",
    ["soon", "2023-13-45", "2023-02-30/2023-03-01", "2024/2023", "9999-01-01", "0001-01-01", 20231307, ["2023"], "last month or last year"],
)
def test_an_invalid_date_leaves_the_date_unknown(window: Window, schema: MemorySchema, date: Any) -> None:
    draft = read(window, schema, events=[{**EVENT, "date": date}])

    assert draft.events[0].event_time == draft.events[0].said_at
    assert draft.events[0].date == UNKNOWN_DATE
    assert dropped(draft) == {("property", "bad_date"): 1}


def test_repeated_items_appear_once(window: Window, schema: MemorySchema) -> None:
    draft = read(window, schema, segments=[SEGMENT] * 3, events=[EVENT] * 50, patches=[PATCH] * 4)

    assert (len(draft.segments), len(draft.events), len(draft.patches)) == (1, 1, 1)
    assert dropped(draft) == {("segment", "repeated"): 2, ("event", "repeated"): 49, ("patch", "repeated"): 3}


def test_endless_lists_are_bounded(window: Window, schema: MemorySchema) -> None:
    draft = read(window, schema, events=[{**EVENT, "content": f"Alice saw {number} birds."} for number in range(500)])

    assert len(draft.events) == 200
    assert dropped(draft) == {("event", "too_many"): 300}


def test_long_search_texts_are_bounded_together(window: Window, schema: MemorySchema) -> None:
    words = " ".join(f"word{number}" for number in range(400))[:1900]
    long = [{**PATCH, "search": f"{number} {words}"[:1900], "replace": "x"} for number in range(40)]
    draft = read(window, schema, patches=[*long, {**PATCH, "search": "tea", "replace": "coffee"}])

    assert sum(len(each.search) for each in draft.patches) <= LONGEST_SEARCHES
    assert (len(draft.patches), draft.patches[-1].search) == (11, "tea")
    assert dropped(draft) == {("patch", "too_much_search"): 30}


def test_a_text_that_falls_into_a_loop_is_cut(window: Window, schema: MemorySchema) -> None:
    draft = read(window, schema, events=[{**EVENT, "content": "Alice moved to Oslo" + " and then to Oslo" * 90}])

    assert draft.events[0].content == "Alice moved to Oslo and then to Oslo"


def test_no_evidence_points_to_an_echo(schema: MemorySchema) -> None:
    echo = "Alice lives in Bergen."
    window = window_of(
        {"text": "As I recall, Alice has a dog.", "role": "assistant", "from_recall": True}, f"  {echo} ", "I moved.", f"- {echo}\nTrue?"
    )
    segments = [{"topic": "All", "ranges": [[0, 3]]}]
    events = [
        {**EVENT, "msgs": [2, 0, 1]},
        {**EVENT, "content": "Alice has a dog.", "msgs": [0]},
        {**EVENT, "content": "Alice lives in Bergen", "msgs": [1]},
        {**EVENT, "content": echo, "msgs": [2]},
        {**EVENT, "content": "Alice asked whether it is true.", "msgs": [0, 3, 2]},
    ]
    draft = read(window, schema, frozenset({content_hash(echo)}), segments=segments, events=events, patches=[{**PATCH, "msgs": [0]}])

    assert draft.segments[0].ranges == ((2, 3),)
    assert [event.messages for event in draft.events] == [(2,), (3, 2)]
    assert dropped(draft) == {("event", "recalled"): 3, ("patch", "recalled"): 1}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"answer": {"events": [EVENT]}}),
        json.dumps([EVENT]),
        json.dumps(EVENT),
        f"{json.dumps(EVENT)}\n{json.dumps(EVENT | {'msgs': [2]})}",
        json.dumps({"events": EVENT}),
    ],
)
def test_an_answer_is_found_in_other_forms(window: Window, schema: MemorySchema, text: str) -> None:
    assert validate_answer(parse_answer(text), ExtractionInput(window, schema)).events[0].content == EVENT["content"]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        " [ ]\n",
        "```json\n[]\n```",
        "<think>Keywords are {mostly} [].</think>\n{}",
        '{"segments": [], "events": [], "patches": []}',
        '```json\n{"events": []}\n```',
    ],
)
def test_an_empty_answer_is_an_answer(text: str) -> None:
    assert parse_answer(text).found


@pytest.mark.parametrize(
    "text",
    ["", "No.", '{"error": "busy"}', "[1, 2]", '"events"', "Keywords: mostly [] as the rules say.", "So {} it is", "{}\n[]", "[{}]", "[]]"],
)
def test_something_else_is_no_answer(text: str) -> None:
    assert not parse_answer(text).found


@pytest.mark.parametrize("lists", ["segments", "events", "patches"])
@pytest.mark.parametrize("wrapped", ["[{event}]", "{event}\n{event}", '{{"answer": [{event}]}}', '{{"events": [{event}]}}'])
def test_a_property_named_like_a_list_hides_no_event(window: Window, lists: str, wrapped: str) -> None:
    properties = [{"PropertyName": lists, "PropertyValueType": "list<string>"}]
    schema = parse_schema([{"EventType": "concert", "Description": "A concert.", "Properties": properties}])
    event = json.dumps({"type": "concert", "msgs": [1], "content": "Alice heard a concert.", lists: ["one", "two"]})
    draft = validate_answer(parse_answer(wrapped.format(event=event)), ExtractionInput(window, schema))

    assert [each.properties for each in draft.events] == [{lists: ["one", "two"]}]


def test_an_answer_may_have_type_and_content_itself(window: Window, schema: MemorySchema) -> None:
    draft = validate_answer(
        parse_answer(json.dumps({"type": "memories", "content": "All that was said.", "events": [EVENT]})), ExtractionInput(window, schema)
    )

    assert [event.content for event in draft.events] == [EVENT["content"]]


def test_a_models_moment_in_utc_is_the_users_day() -> None:
    said_at = datetime(2024, 5, 13, 8, tzinfo=timezone(timedelta(hours=12)))
    when = read_when("2024-05-12T19:30:00Z", said_at)
    assert when.event_time == datetime(2024, 5, 12, 19, 30, tzinfo=UTC)
    assert when.event_time.isoformat() == "2024-05-13T07:30:00+12:00"
