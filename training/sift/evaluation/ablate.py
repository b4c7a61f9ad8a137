"""``python -m training sift ablate``: trains and measures the proxy without one part each (MemSifter 4.4, table 3 and 4.5.2).

Each variant starts from the same model, curriculum and seed, in ``ablations/NAME``, and is merged and judged as the paper's training is.
The variant without averaging is the best checkpoint of the paper's training. The report is ``ablations.json``, ``.md`` and ``.svg``, and
compares the answer scores query by query. The variant without reasoning needs a warm-up model that ranks directly.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluation.intervals import mean_with_interval
from training.runs import Run
from training.sift.data.examples import TEST, TRAIN, Chosen, UserExamples
from training.sift.evaluation.evaluate import evaluate_proxy, judged_examples
from training.sift.evaluation.report import answer_scores, write_report
from training.sift.learning import optimise
from training.sift.learning.curriculum import ANCHOR, CURRICULUM, CurriculumExample, choose, scores_of
from training.sift.learning.merge import best_checkpoints
from training.sift.learning.optimise import (
    CHECKPOINTS,
    MERGED,
    checkpoint_scores,
    optimise_model,
    reward_options,
    training_cost,
    training_examples,
)
from training.sift.models.proxies import require_torch
from training.sift.rewards.reward import REWARDS, working_model
from training.sift.rewards.rewarding import Reward
from training.sift.rewards.working_llm import EndpointWorkingLLM, WorkingLLM

SUMMARY: Final = "trains the proxy without each part of the reward, and compares"
_BEST: Final = 3
_BATCH: Final = 32


@dataclass(frozen=True, slots=True)
class Variant:
    """A training with other arguments than the paper's."""

    name: str
    changed: dict[str, Any]
    has_curriculum: bool = True
    """False: the examples are drawn, and groups with equal rewards are kept."""


PAPER: Final = Variant("memsifter", {})
ABLATIONS: Final = (
    Variant("no-outcome", {"alpha": 0.0, "beta": 1.0, "anneal_epochs": 1e9}),
    Variant("no-marginal-utility", {"shaping": "absolute"}),
    Variant("no-rank-weights", {"shaping": "uniform"}),
    Variant("no-curriculum", {"refills": 0}, has_curriculum=False),
    Variant("direct", {"direct": True}),
)
"""The paper's: without task outcome, marginal utility, rank-sensitive weights, curriculum, and reasoning."""
NO_AVERAGING: Final = "no-averaging"
"""The best checkpoint of the paper's training."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    optimise.add_arguments(parser)
    parser.add_argument(
        "--direct-model", metavar="FOLDER", help="a warm-up model that ranks directly; default: no variant without reasoning"
    )
    parser.add_argument("--examples", type=int, default=None, metavar="N", help="only N test queries; default: all")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Trains and compares. Yields lines for the terminal.

    Raises:
        RunError: If a step before is missing, torch is missing, or the arguments differ from those with which this step began.
        EvaluationError: If no working LLM is configured.
        ModelError: If the working LLM does not answer. The step can be continued.
    """
    require_torch()
    root = Run(arguments.run)
    chosen = judged_examples(root, number=arguments.examples, seed=arguments.seed)
    model = working_model(root)
    try:
        trained_on, _ = training_examples(root, arguments)
        variants = [each for each in (PAPER, *ABLATIONS) if each.name != "direct" or arguments.direct_model]
        yield training_cost(trained_on, arguments, model=model.name, trainings=len(variants))
        working = EndpointWorkingLLM(model)
        for variant in variants:
            folder = prepared_folder(root, variant, arguments.iteration, seed=arguments.seed)
            given = argparse.Namespace(**{**vars(arguments), **variant.changed, "run": folder.folder})
            if variant.name == "direct":
                given.model = arguments.direct_model
            yield from train_and_judge(root, folder, variant.name, given, chosen, working, best=_BEST)
    finally:
        model.close()
    yield from write_report(root, "ablations")
    yield from compared(root, [*(each.name for each in variants[1:]), NO_AVERAGING])


def prepared_folder(root: Run, variant: Variant, iteration: int, *, seed: int) -> Run:
    """The run of a variant, with the sets and the curriculum of the run.

    Args:
        root: The run.
        variant: The variant.
        iteration: The iteration.
        seed: Seed of examples that are drawn instead of chosen.
    """
    run = Run(root.folder / "ablations" / variant.name)
    for each in (TRAIN, TEST):
        run.write(each, root.read(each, UserExamples))
    curriculum = f"iteration-{iteration}/{CURRICULUM}"
    chosen = list(root.read(curriculum, CurriculumExample))
    if not variant.has_curriculum:
        scores = scores_of(root.read(f"iteration-{iteration}/{REWARDS}", Reward))
        chosen = choose(scores, keep=len(chosen), anchor=ANCHOR, seed=seed, by_priority=False)
    run.write(curriculum, chosen)
    return run


def compared(root: Run, names: Sequence[str]) -> Iterator[str]:
    """Compares the answer scores of the paper's training with those of variants, query by query. Yields a line per variant.

    Args:
        root: The run with the results.
        names: The variants.
    """
    paper = answer_scores(root, PAPER.name)
    for name in names:
        other = answer_scores(root, name)
        value, (low, high) = mean_with_interval([paper[each] - other[each] for each in paper])
        meaning = "as in the paper" if low > 0 else "unlike the paper" if high < 0 else "no clear difference"
        root.record("ablate", variant=name, lost_score=value, interval=[low, high])
        yield f"{name}: the answer score is {value:.3f} lower [{low:.3f}, {high:.3f}]: {meaning}"


def train_and_judge(
    root: Run, run: Run, name: str, arguments: argparse.Namespace, chosen: Chosen, working: WorkingLLM, *, best: int
) -> Iterator[str]:
    """Trains a variant, averages its best checkpoints, and judges the result. Of the paper's training, also judges the best checkpoint.

    Args:
        root: The run with the results.
        run: The variant's run.
        name: The variant.
        arguments: As the step ``optimise`` takes them.
        chosen: The test queries.
        working: The working LLM.
        best: Number of checkpoints to average.
    """
    from training.sift.learning.averaging import write_mean
    from training.sift.models.local_model import LocalModel

    yield from optimise_model(run, arguments, working)
    iteration = run.folder / f"iteration-{arguments.iteration}"
    merged = iteration / MERGED
    if not merged.exists():
        write_mean([iteration / CHECKPOINTS / each for each in best_checkpoints(checkpoint_scores(run, arguments.iteration), best)], merged)
    yield from judge(root, name, merged, arguments, chosen, working, LocalModel)
    if name == PAPER.name:
        (single,) = best_checkpoints(checkpoint_scores(run, arguments.iteration), 1)
        yield from judge(root, NO_AVERAGING, iteration / CHECKPOINTS / single, arguments, chosen, working, LocalModel)


def judge(
    root: Run, name: str, model: Path, arguments: argparse.Namespace, chosen: Chosen, working: WorkingLLM, load: Any
) -> Iterator[str]:
    """Judges a model on the test queries.

    Args:
        root: The run with the results.
        name: The model's name in the report.
        model: The folder.
        arguments: As the step ``optimise`` takes them.
        chosen: The test queries.
        working: The working LLM.
        load: :class:`training.sift.models.local_model.LocalModel`.
    """
    local = load(str(model), batch=_BATCH, max_tokens=arguments.max_tokens, seed=arguments.seed)
    yield from evaluate_proxy(root, name, chosen, local, options=reward_options(arguments), working=working)
    local.close()
