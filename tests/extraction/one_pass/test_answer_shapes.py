"""Answers as real models and servers give them, one test each: the events in them, or another request to the model.

A case in ``answers/`` has a ``reply`` and either ``events`` (their contents, in order) or ``fault``. Further fields: ``window`` (messages,
default :data:`WINDOW`), ``finish`` (the finish reason), ``continued`` (the rest is asked for), ``patches`` (their number), ``dropped``
(counts by kind and reason), and properties of the first event. Names and numbers are invented; the shapes come from public bug reports.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from extraction.drafts import Draft
from extraction.one_pass.answer.parsing import parse_answer
from extraction.one_pass.flow import extraction_flow
from memory.dates.event_date import EventDate
from models.llm.port import LLMAnswer, LLMRequest
from tests.extraction.conftest import BuildTask
from tests.extraction.windows import window_of

WINDOW = ["Hi!", "I live in Bergen, not in Oslo any more.", "My sister is called Lene."]
FILES = sorted((Path(__file__).parent / "answers").glob("*.jsonl"))
CASES = [(path.stem, json.loads(line)) for path in FILES for line in path.read_text("utf-8").split("\n") if line]
EMPTY = '{"segments": [], "events": [], "patches": []}'


def test_at_least_two_hundred_shapes_are_kept() -> None:
    assert len(CASES) >= 200


@pytest.mark.parametrize("case", [each for _, each in CASES], ids=[f"{kind}-{each['name']}" for kind, each in CASES])
def test_an_answer_shape_gives_its_events(case: dict[str, Any], task_of: BuildTask) -> None:
    flow = extraction_flow(task_of(window_of(*case.get("window", WINDOW), speaker="Ann", user="ann")))
    next(flow)
    reply = _send(flow, case["reply"], case.get("finish", "stop"))
    if case.get("fault"):
        assert isinstance(reply, LLMRequest), f"taken as an answer: {reply}"
        assert "cannot be used" in reply.messages[-1].content
        return
    if case.get("continued"):
        assert isinstance(reply, LLMRequest)
        assert "cut off" in reply.messages[-1].content
        reply = _send(flow, EMPTY, "stop")
    assert isinstance(reply, Draft), reply.messages[-1].content
    dropped = {f"{each.what} {each.reason}": each.count for each in reply.tally.as_dropped()}
    assert [each.content for each in reply.events] == case["events"]
    assert len(reply.patches) == case.get("patches", 0)
    assert case.get("dropped", {}).items() <= dropped.items()
    if case.get("dropped") == {}:
        assert dropped == {}
    if reply.events:
        _check_first_event(reply, case)


NOISE = st.lists(
    st.sampled_from(["{", "}", "[", "]", '"', "'", "\n", "```", "<hmm>", "</hmm>", "◁think▷", "◁/think▷", "No:", "{}", "[1]", ",", "`"])
    | st.text(max_size=5),
    max_size=6,
).map("".join)


@example(before="[", between="'", after="", finish="stop")
@example(before="[", between='{"', after="", finish="length")
@example(before="[", between='"}', after="", finish="stop")
@given(before=NOISE, between=NOISE, after=NOISE, finish=st.sampled_from(["stop", "length"]))
def test_no_text_around_makes_a_draft_the_answer(task_of: BuildTask, before: str, between: str, after: str, finish: str) -> None:
    draft, final = ({"segments": [], "events": [_event(text)], "patches": []} for text in ("Ann lives in Oslo.", "Ann lives in Bergen."))
    flow = extraction_flow(task_of(window_of(*WINDOW)))
    next(flow)
    reply = _send(flow, f"{before}{json.dumps(draft)}{between}{json.dumps(final)}{after}", finish)
    while isinstance(reply, LLMRequest) and "cut off at the length limit" in reply.messages[-1].content:
        reply = _send(flow, EMPTY, "stop")

    assert isinstance(reply, LLMRequest) or all(each.content == "Ann lives in Bergen." for each in reply.events)


@pytest.mark.parametrize("unit", ["[", '{"events":[', '{"a":"', '"events":', "{&quot;", '{\\"', "```json\n{"])
@pytest.mark.timeout(60)
def test_long_garbage_is_read_in_bounded_time(unit: str) -> None:
    parse_answer(unit * (60_000 // len(unit)))  # longer than the longest answer of 16,000 tokens


def _event(content: str) -> dict[str, Any]:
    return {"type": "life_event", "msgs": [1], "content": content}


def _check_first_event(draft: Draft, case: dict[str, Any]) -> None:
    event = draft.events[0]
    assert "messages" not in case or list(event.messages) == case["messages"]
    assert "date" not in case or event.date == EventDate.parse(case["date"])
    assert "properties" not in case or event.properties == case["properties"]
    assert "importance" not in case or event.importance == pytest.approx(case["importance"])


def _send(flow: Any, text: str, finish_reason: Any) -> LLMRequest | Draft:
    try:
        request: LLMRequest = flow.send(LLMAnswer(text=text, model="m", finish_reason=finish_reason))
    except StopIteration as end:
        draft: Draft = end.value
        return draft
    return request
