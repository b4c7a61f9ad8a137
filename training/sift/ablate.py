"""``python -m training sift ablate``: trains and measures the proxy without one part each (MemSifter 4.4 and table 3).

Each variant starts from the same model, curriculum and seed, in ``ablations/NAME``, and is merged and judged as the paper's training is.
The report is ``ablations.json``, ``.md`` and ``.svg``. The variant without reasoning needs a warm-up model that ranks directly.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from runtime.settings import Settings
from training.runs import Run
from training.sift import optimise
from training.sift.curriculum import CURRICULUM, CurriculumExample
from training.sift.endpoints import EndpointModel, working_settings
from training.sift.evaluate import Chosen, evaluate_proxy, judged_examples, write_report
from training.sift.examples import TEST, TRAIN, UserExamples
from training.sift.merge import best_checkpoints
from training.sift.optimise import CHECKPOINTS, MERGED, checkpoint_scores, optimise_model, reward_options, training_examples
from training.sift.proxies import require_torch
from training.sift.reward import WORKING_ANSWERS, WORKING_TOKENS, working_cost
from training.sift.working_llm import EndpointWorkingLLM, WorkingLLM

SUMMARY: Final = "trains the proxy without each part of the reward, and compares"
_BEST: Final = 3
_BATCH: Final = 32


@dataclass(frozen=True, slots=True)
class Variant:
    """A training with other arguments than the paper's."""

    name: str
    changed: dict[str, Any]


PAPER: Final = Variant("memsifter", {})
ABLATIONS: Final = (
    Variant("no-outcome", {"alpha": 0.0, "beta": 1.0, "anneal_epochs": 1e9}),
    Variant("no-marginal-utility", {"shaping": "absolute"}),
    Variant("no-rank-weights", {"shaping": "uniform"}),
    Variant("direct", {"direct": True}),
)
"""The paper's: without task outcome, marginal utility, rank-sensitive weights, and reasoning."""


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
    working_model = EndpointModel(
        working_settings(Settings()), replies=root.folder / WORKING_ANSWERS, purpose="the working LLM", max_tokens=WORKING_TOKENS
    )
    try:
        trained_on, _ = training_examples(root, arguments)
        if arguments.steps is not None:
            trained_on = [trained_on[place % len(trained_on)] for place in range(arguments.steps * arguments.batch)]
        variants = [each for each in (PAPER, *ABLATIONS) if each.name != "direct" or arguments.direct_model]
        rollouts = arguments.rollouts * (1 + arguments.refills) * len(variants)
        yield (working_cost(trained_on, model=working_model.name, rollouts=rollouts) + " It includes all refills, and no cached answers.")
        working = EndpointWorkingLLM(working_model)
        for variant in variants:
            folder = prepared_folder(root, variant.name, arguments.iteration)
            given = argparse.Namespace(**{**vars(arguments), **variant.changed, "run": folder.folder})
            if variant.name == "direct":
                given.model = arguments.direct_model
            yield from train_and_judge(root, folder, variant.name, given, chosen, working, best=_BEST)
    finally:
        working_model.close()
    yield from write_report(root, "ablations")


def prepared_folder(root: Run, name: str, iteration: int) -> Run:
    """The run of a variant, with the sets and the curriculum of the run.

    Args:
        root: The run.
        name: The variant.
        iteration: The iteration.
    """
    run = Run(root.folder / "ablations" / name)
    for each in (TRAIN, TEST):
        run.write(each, root.read(each, UserExamples))
    curriculum = f"iteration-{iteration}/{CURRICULUM}"
    run.write(curriculum, root.read(curriculum, CurriculumExample))
    return run


def train_and_judge(
    root: Run, run: Run, name: str, arguments: argparse.Namespace, chosen: Chosen, working: WorkingLLM, *, best: int
) -> Iterator[str]:
    """Trains a variant, averages its best checkpoints, and judges the result.

    Args:
        root: The run with the results.
        run: The variant's run.
        name: The variant.
        arguments: As the step ``optimise`` takes them.
        chosen: The test queries.
        working: The working LLM.
        best: Number of checkpoints to average.
    """
    from training.sift.averaging import write_mean
    from training.sift.local_model import LocalModel

    yield from optimise_model(run, arguments, working)
    iteration = run.folder / f"iteration-{arguments.iteration}"
    merged = iteration / MERGED
    if not merged.exists():
        write_mean([iteration / CHECKPOINTS / each for each in best_checkpoints(checkpoint_scores(run, arguments.iteration), best)], merged)
    yield from judge(root, name, merged, arguments, chosen, working, LocalModel)


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
        load: :class:`training.sift.local_model.LocalModel`.
    """
    local = load(str(model), batch=_BATCH, max_tokens=arguments.max_tokens, seed=arguments.seed)
    yield from evaluate_proxy(root, name, chosen, local, options=reward_options(arguments), working=working)
    local.close()
