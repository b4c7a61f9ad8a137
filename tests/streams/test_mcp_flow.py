"""An assistant over MCP, through the real stages: it remembers, recalls, corrects and forgets, and the log agrees."""

import pytest

from memory.ids import user_digest
from runtime.settings import Settings
from tests.api.mcp.served import call, mcp_client, mcp_service
from tests.control_log import add_key
from tests.streams.flow import TENANT, caught_up, serving

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SAID = ("I moved to Bergen in May.", "I adopted a cat called Pixel.")


async def test_an_assistant_remembers_and_forgets(flow: Settings) -> None:
    key = await add_key(flow, TENANT, user="eva")
    async with serving(flow), mcp_service(flow) as url, mcp_client(url, key) as client:
        for text in SAID:
            sent = await call(client, "remember", text=text, speaker="Eva", event_time="2024-06-01T12:00:00Z")
        assert sent["session"] == f"mcp-{user_digest('eva')}"
        # A key that is bound to a user must not flush; the window closes at the pause after four messages.
        for number in range(3):
            await call(client, "remember", text=f"Tell me a joke, number {number}.", speaker="Eva", event_time="2024-06-01T12:30:00Z")
        await caught_up(flow)
        found = await call(client, "recall", query="Where does Eva live?")
        contents = {each["content"]: each for each in (*found["results"], *found["entities"])}
        moved = next(each for content, each in contents.items() if content == SAID[0])
        assert moved["evidence"]
        listed = (await call(client, "list", kinds=["event"]))["memories"]
        assert moved["id"] in {each["id"] for each in listed}

        await call(client, "correct", memory_id=moved["id"], content="I moved to Oslo in May.", reason="misheard")
        await caught_up(flow)
        assert (await call(client, "get", memory_id=moved["id"]))["content"] == "I moved to Oslo in May."
        history = await call(client, "history", entity_type="user_profile", key=["eva"])
        assert history["steps"]

        asked = await call(client, "forget", memory_id=moved["id"])
        done = await call(client, "forget", memory_id=moved["id"], confirmation=asked["confirmation"])
        assert done["outcome"] == "deleted"
        await caught_up(flow)
        assert moved["id"] not in {each["id"] for each in (await call(client, "list", kinds=["event"]))["memories"]}
        assert "Oslo" not in (await call(client, "context", query="Where does Eva live?"))["context"]
