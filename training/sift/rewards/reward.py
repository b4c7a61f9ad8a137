"""``python -m training sift reward``: the proxy ranks, a working LLM answers from its rankings, and each ranking gets a reward.

Writes ``iteration-N/rewards.jsonl``: a line per rollout with its scores, R_ans and R_ret (MemSifter 3.3). The curriculum reads them.
The working LLM is that of ``VARVE_LLM__*``. Its answers are cached by the hash of their prompt in ``working-answers.jsonl``.
"""

import argparse
from collections.abc import Iterator
from typing import Any, Final

from evaluation.qa.calls import tokens_of
from memory.texts.text import estimate_tokens
from runtime.settings import Settings
from training.progress import track
from training.runs import Run, RunError
from training.sift.data.examples import TRAIN, Chosen, Example, UserExamples, drawn_examples
from training.sift.models.endpoints import EndpointModel, RankingModel, estimated_cost, working_settings
from training.sift.models.proxies import add_proxy_arguments, load_proxy
from training.sift.rewards.formulas import TIERS
from training.sift.rewards.rewarding import Reward, Rewarder, RewardOptions, Rollout
from training.sift.rewards.scoring import SCORINGS
from training.sift.rewards.working_llm import EndpointWorkingLLM, WorkingLLM

SUMMARY: Final = "ranks the train set with the proxy, and rewards each ranking by the answers of a working LLM"
REWARDS: Final = "rewards.jsonl"
WORKING_ANSWERS: Final = "working-answers.jsonl"
WORKING_TOKENS: Final = 64
"""Longest answer of the working LLM."""
_PART: Final = 50
"""Examples after which the step stores what it has."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    add_proxy_arguments(parser)
    parser.add_argument("--iteration", type=int, default=1, metavar="N", help="the training iteration; default: %(default)s")
    parser.add_argument("--examples", type=int, default=None, metavar="N", help="only N examples, drawn by the seed; default: all")
    parser.add_argument("--rollouts", type=int, default=1, metavar="N", help="rankings per example; default: %(default)s")
    parser.add_argument("--scoring", choices=SCORINGS, default="auto", help="score of an answer; default: %(default)s")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Computes the rewards. Yields lines for the terminal.

    Raises:
        RunError: If the step ``data`` is missing, or the arguments differ from those with which this step began.
        EvaluationError: If no working LLM is configured.
        ModelError: If an endpoint does not answer. The step can be continued.
    """
    folder = Run(arguments.run)
    step = f"iteration-{arguments.iteration}/reward"
    names = ("model", "endpoint", "sessions", "direct", "max_tokens", "seed", "examples", "rollouts", "scoring")
    folder.begin(step, {**{name: getattr(arguments, name) for name in names}, "train": folder.digest(TRAIN)})
    chosen = answered_examples(folder, number=arguments.examples, seed=arguments.seed)
    model = working_model(folder)
    options = RewardOptions(
        sessions=arguments.sessions, reasoning=not arguments.direct, scoring=arguments.scoring, max_tokens=arguments.max_tokens
    )
    yield working_cost(chosen, model=model.name, rollouts=arguments.rollouts)
    proxy = load_proxy(arguments, folder)
    if arguments.endpoint:
        yield proxy_cost(chosen, model=proxy.name, options=options, calls=arguments.rollouts)
    else:
        yield f"Rankings by {proxy.name}, in this process. Cost: 0."
    try:
        yield from reward_all(folder, step, chosen, proxy, EndpointWorkingLLM(model), options=options, rollouts=arguments.rollouts)
    finally:
        proxy.close()
        model.close()


def working_model(run: Run) -> EndpointModel:
    """The working LLM of ``VARVE_LLM__*``, with its answers cached in the run.

    Raises:
        EvaluationError: If none is configured.
    """
    return EndpointModel(
        working_settings(Settings()), replies=run.folder / WORKING_ANSWERS, purpose="the working LLM", max_tokens=WORKING_TOKENS
    )


