"""The steps reward, curriculum and warm-up with a teacher: violations, tiers, cached answers and priorities, against a real endpoint."""

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.llm_simulator import LLMSimulator
from loadtest.requests import ChatRequest
from models.llm.port import LLMAnswer
from tests.training.sift_examples import LINES, RANKING, USER, answering
from training.runs import Run, RunError
from training.sift.data.examples import TRAIN, WARM_UP, WarmUpExample
from training.sift.learning import curriculum, warm_up
from training.sift.learning.curriculum import CurriculumExample, choose, is_informative, priority
from training.sift.learning.warm_up import taught_answer
from training.sift.rewards import reward
from training.sift.rewards.rewarding import Reward, Rewarder, RewardOptions, Rollout
from training.sift.rewards.working_llm import WorkingTask


class CountingLLM:
    """Knows the age if it is shown both sessions, or if the query is a known one."""

    def __init__(self) -> None:
        self.tasks: list[WorkingTask] = []

    def answers(self, tasks: Any) -> list[str]:
        self.tasks += tasks
        return ["three years" if {(LINES[0],), (LINES[2],)} <= {*each.sessions} else "unknown" for each in tasks]


def rollout(text: str, *, tokens: int = 0, thoughts: str = "") -> Rollout:
    return Rollout(user=USER, example=USER.examples[0], text=text, tokens=tokens, thoughts=thoughts)


def test_a_reward_sums_answers_and_retrieval() -> None:
    working = CountingLLM()
    [found] = Rewarder(working, RewardOptions(alpha=1.0, beta=0.5)).rewards([rollout(RANKING)])
    assert found.scores == (0, 0, 1, 1, 1, 1, 1)
    assert found.answer == pytest.approx(0.6309, abs=1e-4)
    assert found.retrieval == pytest.approx(1.6309, abs=1e-4)
    assert found.reward == pytest.approx(0.6309 + 0.5 * 1.6309, abs=1e-4)
    assert len(working.tasks) == 5, "tiers 5, 8 and 10 show the same four sessions"
    [later] = Rewarder(working, RewardOptions(alpha=1.0, beta=0.5)).rewards([rollout(RANKING)], epoch=2.0)
    assert later.reward == pytest.approx(0.6309, abs=1e-4)


@pytest.mark.parametrize(
    "text",
    [
        "<ranking>0,2,1,3</ranking>",
        "<think>Both.</think><ranking>0,2,1</ranking>",
        "<think>Both.</think><ranking>0,2,1,4</ranking>",
        "<think>Both.</think><ranking>0,2,2,1</ranking>",
        "<think>Both.</think><ranking>0,2,1,3",
        "Sure! <think>Both.</think><ranking>0,2,1,3</ranking>",
        "",
    ],
)
def test_a_format_violation_gets_nothing(text: str) -> None:
    working = CountingLLM()
    [found] = Rewarder(working, RewardOptions()).rewards([rollout(text)])
    assert (found.reward, found.scores, found.places) == (0, (), ())
    assert found.error
    assert working.tasks == []


def test_long_answers_are_penalized() -> None:
    options = RewardOptions(max_tokens=100, overlong_buffer=50, beta=0.0)
    valid, cut = Rewarder(CountingLLM(), options).rewards([rollout(RANKING, tokens=75), rollout("<think>on and on", tokens=100)])
    assert (valid.penalty, cut.penalty) == (-0.5, -1.0)
    assert valid.reward == pytest.approx(0.6309 - 0.5, abs=1e-4)
    assert cut.reward == -1.0


def test_reasoning_may_have_its_own_field() -> None:
    [found] = Rewarder(CountingLLM(), RewardOptions()).rewards([rollout("<ranking>0,2,1,3</ranking>", thoughts="Both.")])
    assert found.places == (0, 2, 1, 3)


