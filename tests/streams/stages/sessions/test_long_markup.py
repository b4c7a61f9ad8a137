"""Markup of long texts is removed in a thread, so that the event loop stays responsive."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from memory.messages.message_preparation import MessageSettings
from memory.schema import scenario
from runtime.settings import KafkaSettings
from tests.control_log import known_tenants
from tests.growth import RESPONSIVE, turns_during
from tests.streams.harness import plain_settings
from tests.streams.stages.message_flow import TENANT, Flow

LONG = "<p>I&#39;m <b>here</b>.</p>" * 33_000
PLAIN = "I'm here."


@pytest.fixture
def flow(tmp_path: Path) -> Flow:
    settings = plain_settings(tmp_path, kafka=KafkaSettings(partitions=1))
    return Flow(settings, known_tenants({TENANT: scenario("companion")}, messages=MessageSettings(unescape=("html",))))


@pytest.mark.parametrize("sent", [lambda flow: flow.say("m2", LONG), lambda flow: flow.change("edit", "m1", LONG)])
async def test_a_long_text_does_not_block_the_loop(flow: Flow, sent: Callable[[Flow], Awaitable[None]]) -> None:
    await flow.say("m1", f"<p>{PLAIN}</p>")
    _, turns = await turns_during(sent(flow))
    assert turns > RESPONSIVE
    await flow.say("m3", "later")
    await flow.close()
    await flow.publish()
    texts = [each.text for window in flow.windows for each in window.messages]
    assert [set(text.split("\n")) for text in texts[:-1]] == [{PLAIN}] * (len(texts) - 1)
    assert texts[-1] == "later"
