"""The simulated LLM of the chaos runs fails as often as the dead letters need."""

import orjson

from loadtest.requests import ChatRequest
from operators.agent.loop import Limits, Loop, Task, step_prompt
from operators.agent.tools import read_calls
from operators.cluster.prompt import community_prompt
from operators.links.link_prompt import PromptNote, link_prompt, read_link_answer
from operators.llm.llm_operator import Prompt
from operators.llm.merge_by_rule import Statement
from operators.tree.prompt import node_prompt
from runtime.settings import ExtractionSettings
from tests.chaos.method_answers import method_answer
from tests.chaos.simulated_llm import PROSE, Answers

WINDOWS = 500


def request(window: int, previous: str | None = None) -> ChatRequest:
    """The request of a window; with ``previous``, of a repair of that answer."""
    turns = [{"role": "user", "content": f"<<<messages x\n[0] ann: it rained {window} times\nmessages x>>>\n"}]
    if previous is not None:
        turns += [{"role": "assistant", "content": previous}, {"role": "user", "content": "That answer cannot be used."}]
    return ChatRequest.read({"messages": turns})


def fails(answers: Answers, window: int, garbled: str) -> bool:
    """Whether an attempt gives neither an answer nor a repair."""
    return answers.answer(request(window)) == PROSE and answers.answer(request(window, garbled)) == PROSE


def test_a_stubborn_window_fails_until_it_is_redriven() -> None:
    attempts, answers = ExtractionSettings().attempts, Answers(7)
    on_the_way = (PROSE, f"```json\n{PROSE}\n```", PROSE[:9])
    failed = {window: [fails(answers, window, on_the_way[attempt % 3]) for attempt in range(attempts + 1)] for window in range(WINDOWS)}
    stubborn = [each for each in failed.values() if each[0]]
    assert 2 <= len(stubborn) <= WINDOWS / 20
    assert all(each == [True] * attempts + [False] for each in stubborn)
    assert not any(any(each[1:]) for each in failed.values() if not each[0])


def answer_to(prompt: Prompt) -> str:
    """The answer to an operator's own prompt."""
    turns = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    answer = method_answer(ChatRequest.read({"messages": turns}))
    assert answer is not None
    return answer


def test_it_links_the_notes_of_link() -> None:
    new, near = PromptNote(text="seeds float", day="2024-05-02"), PromptNote(text="plants eat soil", day="2024-05-01")
    decision = read_link_answer(answer_to(link_prompt(subject="notes", new=new, neighbours=[near])), neighbours=1)
    assert (decision.context, decision.links) == ("seeds float", {0: "the same learner"})
    assert decision.changes == {0: {"tags": ["study"], "context": "seen with seeds float"}}


def test_it_summarizes_trees_and_communities() -> None:
    tree = {"count": 2, "limit": 200, "before": "", "added": [["2024-05-01", "ran far"], ["2024-05-02", "swam far"]]}
    assert orjson.loads(answer_to(node_prompt(subject="tree", question=tree))) == {"text": "; ran far; swam far"}
    graph = {"members": ["Ann"], "limit": 200, "before": "ran far", "added": ["Ann swam"]}
    assert orjson.loads(answer_to(community_prompt(subject="graph", question=graph))) == {"text": "ran far; Ann swam"}


def test_it_edits_the_block_of_agent() -> None:
    task = Task(subject="block", added=[Statement(0, "ran far")], withdrawn=[Statement(0, "swam far")])
    prompt = step_prompt(task, Loop(block="swam far"), Limits(characters=400, steps=3, tokens=10_000))
    assert [each.tool for each in read_calls(answer_to(prompt))] == ["search", "replace", "append"]
