"""The messages of each format of exports, and what is left out."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.mem0.owners import Owner
from memory.records import Message
from memory.records.message import STATEMENT
from tests.varve.imports.exports import CHATGPT, CLAUDE, EVENT, LOCOMO, MEM0, ZEP_EDGE, ZEP_EPISODE, ZEP_MESSAGE
from varve.errors import ImportFileError
from varve.imports.counts import ImportCounts, read_messages
from varve.imports.files import ExportFile, Item
from varve.imports.formats import COMPUTED, FORMATS, NO_STATEMENT, NOT_EXPIRING, NOT_SAID, NOT_VALID, OTHER_PAGES, Format
from varve.imports.messages import NO_TEXT, NO_TIME, UNREADABLE_TIME, ImportOptions, Skipped

ITEM_FORMATS = {name: each for name, each in FORMATS.items() if isinstance(each, Format)}
ANN = ImportOptions(user="ann", session="s1")


def read(form: str, value: Any, options: ImportOptions = ANN) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The messages of one item, and the numbers of skipped ones by reason."""
    found = list(ITEM_FORMATS[form].read(Item(value, "export.json, item 1"), options))
    messages = [each for each in found if isinstance(each, dict)]
    for message in messages:
        Message.model_validate({**message, "tenant": "t"})
    return messages, {each.reason: each.count for each in found if isinstance(each, Skipped)}


def test_chatgpt_keeps_the_current_branch() -> None:
    messages, skipped = read("chatgpt", CHATGPT)
    assert [(each["id"], each["role"], each["text"], each["event_time"]) for each in messages] == [
        ("m1", "user", "I moved to Bergen.", "2023-11-14T22:13:21+00:00"),
        ("m4", "assistant", "How is it there?", "2023-11-14T22:13:23+00:00"),
    ]
    assert {(each["user"], each["session"]) for each in messages} == {("ann", "chatgpt-c1")}
    assert skipped == {NOT_SAID: 2}


def test_a_circle_of_parents_ends() -> None:
    circle = deepcopy(CHATGPT)
    circle["mapping"]["n1"]["parent"] = "n4"
    assert [each["id"] for each in read("chatgpt", circle)[0]] == ["m1", "m4"]


def test_claude_exports_keep_all_spoken_text() -> None:
    messages, skipped = read("claude", CLAUDE)
    assert [(each["id"], each["role"], each["text"]) for each in messages] == [
        ("a", "user", "I have a cat."),
        ("b", "assistant", "What is its name?"),
    ]
    assert messages[0]["event_time"] == "2024-05-06T12:00:01+00:00"
    assert skipped == {NO_TEXT: 1}


def test_a_memory_of_mem0_is_a_statement_with_metadata() -> None:
    [message], skipped = read("mem0", MEM0, ImportOptions())
    assert (message["user"], message["session"], message["id"]) == ("ann", Owner(user_id="ann", agent_id="coach").session, "mem0-f1")
    assert (message["text"], message["event_time"]) == ("Likes hiking", "2024-05-06T05:00:00-07:00")
    assert message["metadata"] == {"mem0": {"id": "f1", "metadata": {"source": "app"}, "categories": ["hobbies"]}}
    assert message["tool_call"] == {"name": STATEMENT}
    assert not skipped


def test_expiration_dates_of_mem0_are_counted_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(orjson.dumps([{**MEM0, "expiration_date": "2030-01-01"}, {**MEM0, "expiration_date": None}]))
    counts = ImportCounts()
    first, second = read_messages(ExportFile(path), FORMATS["mem0"], ImportOptions(), counts)
    assert first["metadata"]["mem0"]["expiration_date"] == "2030-01-01"
    assert "expiration_date" not in second["metadata"]["mem0"]
    assert counts.lines()[-1] == f"imported: 1 {NOT_EXPIRING}"
    assert counts.as_json()["remarks"] == {NOT_EXPIRING: 1}


def test_zep_gives_messages_episodes_and_valid_facts() -> None:
    [message], _ = read("zep", ZEP_MESSAGE)
    assert (message["id"], message["session"], message["speaker"], message["event_time"]) == (
        "z1",
        "s1",
        "Ann",
        "2024-05-06T12:00:00+00:00",
    )
    [episode], _ = read("zep", ZEP_EPISODE)
    assert (episode["session"], episode["text"]) == ("t1", "I have a sister.")
    [fact], _ = read("zep", ZEP_EDGE, ImportOptions(user="ann"))
    assert (fact["id"], fact["session"], fact["text"], fact["event_time"]) == (
        "zep-z3",
        "zep",
        "Ann lives in Oslo",
        "2024-05-08T12:00:00+00:00",
    )
    assert fact["tool_call"] == {"name": STATEMENT}
    assert read("zep", {**ZEP_EDGE, "invalid_at": "2024-06-01T00:00:00Z"}) == ([], {NOT_VALID: 1})
    assert read("zep", {**ZEP_EPISODE, "source": "json"}) == ([], {NO_STATEMENT: 1})


def test_locomo_gives_turns() -> None:
    assert [(each["user"], each["id"]) for each in read("locomo", LOCOMO, ImportOptions())[0]] == [("conv-1", "D1:1")]


