"""Edits and deletions of messages, from the log of messages to what the events stage has published."""

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from memory.headers import KIND, RETRACTION
from memory.records import Message
from streams.stages.sessions.codec import SessionCodec
from tests.streams.harness import delivered
from tests.streams.stages.message_flow import START, TENANT, Flow, NewFlow


async def test_an_edit_in_the_open_window_is_extracted(message_flow: Flow) -> None:
    await message_flow.say("m1", "The dinner is at seven.")
    await message_flow.change("edit", "m1", "The dinner is at eight.")
    assert b"seven" not in message_flow.tail.text
    await message_flow.close()
    await message_flow.publish()
    assert message_flow.published() == [("ann", "The dinner is at eight.")]
    assert [each.revision for each in message_flow.windows] == [0]


async def test_an_edit_of_a_closed_window_replaces_its_results(message_flow: Flow) -> None:
    await message_flow.say("m1", "The dinner is at seven.")
    await message_flow.say("m2", "I like tea.")
    await message_flow.close()
    await message_flow.change("edit", "m1", "The dinner is at eight.")
    await message_flow.publish()
    assert message_flow.published() == [("ann", "I like tea."), ("ann", "The dinner is at eight.")]
    assert message_flow.in_force() == message_flow.published()
    assert [(each.id, each.revision) for each in message_flow.windows] == [(message_flow.windows[0].id, 0), (message_flow.windows[0].id, 1)]
    assert len(set(message_flow.keys)) == 1, "compaction removes the old text"
    assert b"seven" not in message_flow.tail.text


async def test_a_deletion_retracts_before_the_window_is_extracted(message_flow: Flow) -> None:
    await message_flow.say("m1", "My gate code is 4711.")
    await message_flow.say("m2", "I like tea.")
    await message_flow.close()
    await message_flow.publish()
    before = len(message_flow.extractions)
    await message_flow.change("delete", "m1")
    retractions = [each for each in message_flow.extractions[before:] if (KIND, RETRACTION) in each.headers]
    await message_flow.publish(retractions)
    assert (message_flow.published(), message_flow.in_force()) == ([("ann", "I like tea.")], [("ann", "I like tea.")])
    assert b"4711" not in b"".join(message_flow.windows[-1].messages[0].to_json() for _ in message_flow.windows) + message_flow.tail.text


async def test_a_late_extraction_does_not_restore_a_deleted_text(message_flow: Flow) -> None:
    await message_flow.say("m1", "My gate code is 4711.")
    await message_flow.close()
    (first,) = message_flow.extractions
    await message_flow.change("delete", "m1")
    second, retraction = sorted(message_flow.extractions[1:], key=lambda each: (KIND, RETRACTION) in each.headers)
    late = delivered("extractions", 9, first.key, first.value)
    await message_flow.publish([retraction, late])
    assert message_flow.published() == [], "the extraction of the deletion has failed, say"
    await message_flow.publish(
        [delivered("extractions", 10, second.key, second.value), delivered("extractions", 11, first.key, first.value)]
    )
    assert (message_flow.published(), message_flow.in_force()) == ([], [])


async def test_a_window_without_messages_is_published_as_empty(message_flow: Flow) -> None:
    await message_flow.say("m1", "hello")
    await message_flow.close()
    await message_flow.change("delete", "m1")
    assert [len(each.messages) for each in message_flow.windows] == [1, 0]
    assert message_flow.windows[1].ended_at == START


async def test_a_change_of_an_unknown_message_is_refused(message_flow: Flow) -> None:
    await message_flow.change("delete", "m1")
    await message_flow.say("m1", "hello")
    await message_flow.change("edit", "m2", "new")
    await message_flow.change("edit", "m1", "new", user="bob")
    await message_flow.change("delete", "m1")
    await message_flow.change("delete", "m1")
    await message_flow.close()
    await message_flow.change("edit", "m1", "new")
    assert message_flow.refused == ["unknown_message"] * 5
    assert message_flow.windows == []