def answered_examples(run: Run, *, number: int | None, seed: int) -> list[tuple[UserExamples, Example]]:
    """Examples of the training set with a right answer, in a drawn order.

    Args:
        run: The run.
        number: Most examples. None: all.
        seed: Seed of the order.

    Raises:
        RunError: If there is none.
    """
    found = drawn_examples(run, TRAIN, lambda each: bool(each.answer), seed=seed)
    if not found:
        raise RunError(f"{run.folder / TRAIN} has no example with an answer: the reward needs right answers")
    return found[:number]


def reward_all(
    run: Run,
    step: str,
    chosen: Chosen,
    proxy: RankingModel,
    working: WorkingLLM,
    *,
    options: RewardOptions,
    rollouts: int,
) -> Iterator[str]:
    """Rewards rollouts of examples in parts that are stored, and writes all of them.

    Args:
        run: The run.
        step: The step; its folder is that of the results.
        chosen: The examples.
        proxy: Ranks.
        working: Answers.
        options: The reward's form.
        rollouts: Rankings per example.
    """
    folder = step.rpartition("/")[0]
    rewarder = Rewarder(working, options)
    parts = [f"{folder}/rewards/{start:06}.jsonl" for start in range(0, len(chosen), _PART)]
    for number, part in enumerate(track(parts, "Rewards")):
        if run.has(part):
            continue
        examples = chosen[number * _PART : (number + 1) * _PART]
        prompts = [options.prompt(*each) for each in examples]
        answers = proxy.answer_all(prompts, samples=rollouts)
        given = [Rollout.of(*each, answer) for each, of_example in zip(examples, answers, strict=True) for answer in of_example]
        rewards = rewarder.rewards(given)
        run.write(part, rewards)
        run.record(step, part=part, **summary(rewards))
    rewards = [each for part in parts for each in run.read(part, Reward)]
    run.write(f"{folder}/{REWARDS}", rewards)
    figures = summary(rewards)
    run.record(step, **figures)
    yield f"{run.folder / folder / REWARDS}: {', '.join(f'{name}: {value}' for name, value in figures.items())}"


def summary(rewards: list[Reward]) -> dict[str, Any]:
    """Means of rewards."""
    number = len(rewards)
    return {
        "rollouts": number,
        "valid": round(sum(bool(each.places) for each in rewards) / number, 4),
        "mean_score": round(sum(each.score for each in rewards) / number, 4),
        "mean_answer_reward": round(sum(each.answer for each in rewards) / number, 4),
        "mean_reward": round(sum(each.reward for each in rewards) / number, 4),
    }


def working_cost(chosen: Chosen, *, model: str, rollouts: int) -> str:
    """The cost of the working LLM, without cached answers: 7 calls per rollout, one of them shared by an example's rollouts.

    Args:
        chosen: The examples.
        model: The model.
        rollouts: Rollouts per example.
    """
    calls = len(chosen) * (1 + rollouts * (len(TIERS) - 1))
    sessions = sum(
        sum(each.tokens for each in user.sessions) / max(len(user.sessions), 1) * min(tier, len(example.sessions))
        for user, example in chosen
        for tier in TIERS
    )
    queries = sum(estimate_tokens(example.query) + 120 for _, example in chosen) * (1 + rollouts * (len(TIERS) - 1))
    tokens = round(sessions * rollouts) + queries
    return estimated_cost(Settings(), model=model, calls=calls, prompt_tokens=tokens, completion_tokens=calls * WORKING_TOKENS)


def proxy_cost(chosen: Chosen, *, model: str, options: RewardOptions, calls: int) -> str:
    """The cost of rankings by an endpoint.

    Args:
        chosen: The examples.
        model: The model.
        options: The form of the prompts.
        calls: Calls per example.
    """
    tokens = sum(tokens_of(options.prompt(*each)) for each in chosen)
    number = len(chosen) * calls
    return estimated_cost(
        Settings(), model=model, calls=number, prompt_tokens=tokens * calls, completion_tokens=number * options.max_tokens
    )
