"""A simulated merge shows what it was given: nothing lost, nothing twice."""

import orjson

from loadtest.answers import extraction_answer, merge_answer
from loadtest.requests import ChatRequest
from operators.llm.llm_json import read_summary_answer
from operators.llm.merge_by_rule import Statement
from operators.llm.merge_prompt import merge_prompt, read_merge_answer
from operators.timeline.summary_prompt import summary_prompt


def request(text: str, added: list[str], withdrawn: list[str]) -> ChatRequest:
    prompt = merge_prompt(
        subject="profile, story",
        text=text,
        added=[Statement(0, each) for each in added],
        withdrawn=[Statement(0, each) for each in withdrawn],
        limit=2000,
    )
    turns = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    return ChatRequest.read({"model": "m", "messages": turns})


def test_every_statement_is_in_the_answer() -> None:
    answer = extraction_answer(request("2024-05-01: a\nb", ["c", "b"], ["a", "unknown"]))
    assert read_merge_answer(answer) == ("b\nc\nb", [])


def test_a_summary_contains_every_event_in_order() -> None:
    content = {"period": "week", "limit": 300, "events": [[0, "ann ran far"], [1, "bob sang"]], "others": 0}
    prompt = summary_prompt(subject="life", question=content)
    answer = extraction_answer(ChatRequest.read({"model": "m", "messages": [{"role": "user", "content": prompt.user}]}))
    assert read_summary_answer(answer) == "ann ran; bob sang"


def test_other_prompts_are_no_merges() -> None:
    for content in ("{}", "[]", "hello", orjson.dumps({"text": "x"}).decode()):
        assert merge_answer(ChatRequest.read({"model": "m", "messages": [{"role": "user", "content": content}]})) is None