async def test_a_request_gets_its_outcome(message_flow: Flow) -> None:
    await message_flow.change("edit", "m1", "new", request="a")
    await message_flow.say("m1", "hello")
    await message_flow.change("edit", "m1", "hello", request="b")
    await message_flow.change("edit", "m1", "x" * 1_100_000, request="c")
    await message_flow.change("edit", "m1", "hi", request="d")
    await message_flow.close()
    await message_flow.change("delete", "m1", request="e")
    outcomes = [(each.request, each.outcome) for each in message_flow.outcomes.kept]
    assert outcomes == [("a", "unknown"), ("b", "unchanged"), ("c", "too_large"), ("d", "edited"), ("e", "deleted")]
    assert message_flow.refused == []


@pytest.mark.parametrize("is_closed", [False, True])
async def test_another_text_of_a_known_id_is_refused(message_flow: Flow, is_closed: bool) -> None:
    await message_flow.say("m1", "hello")
    if is_closed:
        await message_flow.close()
    await message_flow.say("m1", "hello")
    assert message_flow.refused == []
    await message_flow.say("m1", "good bye")
    assert message_flow.refused == ["changed_message"]


async def test_a_repetition_after_a_change_restores_nothing(message_flow: Flow) -> None:
    for message_id in ("m1", "m2"):
        await message_flow.say(message_id, "hello")
    await message_flow.change("edit", "m1", "hi")
    await message_flow.close()
    await message_flow.change("delete", "m2")
    await message_flow.say("m1", "hello")
    await message_flow.say("m2", "hello")
    await message_flow.close()
    await message_flow.publish()
    assert (message_flow.refused, message_flow.published()) == ([], [("ann", "hi")])


async def test_a_hidden_message_leaves_the_tail_only(message_flow: Flow) -> None:
    await message_flow.say("m1", "My gate code is 4711.")
    await message_flow.close()
    await message_flow.change("hide", "m1")
    assert b"4711" not in message_flow.tail.text
    await message_flow.change("show", "m1")
    assert b"4711" in message_flow.tail.text
    assert (len(message_flow.windows), message_flow.refused) == (1, [])


async def test_an_unknown_command_field_is_part_of_a_message(message_flow: Flow) -> None:
    fields = {"tenant": TENANT, "user": "ann", "session": "s1", "id": "m1", "text": "ls", "event_time": START.isoformat(), "command": "ls"}
    await message_flow.put(Message.model_validate(fields).to_json())
    await message_flow.close()
    assert [each.text for each in message_flow.windows[0].messages] == ["ls"]


async def test_seven_speakers_share_one_window(message_flow: Flow) -> None:
    users = [f"user{number}" for number in range(7)]
    for number in range(20):
        await message_flow.say(f"m{number}", f"I am number {number}.", user=users[number % 7])
    await message_flow.close()
    await message_flow.publish()
    (window,) = message_flow.windows
    assert (window.users, len(window.messages)) == (users, 20)
    assert message_flow.published() == sorted((users[number % 7], f"I am number {number}.") for number in range(20))
    assert message_flow.in_force() == message_flow.published(), "each line is in the profile of the one who said it"


async def test_a_change_in_a_shared_window_keeps_the_others(message_flow: Flow) -> None:
    await message_flow.say("m1", "I live in Oslo.", user="ann")
    await message_flow.say("m2", "I live in Paris.", user="bo")
    await message_flow.close()
    await message_flow.change("delete", "m2", user="bo")
    await message_flow.publish()
    assert message_flow.published() == message_flow.in_force() == [("ann", "I live in Oslo.")]


async def test_two_users_with_one_id_share_no_window(message_flow: Flow) -> None:
    await message_flow.say("m1", "I live in Oslo.", user="ann")
    await message_flow.say("m1", "I live in Paris.", user="bo")
    await message_flow.close()
    await message_flow.publish()
    assert [each.closed_by for each in message_flow.windows] == ["user", "flush"]
    assert message_flow.published() == [("ann", "I live in Oslo."), ("bo", "I live in Paris.")]