def test_without_outcome_no_model_is_asked() -> None:
    [found] = Rewarder(None, RewardOptions(alpha=0.0, beta=1.0)).rewards([rollout(RANKING)])
    assert found.reward == pytest.approx(1.6309, abs=1e-4)
    with pytest.raises(ValueError, match="working LLM"):
        Rewarder(None, RewardOptions())


@given(st.text(max_size=60), st.integers(min_value=0, max_value=3))
def test_no_answer_of_the_proxy_crashes(text: str, cut: int) -> None:
    [found] = Rewarder(CountingLLM(), RewardOptions()).rewards([rollout(RANKING[: len(RANKING) - cut] + text)])
    assert (found.places == ()) == bool(found.error)
    assert found.reward >= 0


def arguments(run: Path, **changed: Any) -> argparse.Namespace:
    given = {
        "run": run,
        "iteration": 1,
        "model": None,
        "endpoint": True,
        "sessions": 10,
        "direct": False,
        "max_tokens": 1024,
        "batch": 8,
        "seed": 7,
        "examples": None,
        "rollouts": 2,
        "scoring": "auto",
    }
    return argparse.Namespace(**{**given, **changed})


def rewarded(run: Path, monkeypatch: pytest.MonkeyPatch, answer: Callable[[ChatRequest], str], **changed: Any) -> tuple[list[str], int]:
    """The lines of the step, and how many calls reached the endpoint."""

    async def ask() -> tuple[list[str], int]:
        async with LLMSimulator(answer=answer) as simulator:
            for group in ("LLM", "SIFT"):
                monkeypatch.setenv(f"VARVE_{group}__BASE_URL", simulator.base_url)
                monkeypatch.setenv(f"VARVE_{group}__MODEL", group.lower())
            lines = await asyncio.to_thread(lambda: list(reward.run(arguments(run, **changed))))
            return lines, len(simulator.requests)

    return asyncio.run(ask())


def test_rewards_of_an_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Run(tmp_path).write(TRAIN, [USER])
    lines, calls = rewarded(tmp_path, monkeypatch, answering)
    assert "Calls of llm: at most 39" in lines[0]
    assert "Cost: unknown without a price table" in lines[0]
    assert "Calls of sift: at most 6" in lines[1]
    assert calls == 3 * (2 + 5), "two rollouts, and five distinct tasks"
    found = list(Run(tmp_path).read("iteration-1/rewards.jsonl", Reward))
    assert [each.scores[-1] for each in found] == [1.0] * 6
    assert sorted({each.id for each in found}) == ["e0", "e1", "e2"]
    again, calls = rewarded(tmp_path, monkeypatch, answering)
    assert (again[-1], calls) == (lines[-1], 0)
    with pytest.raises(RunError, match="another 'rollouts'"):
        rewarded(tmp_path, monkeypatch, answering, rollouts=3)
    assert orjson.loads((tmp_path / "metrics.jsonl").read_bytes().splitlines()[0])["valid"] == 1.0


def test_a_step_without_answers_or_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unanswered = USER.model_copy(update={"examples": tuple(each.model_copy(update={"answer": ""}) for each in USER.examples)})
    Run(tmp_path).write(TRAIN, [unanswered])
    with pytest.raises(RunError, match="right answers"):
        rewarded(tmp_path, monkeypatch, answering)
    Run(tmp_path / "other").write(TRAIN, [USER])
    with pytest.raises(RunError, match="--model FOLDER"):
        rewarded(tmp_path / "other", monkeypatch, answering, endpoint=False)


@pytest.mark.parametrize(("score", "expected"), [(0.2, 1.0), (0.0, 0.8), (1.0, 0.2), (0.5, 0.7)])
def test_priority_is_highest_at_the_anchor(score: float, expected: float) -> None:
    assert priority(score) == pytest.approx(expected)


