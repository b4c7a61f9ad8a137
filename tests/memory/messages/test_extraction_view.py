"""Messages that extraction reads of a window: calls with their results, no automated turns, and the right evidence."""

from typing import Any

from memory.messages.extraction_view import extraction_view
from memory.records import Window
from tests.memory.sample_windows import window_of


def openai_call(call_id: str, city: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'}}


def viewed(window: Window) -> list[tuple[str, str, Any, Any, tuple[int, ...]]]:
    view = extraction_view(window)
    return [
        (each.role, each.text, each.tool_call and each.tool_call.arguments, each.tool_call and each.tool_call.result, sources)
        for each, sources in zip(view.messages, view.sources, strict=True)
    ]


def test_results_join_their_calls_by_id() -> None:
    window = window_of(
        {"role": "user", "content": "How is the weather?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [openai_call("c1", "Oslo"), openai_call("c2", "Bergen")]},
        {"role": "tool", "tool_call_id": "c2", "content": "7"},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
        {"role": "assistant", "content": "Oslo has 3 degrees, Bergen 7."},
    )
    assert viewed(window) == [
        ("user", "How is the weather?", None, None, (0,)),
        ("assistant", "I look.", None, None, (1,)),
        ("tool", "", {"city": "Oslo"}, "3", (1, 3)),
        ("tool", "", {"city": "Bergen"}, "7", (1, 2)),
        ("assistant", "Oslo has 3 degrees, Bergen 7.", None, None, (4,)),
    ]


def test_results_and_text_in_one_user_turn() -> None:
    window = window_of(
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "find", "input": {"q": "cafe"}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "closed"}, {"type": "text", "text": "I like tea."}],
        },
    )
    assert viewed(window) == [("tool", "", {"q": "cafe"}, "closed", (0, 1)), ("user", "I like tea.", None, None, (1,))]


def test_calls_without_ids_are_answered_in_order() -> None:
    call = {"name": "get_weather"}
    window = window_of(
        {"role": "assistant", "tool_call": {**call, "arguments": '{"city": "Oslo"}'}, "text": None},
        {"role": "assistant", "tool_call": {**call, "arguments": '{"city": "Bergen"}'}, "text": ""},
        {"role": "tool", "speaker": "get_weather", "text": "3", "metadata": {"tool_call_id": "call_1"}},
        {"role": "tool", "speaker": "get_weather", "text": "7", "metadata": {"tool_call_id": "call_2"}},
    )
    assert [(each[2], each[3], each[4]) for each in viewed(window)] == [({"city": "Oslo"}, "3", (0, 2)), ({"city": "Bergen"}, "7", (1, 3))]


def test_a_result_without_its_call_is_shown_alone() -> None:
    ((role, text, arguments, result, sources),) = viewed(
        window_of({"role": "tool", "tool_call_id": "c9", "name": "clock", "content": "12:00"})
    )
    assert (role, text, arguments, result, sources) == ("tool", "", None, "12:00", (0,))


def test_automated_turns_and_placeholders_are_left_out() -> None:
    view = extraction_view(
        window_of({"text": "Read HEARTBEAT.md.", "automated": True}, {"text": "<Media omitted>"}, {"text": "I moved to Bergen."})
    )
    assert [each.text for each in view.messages] == ["I moved to Bergen."]
    assert (view.sources, view.dropped) == (((2,),), {"automated": 1, "export_placeholder": 1})


def test_plain_messages_stay_as_they_are() -> None:
    window = window_of({"text": "Hi"}, {"role": "tool", "tool_call": {"name": "find", "arguments": {}, "result": 1}})
    view = extraction_view(window)
    assert not view.is_changed
    assert list(view.messages) == window.messages


def test_ranges_name_the_messages_of_the_window() -> None:
    view = extraction_view(window_of({"text": "a", "automated": True}, {"text": "b"}, {"text": "c", "automated": True}, {"text": "d"}))
    assert view.source_ranges([(0, 1)]) == [(1, 1), (3, 3)]
