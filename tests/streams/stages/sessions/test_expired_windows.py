"""The sessions stage forgets closed windows beyond a tenant's retention."""

import pytest

from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.records import SessionCommand
from tests.streams.harness import delivered
from tests.streams.stages.message_flow import TENANT, Flow


async def expired(flow: Flow, *sequences: int, session: str | None = "s1") -> list[str]:
    """Sends the command; returns the reasons of rejections."""
    command = SessionCommand(command="expire", tenant=TENANT, session=session, windows=[*sequences])
    record = delivered("messages", flow.offset, encode_key(TENANT, "s1"), command.to_json(), headers=((KIND, COMMAND),))
    flow.offset += 1
    batch = await flow.sessions.process([record])
    return [each.reason for each in batch.rejections]


def rows_naming(flow: Flow, start: bytes) -> list[bytes]:
    return [key for key in flow.rows.rows if key.startswith(start)]


async def test_an_expired_window_leaves_no_message(message_flow: Flow) -> None:
    await message_flow.say("m1", "My gate code is 4711.")
    await message_flow.close()
    await message_flow.say("m2", "I like tea.")
    await message_flow.close()
    assert len(rows_naming(message_flow, b"#window/")) == 2
    assert await expired(message_flow, 0) == []
    assert (len(rows_naming(message_flow, b"#window/")), len(rows_naming(message_flow, b"#of/"))) == (1, 1)
    assert rows_naming(message_flow, b"#places/"), "the page has another window"
    await expired(message_flow, 1, 7)
    assert [rows_naming(message_flow, start) for start in (b"#window/", b"#of/", b"#places/")] == [[], [], []]


async def test_an_expired_message_can_not_be_edited(message_flow: Flow) -> None:
    await message_flow.say("m1", "The dinner is at seven.")
    await message_flow.close()
    await expired(message_flow, 0)
    before = len(message_flow.windows)
    await message_flow.change("edit", "m1", "The dinner is at eight.")
    assert len(message_flow.windows) == before
    assert message_flow.refused == ["unknown_message"]


async def test_the_session_continues_with_the_next_window(message_flow: Flow) -> None:
    await message_flow.say("m1", "The dinner is at seven.")
    await message_flow.close()
    await expired(message_flow, 0)
    await message_flow.say("m2", "I like tea.")
    await message_flow.close()
    assert [each.sequence for each in message_flow.windows] == [0, 1], "ids are not used again"


@pytest.mark.parametrize("session", [None])
async def test_an_expiry_without_a_session_is_refused(message_flow: Flow, session: None) -> None:
    assert await expired(message_flow, 0, session=session) == ["malformed"]