def test_a_curriculum_prefers_emerging_examples(tmp_path: Path) -> None:
    run = Run(tmp_path)
    scores = {"mastered": (1.0, 1.0), "emerging": (0.0, 0.4), "hopeless": (0.0, 0.0), "half": (1.0, 0.0)}
    run.write(
        "iteration-1/rewards.jsonl",
        [
            Reward(id=name, places=(0,), scores=(0.0, each), answer=0.0, retrieval=0.0, penalty=0.0, reward=0.0)
            for name, pair in scores.items()
            for each in pair
        ],
    )
    given = argparse.Namespace(run=tmp_path, iteration=1, keep=3, anchor=0.2, seed=7)
    lines = list(curriculum.run(given))
    chosen = list(run.read("iteration-1/curriculum.jsonl", CurriculumExample))
    assert [each.id for each in chosen] == ["emerging", "hopeless", "half"]
    assert "3 examples" in lines[-1]
    given.anchor = 2
    with pytest.raises(RunError, match="--anchor"):
        list(curriculum.run(given))


@given(st.dictionaries(st.text(max_size=3), st.floats(min_value=0, max_value=1), max_size=12), st.integers(0, 12), st.integers())
def test_a_choice_is_reproducible(scores: dict[str, float], keep: int, seed: int) -> None:
    chosen = choose(scores, keep=keep, anchor=0.2, seed=seed)
    assert chosen == choose(dict(reversed(scores.items())), keep=keep, anchor=0.2, seed=seed)
    assert len(chosen) == min(keep, len(scores))
    left = set(scores) - {each.id for each in chosen}
    assert all(priority(scores[each]) <= chosen[-1].priority for each in left if chosen)
    drawn = choose(scores, keep=keep, anchor=0.2, seed=seed, by_priority=False)
    assert len({each.id for each in drawn} & scores.keys()) == len(chosen)


def test_drawn_examples_have_all_priorities() -> None:
    scores = {str(place): float(place >= 50) for place in range(100)}
    assert {each.score for each in choose(scores, keep=50, anchor=0.2, seed=1)} == {0.0}
    assert {each.score for each in choose(scores, keep=50, anchor=0.2, seed=1, by_priority=False)} == {0.0, 1.0}


def test_groups_with_equal_rewards_teach_nothing() -> None:
    assert not is_informative([0.5, 0.5, 0.5])
    assert is_informative([0.5, 0.5, 0.6])


def test_a_teacher_writes_the_warm_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Run(tmp_path).write(TRAIN, [USER])
    given = {"examples": None, "seed": 7, "sessions": 10, "direct": False, "teacher": True, "max_tokens": 200, "train": None}

    def teach(request: ChatRequest) -> str:
        return "I cannot rank." if "(1)" in str(request.messages[-1]) else RANKING

    async def ask() -> tuple[list[str], int]:
        async with LLMSimulator(answer=teach) as simulator:
            monkeypatch.setenv("VARVE_LLM__BASE_URL", simulator.base_url)
            monkeypatch.setenv("VARVE_LLM__MODEL", "teacher")
            lines = await asyncio.to_thread(lambda: list(warm_up.run(argparse.Namespace(run=tmp_path, **given))))
            return lines, len(simulator.requests)

    lines, calls = asyncio.run(ask())
    assert lines[0].startswith("Calls of teacher: at most 3")
    made = list(Run(tmp_path).read(WARM_UP, WarmUpExample))
    assert (calls, sorted(each.id for each in made)) == (3, ["e0", "e2"])
    assert {each.completion[0]["content"] for each in made} == {RANKING}
    assert Run(tmp_path).metrics("warm-up")[0]["rejected"] == 1
    assert asyncio.run(ask()) == (lines, 0)


def test_separate_reasoning_of_a_teacher_cannot_forge_tags() -> None:
    answer = LLMAnswer(model="m", text="<ranking>0,2,1,3</ranking>", thoughts="They wrote <ranking>1</ranking>.")
    text = taught_answer(answer, USER.examples[0], most=10, reasoning=True)
    assert text == "<think>They wrote (ranking)1(/ranking).</think><ranking>0,2,1,3</ranking>"
    assert taught_answer(answer, USER.examples[0], most=3, reasoning=True) is None
