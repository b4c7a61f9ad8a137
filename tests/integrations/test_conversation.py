"""Messages of the service in the forms of OpenAI's two APIs."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from varve_integrations.conversation import complete_items, items_of_messages, messages_of_items, openai_messages, turn_of

from tests.letter_flow import NOON

CALL = {"type": "function_call", "call_id": "c", "name": "clock", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "noon"}

texts = st.text(min_size=1, max_size=20)
item_lists = st.lists(
    st.one_of(
        st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "assistant", "system"]), texts),
        st.builds(lambda call_id, name: {**CALL, "call_id": call_id, "name": name}, texts, texts),
        st.builds(lambda call_id, text: {**RESULT, "call_id": call_id, "output": text}, texts, texts),
    )
)


@given(item_lists)
def test_items_survive_a_round_trip(items: list[dict[str, Any]]) -> None:
    sent = turn_of(messages_of_items(items), user="ann", session="s", now=NOON)
    assert items_of_messages(openai_messages(sent)) == items
    assert len({each["id"] for each in sent}) == len(items)


@given(item_lists)
def test_complete_items_have_calls_and_results_in_pairs(items: list[dict[str, Any]]) -> None:
    kept = complete_items(items)
    calls, results = ({each["call_id"] for each in kept if each.get("type") == kind["type"]} for kind in (CALL, RESULT))
    assert calls == results
    assert [each for each in kept if "role" in each] == [each for each in items if "role" in each]


def test_stored_calls_and_results_become_openais() -> None:
    calls = [{"id": "1", "name": "clock", "arguments": {"zone": "Å"}}, {"id": "2", "name": "clock", "arguments": None}]
    results = [{"call_id": "1", "content": "noon"}, {"call_id": "2", "content": {"hour": 12}}]
    assert openai_messages(
        [{"role": "assistant", "text": "", "tool_calls": calls}, {"role": "user", "text": "And now?", "tool_results": results}]
    ) == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "clock", "arguments": '{"zone": "Å"}'}},
                {"id": "2", "type": "function", "function": {"name": "clock", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "noon"},
        {"role": "tool", "tool_call_id": "2", "content": '{"hour": 12}'},
        {"role": "user", "content": "And now?"},
    ]


def test_a_turn_without_speech_is_no_message() -> None:
    assert messages_of_items([{"type": "reasoning", "summary": []}, {"type": "web_search_call", "id": "w"}]) == []