def test_an_export_of_varve_states_its_events_again() -> None:
    [message], _ = read("varve", EVENT, ImportOptions())
    assert (message["user"], message["session"], message["speaker"]) == ("ann", "s1", "Ann")
    assert (message["id"], message["event_time"]) == ("varve-e1", "2024-05-06T13:00:00+00:00")
    assert message["metadata"]["varve"]["evidence"] == ["m1"]
    assert read("varve", {**EVENT, "kind": "entity"}) == ([], {COMPUTED: 1})
    assert read("varve", {**EVENT, "correction": {"action": "invalidate"}}) == ([], {NOT_VALID: 1})


def test_a_message_without_time_is_left_out() -> None:
    assert read("mem0", {**MEM0, "created_at": None}) == ([], {NO_TIME: 1})


@pytest.mark.parametrize("time", [1_714_978_800, 1_714_978_800_000, "2024-05-06T07:00:00Z"])
def test_a_number_counts_seconds_or_milliseconds(time: Any) -> None:
    [message], _ = read("mem0", {**MEM0, "created_at": time})
    assert message["event_time"] == "2024-05-06T07:00:00+00:00"


@pytest.mark.parametrize(
    ("page", "others"),
    [
        ({"count": 250, "next": "https://mem0.example/?page=2", "results": [MEM0]}, 249),
        ({"next": "https://mem0.example/?page=2", "results": [MEM0]}, 1),
        ({"results": [MEM0], "next": None, "count": 1}, 0),
        ({"results": [MEM0]}, 0),
        ([MEM0], 0),
        (MEM0, 0),
    ],
)
def test_a_page_names_what_other_pages_have(page: Any, others: int, tmp_path: Path) -> None:
    path = tmp_path / "page.json"
    path.write_bytes(orjson.dumps(page))
    found = list(FORMATS["mem0"].messages(ExportFile(path), ImportOptions()))
    assert sum(isinstance(each, dict) for each in found) == 1
    assert [each for each in found if isinstance(each, Skipped)] == ([Skipped(OTHER_PAGES, others)] if others else [])


def test_ids_follow_from_the_content() -> None:
    def identity(**fields: Any) -> str:
        found: str = read("zep", {**ZEP_MESSAGE, "uuid": None, **fields})[0][0]["id"]
        return found

    assert identity() == identity()
    assert len({identity(), identity(content="No"), identity(name="Bo"), identity(reference_time="2024-05-09T00:00:00Z")}) == 4


@pytest.mark.parametrize(
    ("form", "value", "names", "reason"),
    [
        ("chatgpt", CLAUDE, ANN, "is not a conversation of a ChatGPT export"),
        ("claude", [], ANN, "is not a conversation of a Claude export"),
        ("mem0", {"text": "x"}, ANN, "is not a memory of mem0 .* but an object with text"),
        ("mem0", {"memory": "x", "created_at": "2024-05-06"}, ImportOptions(), "give --user"),
        ("zep", "x", ANN, "is not a message, an episode or an edge of Zep"),
        ("zep", ZEP_MESSAGE, ImportOptions(user="ann"), "item 1 names no session: give --session"),
        ("zep", ZEP_MESSAGE, ImportOptions(session="s"), "item 1 names no user: give --user"),
        ("zep", {**ZEP_MESSAGE, "user_id": {"a": 1}}, ANN, "its user is an object, and must be a string"),
        ("locomo", {"conversation": {}}, ANN, "LoCoMo"),
        ("varve", {"kind": "event"}, ANN, "varve memories export"),
        ("chatgpt", CHATGPT, ImportOptions(), "names no user"),
    ],
)
def test_other_forms_are_refused_with_their_place(form: str, value: Any, names: ImportOptions, reason: str) -> None:
    with pytest.raises(ImportFileError, match=reason) as raised:
        read(form, value, names)
    assert "export.json, item 1" in str(raised.value)


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("zep", {**ZEP_MESSAGE, "reference_time": "yesterday"}),
        ("mem0", {**MEM0, "created_at": "yesterday"}),
        ("claude", {**CLAUDE, "chat_messages": [{**CLAUDE["chat_messages"][0], "created_at": "yesterday"}]}),
    ],
)
def test_an_unreadable_time_leaves_out_its_message(form: str, value: Any) -> None:
    counts = ImportCounts()
    for found in ITEM_FORMATS[form].read(Item(value, "export.json, item 1"), ANN):
        counts.add(found)
    assert (counts.messages, counts.skipped) == (0, {UNREADABLE_TIME: 1})
    assert counts.first_problem is not None
    assert "export.json, item 1: 'yesterday' is no time" in counts.first_problem


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=5), inner, max_size=2)),
    max_leaves=5,
)
whole = st.sampled_from([CHATGPT, CLAUDE, MEM0, ZEP_MESSAGE, ZEP_EPISODE, ZEP_EDGE, EVENT])


@given(st.sampled_from([*ITEM_FORMATS]), whole, st.data())
def test_damaged_items_are_read_or_refused(form: str, value: dict[str, Any], data: st.DataObject) -> None:
    damaged = {**value, data.draw(st.sampled_from([*value])): data.draw(values)}
    try:
        found = list(ITEM_FORMATS[form].read(Item(damaged, "export.json, item 1"), ANN))
    except ImportFileError:
        return
    for each in found:
        ImportCounts().add(each)
    assert all(not isinstance(each, dict) or (each["text"].strip() and each["id"] and each["user"] and each["session"]) for each in found)
