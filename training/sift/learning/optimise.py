"""``python -m training sift optimise``: reinforcement learning of the proxy by GRPO on the iteration's curriculum (MemSifter 3.4).

Defaults: 32 prompts and 6 rollouts each, as in the paper (appendix A). It names neither clipping, KL term nor learning rate: those are
DAPO's (0.2 and 0.28, none, 1e-6). The loop is TRL's, with the dynamic sampling of DAPO. Checkpoints are in ``iteration-N/checkpoints``; an
interrupted step continues from the last one. Afterwards each checkpoint is validated on users of the train set that no update has seen; the
step ``merge`` uses that. Ablations of section 4.4: ``--alpha 0`` (no task outcome), ``--shaping absolute`` (no baseline), ``--shaping
uniform`` (no rank weights), ``--direct`` (no reasoning).
"""

import argparse
from collections.abc import Iterator
from statistics import fmean
from typing import Any, Final, get_args

from training.plots import write_curves
from training.runs import Run, RunError
from training.sift.data.examples import TRAIN, Chosen, split_users
from training.sift.learning.curriculum import CURRICULUM, CurriculumExample
from training.sift.models.endpoints import RankingModel
from training.sift.models.proxies import require_torch
from training.sift.rewards.formulas import Shaping
from training.sift.rewards.measures import measures_of
from training.sift.rewards.reward import answered_examples, working_cost, working_model
from training.sift.rewards.rewarding import Rewarder, RewardOptions, Rollout
from training.sift.rewards.scoring import SCORINGS
from training.sift.rewards.working_llm import EndpointWorkingLLM, WorkingLLM

