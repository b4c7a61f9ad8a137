"""A reasoning model's thoughts: never taken for its answer, unless a server mixes them up, and always paid for."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.texts.text import estimate_tokens
from models.errors import TransientModelError
from models.llm.streaming import read_chunk
from tests.models.llm.conftest import BuildLLM, BuildRequest, UsageList
from tests.models.llm.raw_endpoint import chunk, event, raw_endpoint, stream_of
from tests.models.llm.thoughts import thought

SCHEMA = {"type": "object", "properties": {"same": {"type": "array"}}, "required": ["same"], "additionalProperties": False}
ANSWER = '{"same": [0, "😀"]}'


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("form", ["{}", "\n```json\n{}\n```"])
async def test_json_taken_for_thoughts_is_the_answer(llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, name: str, form: str) -> None:
    text = form.replace("{}", ANSWER)
    async with raw_endpoint(stream_of(thought(text[:9], name), thought(text[9:], name), chunk("\n"), chunk(finish="stop"))) as url:
        answer = await llm_of(url).complete(replace(ask(), json_schema=SCHEMA))
    assert answer.text.strip() == text.strip()
    assert [each.completion_tokens for each in usages.records] == [estimate_tokens(text)], "booked once"


async def test_thoughts_of_an_unstreamed_answer_are_read(llm_of: BuildLLM, ask: BuildRequest) -> None:
    message = {"role": "assistant", "content": None, "reasoning_content": ANSWER}
    body = {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    async with raw_endpoint(json.dumps(body).encode(), content_type="application/json") as url:
        assert (await llm_of(url).complete(replace(ask(), json_schema=SCHEMA))).text == ANSWER


@pytest.mark.parametrize(
    ("schema", "thoughts", "said", "finish"),
    [
        (None, ANSWER, None, "stop"),
        (SCHEMA, ANSWER, None, "length"),
        (SCHEMA, ANSWER, "No.", "stop"),
        (SCHEMA, f"Maybe {ANSWER}? No, that is wrong.", None, "stop"),
    ],
)
async def test_thoughts_are_no_answer(
    llm_of: BuildLLM, ask: BuildRequest, schema: dict[str, Any] | None, thoughts: str, said: str | None, finish: str
) -> None:
    async with raw_endpoint(stream_of(thought(thoughts), chunk(said), chunk(finish=finish))) as url:
        assert (await llm_of(url).complete(replace(ask(), json_schema=schema))).text == (said or "")


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize(
    "piece",
    [
        thought("I weigh this and that once more. "),
        thought("I weigh this and that once more. ", "reasoning"),
        chunk([{"type": "thinking", "thinking": [{"type": "text", "text": "I weigh this and that once more. "}]}]),
        chunk([{"type": "thinking", "text": "I weigh this and that once more. "}]),
    ],
    ids=["reasoning_content", "reasoning", "parts", "flat parts"],
)
async def test_uncounted_reasoning_is_booked_as_usage(
    llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, piece: dict[str, Any], broken: bool
) -> None:
    end = b"" if broken else stream_of(chunk("yes"), chunk(finish="stop"))
    async with raw_endpoint(event(piece) * 500 + end) as url:
        if broken:
            with pytest.raises(TransientModelError):
                await llm_of(url).complete(ask())
        else:
            await llm_of(url).complete(ask())
    thoughts = 500 * estimate_tokens("I weigh this and that once more. ")
    assert [(each.completion_tokens, each.estimated) for each in usages.records] == [(thoughts + (not broken), True)]


@given(st.none() | st.integers() | st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.text()), st.text())
def test_no_form_of_thoughts_is_read_as_text(reasoning: Any, content: str) -> None:
    read = read_chunk(thought(reasoning, content=content))
    assert (read.text, read.thoughts) == (content, reasoning if isinstance(reasoning, str) else "")
    assert read.is_reasoning == bool(reasoning)
