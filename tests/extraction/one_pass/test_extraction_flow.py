"""The steps of an extraction: the flow asks, and the test answers."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from extraction.drafts import Draft
from extraction.errors import UnusableAnswerError
from extraction.one_pass.flow import Task, extraction_flow
from extraction.port import ExtractionContext
from memory.records import Window
from memory.texts.text import estimate_tokens
from models.llm.port import LLMAnswer, LLMRequest
from tests.extraction.conftest import BuildTask
from tests.extraction.windows import window_of

SEGMENT = {"topic": "Moving", "ranges": [[0, 2]]}


def event(content: str, message: int = 0) -> dict[str, Any]:
    return {"type": "life_event", "msgs": [message], "content": content}


def answer_text(*contents: str) -> str:
    return json.dumps({"segments": [SEGMENT], "events": [event(content) for content in contents], "patches": []})


def play(task: Task, answers: Sequence[str]) -> tuple[list[LLMRequest], Draft]:
    """Runs the flow on the answers, all of which it has to ask for."""
    flow = extraction_flow(task)
    requests = [next(flow)]
    for index, text in enumerate(answers):
        try:
            requests.append(flow.send(LLMAnswer(text=text, model="m", finish_reason="stop")))
        except StopIteration as end:
            assert index == len(answers) - 1
            return requests, end.value
    raise AssertionError("the flow asks for more")


def reasons(draft: Draft) -> dict[tuple[str, str], int]:
    return {(each.what, each.reason): each.count for each in draft.tally.as_dropped()}


@pytest.fixture
def window() -> Window:
    return window_of("I moved to Oslo.", "With Bob.", "Bye!")


@pytest.fixture
def task(task_of: BuildTask, window: Window) -> Task:
    return task_of(window)


def test_a_good_answer_costs_one_call(task: Task, window: Window) -> None:
    (request,), draft = play(task, [answer_text("Alice moved.")])

    assert [each.content for each in draft.events] == ["Alice moved."]
    assert (request.tenant, request.stage, request.purpose, request.subject) == ("acme", "extraction", "extraction", window.id)
    assert request.json_schema == task.answer_schema
    assert request.max_tokens == task.max_tokens


def test_small_talk_gives_nothing_and_is_no_fault(task: Task) -> None:
    _, draft = play(task, ['{"segments": [], "events": [], "patches": []}'])

    assert (draft.events, draft.patches, reasons(draft)) == ((), (), {})


def test_a_truncated_answer_is_continued_once(task: Task) -> None:
    whole = answer_text("Alice moved.", "Bob came along.", "They left.")
    cut_off = whole[: whole.index("They")]
    requests, draft = play(task, [cut_off, json.dumps({"events": [event("They left.", 2)]})])

    assert [each.content for each in draft.events] == ["Alice moved.", "Bob came along.", "They left."]
    assert [each.segment for each in draft.events] == [0, 0, 0]
    assert [each.role for each in requests[1].messages] == ["system", "user", "assistant", "user"]
    assert requests[1].messages[:2] == requests[0].messages
    assert json.loads(requests[1].messages[2].content)["events"] == [event("Alice moved."), event("Bob came along.")]
    assert reasons(draft) == {}


def test_a_continuation_that_restarts_adds_only_new_items(task: Task) -> None:
    whole = answer_text("Alice moved.", "Bob came along.", "They left.")
    _, draft = play(task, [whole[: whole.index("They")], whole])

    assert [each.content for each in draft.events] == ["Alice moved.", "Bob came along.", "They left."]
    assert reasons(draft) == {("event", "repeated"): 2, ("segment", "repeated"): 1}


@pytest.mark.parametrize("rest", ['{"events": [{"type": "life_event", "content": "cut', "That is all."])
def test_an_answer_truncated_twice_retains_whole_items(task: Task, rest: str) -> None:
    whole = answer_text("Alice moved.", "They left.")
    _, draft = play(task, [whole[: whole.index("They")], rest])

    assert [each.content for each in draft.events] == ["Alice moved."]
    assert reasons(draft) == {("event", "truncated"): 1}


def test_a_loop_is_cut_and_not_continued(task: Task) -> None:
    looping = '{"segments": [], "events": [' + ", ".join([json.dumps(event("Alice moved."))] * 40)
    _, draft = play(task, [looping + ", " + json.dumps(event("Alice moved."))[:20]])

    assert [each.content for each in draft.events] == ["Alice moved."]
    assert reasons(draft)["event", "truncated"] == 1


@pytest.mark.parametrize("unit", ["so on and so on ", "\n", json.dumps(event("Alice moved.")) + ", "])
def test_a_looping_answer_is_aborted(task: Task, unit: str) -> None:
    stop_when = next(extraction_flow(task)).stop_when
    assert stop_when is not None
    begun = answer_text("Alice moved.")[:-20] + '"}, '
    lengths = [length for length in range(0, 2400, 50) if stop_when(begun + (unit * 2400)[:length])]

    assert lengths
    assert lengths == list(range(lengths[0], 2400, 50))
    assert 400 <= lengths[0] <= 1400


def test_a_long_answer_without_loops_is_not_aborted(task: Task) -> None:
    stop_when = next(extraction_flow(task)).stop_when
    assert stop_when is not None
    contents = [f"Alice saw {number} birds by the lake {'-' * number} and {' ' * number} went home." for number in range(100)]
    text = json.dumps(json.loads(answer_text(*contents)), indent=12)

    assert not any(stop_when(text[:length]) for length in range(0, len(text), 7))


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("I am sorry, I cannot do that.", "no JSON object"),
        ("", "no JSON object"),
        (json.dumps({"events": [{"type": "wedding", "content": "x", "msgs": [0]}]}), "1 event unknown_type"),
        ('{"segments": [{"topic": "' + "so on and so on and " * 60, "cut off before its first whole event"),
        ("<think>\nThey moved. Keywords: mostly [] as the rules say. Now the patch, hmm", "no JSON object"),
        (f"<think>\nMaybe {answer_text('Alice moved to Bergen.')}? No, wait. Let me", "no JSON object"),
        ("They moved. Keywords: mostly [] as the rules say. Now the patch, hmm", "no JSON object"),
    ],
)
def test_an_unusable_answer_is_repaired_once(task: Task, bad: str, problem: str) -> None:
    requests, draft = play(task, [bad, answer_text("Alice moved.")])

    assert [each.content for each in draft.events] == ["Alice moved."]
    assert problem in requests[1].messages[-1].content
    assert requests[1].messages[2].role == "assistant"


@pytest.mark.parametrize(
    "thoughts",
    [
        "<think>Maybe {draft}? No.</think>",
        "Maybe {draft}? No, that is wrong.\n</think>\n\n",
        '<think>I answer {{"segments": [...], "events": [...]}}.</think>Here it is: ',
        "It begins with {{'segments', and it's a list, don't forget.\n</think>\n",
        "[THINK]Maybe {draft}? No.[/THINK]",
        "<|channel|>analysis<|message|>Maybe {draft}? No.<|end|><|start|>assistant<|channel|>final<|message|>",
    ],
)
def test_a_draft_among_thoughts_is_no_event(task: Task, thoughts: str) -> None:
    draft = json.dumps(event("Alice will move to Bergen."))
    (_,), extracted = play(task, [thoughts.format(draft=draft) + answer_text("Alice said </think> and moved.")])

    assert [each.content for each in extracted.events] == ["Alice said </think> and moved."]
    assert reasons(extracted) == {}


def test_a_repair_is_not_sent_the_thoughts(task: Task) -> None:
    requests, _ = play(task, ["<think>They moved, or did they? </think>I cannot say.", answer_text("Alice moved.")])

    assert requests[1].messages[2].content == "I cannot say."


def test_an_answer_beyond_repair_carries_its_raw_text(task: Task, window: Window) -> None:
    with pytest.raises(UnusableAnswerError, match=window.id) as caught:
        play(task, ["Never.", "Still not."])

    assert "Never." in caught.value.raw
    assert "Still not." in caught.value.raw


def test_an_unrepairable_problem_causes_no_repair(task_of: BuildTask) -> None:
    task = task_of(window_of({"text": "As I recall, you moved.", "from_recall": True}, "Hm.", "Well."))
    _, draft = play(task, [answer_text("Alice moved.")])

    assert reasons(draft) == {("event", "recalled"): 1}


def test_another_attempt_is_asked_past_the_cache(task_of: BuildTask, window: Window) -> None:
    (request,), _ = play(task_of(window, ExtractionContext(attempt=2)), [answer_text("Alice moved.")])

    assert request.attempt == 2


def test_no_request_exceeds_its_bound(task_of: BuildTask) -> None:
    task = task_of(window_of(*["word " * 5000] * 20), ExtractionContext(session_summary="word " * 5000))
    sizes = [sum(estimate_tokens(each.content) for each in request.messages) for request in play(task, ["no " * 9000, answer_text("x")])[0]]

    bound = estimate_tokens(play(task, [answer_text("x")])[0][0].messages[0].content) + 1000 + 100 + 400 + 200 + task.max_tokens
    assert max(sizes) <= bound


def test_messages_that_were_cut_are_counted(task_of: BuildTask) -> None:
    _, draft = play(task_of(window_of("word " * 5000, "short", "short")), [answer_text("Alice moved.")])

    assert reasons(draft) == {("message", "cut"): 1}