SUMMARY: Final = "trains the proxy by GRPO with the reward of the working LLM"
CHECKPOINTS: Final = "checkpoints"
MERGED: Final = "merged"
_CONFIG: Final = (
    "batch",
    "rollouts",
    "micro_batch",
    "steps",
    "epochs",
    "learning_rate",
    "epsilon",
    "epsilon_high",
    "refills",
    "save_every",
    "lora",
    "bf16",
    "seed",
)
_REWARD: Final = ("sessions", "scoring", "shaping", "alpha", "beta", "anneal_epochs", "max_tokens", "overlong_buffer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    parser.add_argument("--iteration", type=int, default=1, metavar="N", help="the training iteration; default: %(default)s")
    parser.add_argument("--model", metavar="FOLDER", help="the model to train; default: the merged model of the iteration before")
    parser.add_argument("--batch", type=int, default=32, help="prompts per update; default: %(default)s")
    parser.add_argument("--rollouts", type=int, default=6, help="answers per prompt; default: %(default)s")
    parser.add_argument("--micro-batch", type=int, default=6, help="answers at once in the update; default: %(default)s")
    parser.add_argument("--steps", type=int, default=None, help="number of updates; default: as many as the epochs take")
    parser.add_argument("--epochs", type=float, default=1.0, help="passes through the curriculum; default: %(default)s")
    parser.add_argument("--learning-rate", type=float, default=1e-6, help="default: %(default)s")
    parser.add_argument("--epsilon", type=float, default=0.2, help="lower clipping; default: %(default)s")
    parser.add_argument("--epsilon-high", type=float, default=0.28, help="upper clipping; default: %(default)s")
    parser.add_argument("--refills", type=int, default=2, help="most refills of groups with equal rewards; 0: none; default: %(default)s")
    parser.add_argument("--save-every", type=int, default=10, metavar="N", help="updates between checkpoints; default: %(default)s")
    parser.add_argument("--lora", action="store_true", help="train a LoRA adapter of rank 16 instead of all weights")
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16")
    parser.add_argument("--validation", type=int, default=64, metavar="N", help="most validation queries; default: %(default)s")
    parser.add_argument("--seed", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--direct", action="store_true", help="rank without reasoning, the paper's ablation")
    parser.add_argument(
        "--sessions", type=int, default=10, choices=range(1, 16), metavar="K", help="sessions to rank; default: %(default)s"
    )
    parser.add_argument("--scoring", choices=SCORINGS, default="auto", help="score of an answer; default: %(default)s")
    parser.add_argument("--shaping", choices=get_args(Shaping), default="paper", help="form of R_ans; default: %(default)s")
    parser.add_argument("--alpha", type=float, default=1.0, help="weight of R_ans; 0: the working LLM is not asked; default: %(default)s")
    parser.add_argument("--beta", type=float, default=0.5, help="weight of R_ret in the first epoch; default: %(default)s")
    parser.add_argument("--anneal-epochs", type=float, default=1.0, help="epochs in which beta falls to 0; default: %(default)s")
    parser.add_argument("--max-tokens", type=int, default=1024, help="longest answer; default: %(default)s")
    parser.add_argument("--overlong-buffer", type=int, default=256, help="last tokens with a penalty; default: %(default)s")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Trains. Yields lines for the terminal.

    Raises:
        RunError: If a step before is missing, torch is missing, or the arguments differ from those with which this step began.
        EvaluationError: If no working LLM is configured.
        ModelError: If the working LLM does not answer. The step can be continued.
    """
    require_torch()
    folder = Run(arguments.run)
    options = reward_options(arguments)
    if options.alpha == 0:
        yield "Model calls: 0. Cost: 0."
        yield from optimise_model(folder, arguments, None)
        return
    model = working_model(folder)
    try:
        chosen, _ = training_examples(folder, arguments)
        yield training_cost(chosen, arguments, model=model.name)
        yield from optimise_model(folder, arguments, EndpointWorkingLLM(model))
    finally:
        model.close()


def training_cost(chosen: Chosen, arguments: argparse.Namespace, *, model: str, trainings: int = 1) -> str:
    """The most that the working LLM can cost, as :func:`training.sift.rewards.reward.working_cost` says it.

    Args:
        chosen: The examples to train on.
        arguments: As :func:`add_arguments` defines them.
        model: The working LLM.
        trainings: Number of trainings with these examples.
    """
    if arguments.steps is not None:
        chosen = [chosen[place % len(chosen)] for place in range(arguments.steps * arguments.batch)]
    rollouts = arguments.rollouts * (1 + arguments.refills) * trainings
    return working_cost(chosen, model=model, rollouts=rollouts) + " It includes all refills, and no cached answers."


def optimise_model(run: Run, arguments: argparse.Namespace, working: WorkingLLM | None) -> Iterator[str]:
    """Trains with a working LLM, and validates the checkpoints. Continues an interrupted training.

    Args:
        run: The run.
        arguments: As :func:`add_arguments` defines them.
        working: The working LLM. None: only if ``alpha`` is 0.
    """
    from training.sift.learning.grpo import optimise

    iteration = f"iteration-{arguments.iteration}"
    step = f"{iteration}/optimise"
    options = reward_options(arguments)
    chosen, validation = training_examples(run, arguments)
    config = {name: getattr(arguments, name) for name in _CONFIG}
    if arguments.batch * arguments.rollouts % arguments.micro_batch or arguments.rollouts < 2:
        raise RunError("--rollouts must be at least 2, and --batch times --rollouts must be a multiple of --micro-batch")
    model = arguments.model or str(run.folder / f"iteration-{arguments.iteration - 1}" / MERGED)
    begun = {**config, **options.model_dump(), "model": model, "curriculum": run.digest(f"{iteration}/{CURRICULUM}")}
    run.begin(step, {**begun, "validation": arguments.validation})
    checkpoints = run.folder / iteration / CHECKPOINTS
    rewarder = Rewarder(working, options)
    if not any("refilled_groups" in each for each in run.metrics(step)):
        optimise(
            model,
            chosen,
            rewarder,
            options=options,
            folder=checkpoints,
            config=config,
            record=lambda **metrics: run.record(step, **metrics),
        )
    known = {each["checkpoint"] for each in run.metrics(step) if "checkpoint" in each}
    for path in sorted(checkpoints.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2])):
        if path.name not in known:
            from training.sift.models.local_model import LocalModel

            local = LocalModel(str(path), batch=32, max_tokens=options.max_tokens, seed=arguments.seed)
            figures = validated(local, validation, rewarder, options)
            local.close()
            run.record(step, checkpoint=path.name, trained=int(path.name.rpartition("-")[2]), **figures)
            yield f"{path.name}: " + ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
    write_curves(run, f"{iteration}/optimise.svg", title="Training", x="update", names=("reward", "score", "valid"), step=step)
    write_curves(run, f"{iteration}/validation.svg", title="Validation", x="trained", names=("validation", "ndcg_at_5"), step=step)


def reward_options(arguments: argparse.Namespace) -> RewardOptions:
    """The form of the reward."""
    return RewardOptions(reasoning=not arguments.direct, **{name: getattr(arguments, name) for name in _REWARD})


def training_examples(run: Run, arguments: argparse.Namespace) -> tuple[Chosen, Chosen]:
    """The examples of the curriculum, and those for validation. They have no user in common.

    Args:
        run: The run.
        arguments: ``iteration``, ``seed`` and ``validation``.

    Raises:
        RunError: If nothing is left to train on.
    """
    answered = answered_examples(run, number=None, seed=arguments.seed)
    users = {user.user for user, _ in answered}
    _, held_out = split_users(users, test_share=0.1, seed=arguments.seed)
    by_id = {example.id: (user, example) for user, example in answered if user.user not in held_out}
    curriculum = run.read(f"iteration-{arguments.iteration}/{CURRICULUM}", CurriculumExample)
    chosen = [by_id[each.id] for each in curriculum if each.id in by_id]
    if not chosen:
        raise RunError(f"the curriculum has no example of {TRAIN} that is not kept for validation")
    return chosen, [each for each in answered if each[0].user in held_out][: arguments.validation]


def validated(model: RankingModel, chosen: Chosen, rewarder: Rewarder, options: RewardOptions) -> dict[str, float]:
    """The mean validation score of a model, and its NDCG@5.

    The score is R_ans, which needs no labels, or without a working LLM NDCG@5.

    Args:
        model: The model.
        chosen: The validation examples.
        rewarder: Rewards its answers.
        options: The form of prompts and answers.
    """
    if not chosen:
        return {"validation": 0.0, "ndcg_at_5": 0.0}
    prompts = [options.prompt(*each) for each in chosen]
    rollouts = [Rollout.of(*each, found[0]) for each, found in zip(chosen, model.answer_all(prompts), strict=True)]
    rewards = rewarder.rewards(rollouts)
    gains = [
        measures_of(each.places, rollout.example.gold)["ndcg_at_5"]
        for each, rollout in zip(rewards, rollouts, strict=True)
        if rollout.example.gold
    ]
    ndcg = fmean(gains) if gains else 0.0
    return {"validation": fmean(each.answer for each in rewards) if options.alpha > 0 else ndcg, "ndcg_at_5": ndcg}


def checkpoint_scores(run: Run, iteration: int) -> dict[str, float]:
    """The validation score of each checkpoint of an iteration."""
    lines: list[dict[str, Any]] = run.metrics(f"iteration-{iteration}/optimise")
    return {each["checkpoint"]: each["validation"] for each in lines if "checkpoint" in each}