async def test_an_erased_user_leaves_the_shared_windows(message_flow: Flow) -> None:
    await message_flow.say("m1", "I live in Oslo.", user="ann")
    await message_flow.say("m2", "I live in Paris.", user="bo")
    await message_flow.close()
    await message_flow.say("m3", "I like tea.", user="bo")
    await message_flow.say("m4", "I like jam.", user="ann")
    await message_flow.erase("bo")
    await message_flow.close()
    assert [(each.revision, each.users, [message.text for message in each.messages]) for each in message_flow.windows[1:]] == [
        (1, ["ann"], ["I live in Oslo."]),
        (0, [], ["I like jam."]),
    ]
    rows = b"".join(SessionCodec().encode(row) for _, row in message_flow.sessions.state.scan())
    windows = b"".join(each.to_json() for each in message_flow.windows[1:])
    assert b"bo" not in windows + message_flow.tail.text
    assert b"I like tea." not in rows
    await message_flow.publish()
    assert ("ann", "I live in Oslo.") in message_flow.published()
    assert message_flow.windows[1].id == message_flow.windows[0].id


async def test_an_erasure_removes_stored_windows(message_flow: Flow) -> None:
    await message_flow.say("m1", "I live in Paris.", user="bo")
    await message_flow.close()
    await message_flow.erase("bo")
    kinds = {key.split(b"/")[0] for key in message_flow.rows.rows}
    assert kinds.isdisjoint({b"#window", b"#of"})
    await message_flow.change("delete", "m1", user="bo")
    assert message_flow.refused == ["unknown_message"]


async def test_a_change_handled_twice_changes_once(message_flow: Flow) -> None:
    await message_flow.say("m1", "hello")
    await message_flow.close()
    await message_flow.change("edit", "m1", "hi")
    message_flow.offset -= 1
    await message_flow.change("edit", "m1", "hi")
    assert [each.revision for each in message_flow.windows] == [0, 1]


IDS = [f"m{number}" for number in range(4)]
USER_OF = dict(zip(IDS, ["ann", "ann", "bo", "ann"], strict=True))
TEXTS = st.sampled_from(["red", "green", "blue", "amber"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["say", "say", "edit", "delete"]), st.sampled_from(IDS), TEXTS) | st.tuples(st.just("close")),
    max_size=24,
)


@examples(max_examples=150)
@given(steps=STEPS, split=st.integers(0, 40), worker=st.booleans())
async def test_any_changes_end_as_the_final_texts(new_flow: NewFlow, steps: list[tuple[str, ...]], split: int, worker: bool) -> None:
    """Posts, edits, deletions and closings in any order end like the final texts posted once; so does a replay in other batches."""
    flow, texts = new_flow(), dict[str, str | None]()
    for step in steps:
        match step:
            case ("say", message_id, text):
                await flow.say(message_id, text, user=USER_OF[message_id])
                texts.setdefault(message_id, text)
            case ("edit", message_id, text):
                await flow.change("edit", message_id, text, user=USER_OF[message_id])
                if texts.get(message_id) is not None:
                    texts[message_id] = text
            case ("delete", message_id, _):
                await flow.change("delete", message_id, user=USER_OF[message_id])
                if message_id in texts:
                    texts[message_id] = None
            case _:
                await flow.close()
    await flow.close()
    await flow.publish(flow.extractions[:split])
    # A worker that is killed between commit and acknowledgement reads records again.
    await flow.publish(flow.extractions[0 if worker else split :])
    expected = sorted((USER_OF[message_id], text) for message_id, text in texts.items() if text is not None)
    assert flow.published() == expected
    assert flow.in_force() == expected
    newest = {window.id: window for window in flow.windows}
    assert sorted((each.user, each.text) for window in newest.values() for each in window.messages) == expected
