"""``python -m training sift smoke``: trains a small model from random weights on the generated task, with each ablation, and reports.

Every part is the kit's own: the files, the prompt, the parser, warm-up, reward, curriculum, GRPO, merging and evaluation. Only the
teacher and the working LLM are scripts. The teacher is right in two of five answers; in the others it finds the session that the query
names, and adds the most recent one. The warm-up teaches the form and how to look a word up; the reinforcement learning, when to look up
a second one. The warm-up, the reinforcement learning and the test set have other histories, drawn from the same few words: a model can
only rank by reading them.

The goal is not shown to be reached yet: a prototype of the warm-up learned the look-ups, and the whole experiment was not run.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from random import Random
from typing import Final

import orjson

from training.runs import Run, RunError
from training.sift import optimise
from training.sift.ablate import ABLATIONS, PAPER, Variant, judge, train_and_judge
from training.sift.curriculum import CURRICULUM, choose, scores_of
from training.sift.evaluate import evaluate_baseline, judged_examples, write_report
from training.sift.examples import TEST, TRAIN, WARM_UP, Example, UserExamples
from training.sift.optimise import reward_options
from training.sift.proxies import require_torch
from training.sift.reward import REWARDS, answered_examples, reward_all
from training.sift.rewarding import Reward
from training.sift.smoke.task import LENGTHS, RANKED, SESSIONS, ScriptedLLM, teacher_answer, users_of
from training.sift.warm_up import MODEL, WarmUpExample, train_on_examples

SUMMARY: Final = "tests whether training works: a small model, trained from random weights on a generated task"
MIN_NDCG: Final = 0.8
_RIGHT: Final = 0.4
"""Share of the teacher's answers that are right."""
_MAX_TOKENS: Final = 40
_BEST: Final = 2
"""Checkpoints that are averaged."""
_QUERIES: Final = 3
"""Queries of a test user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of the experiment."""

    width: int
    layers: int
    taught: int
    """Users of the warm-up. Each query occurs once, so that the model learns to look words up, and no answers by heart."""
    warm_up_batch: int
    warm_up_rate: float
    users: int
    """Users of the reinforcement learning."""
    updates: int
    """Updates of the reinforcement learning."""
    batch: int
    """Prompts per update."""
    rate: float
    queries: int
    """Test queries."""


SIZES: Final = {
    "full": Size(
        width=128, layers=4, taught=20000, warm_up_batch=64, warm_up_rate=2e-3, users=600, updates=40, batch=8, rate=3e-4, queries=150
    ),
    "small": Size(
        width=128, layers=2, taught=20000, warm_up_batch=64, warm_up_rate=3e-3, users=600, updates=40, batch=8, rate=5e-4, queries=90
    ),
    "tiny": Size(width=32, layers=2, taught=48, warm_up_batch=16, warm_up_rate=1e-3, users=24, updates=2, batch=2, rate=1e-4, queries=9),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    parser.add_argument("--size", choices=sorted(SIZES), default="full", help="size of the experiment; default: %(default)s")
    parser.add_argument("--no-ablations", action="store_true", help="only the paper's training")
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16; faster on processors with AVX512_BF16")
    parser.add_argument("--seed", type=int, default=7, help="default: %(default)s")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Runs the experiment; an interrupted one continues. Yields lines for the terminal.

    Raises:
        RunError: If torch is missing, the arguments differ from those with which it began, or the trained model ranks too badly.
    """
    require_torch()
    yield "Model calls: 0. Cost: 0."
    size, started = SIZES[arguments.size], time.monotonic()
    folder = Run(arguments.run)
    folder.begin("smoke", {**asdict(size), "seed": arguments.seed, "bf16": arguments.bf16})
    for variant in (PAPER, *(() if arguments.no_ablations else ABLATIONS)):
        yield from trained(folder, variant, size, seed=arguments.seed, bf16=arguments.bf16)
    chosen = judged_examples(folder, number=size.queries, seed=arguments.seed)
    yield from evaluate_baseline(folder, "bm25", chosen, sessions=RANKED, working=ScriptedLLM())
    yield from write_report(folder, "smoke")
    figures = orjson.loads((folder.folder / "smoke.json").read_bytes())
    seconds = round(time.monotonic() - started, 1)
    folder.record("smoke", seconds=seconds, **{name: each["ndcg_at_5"] for name, each in figures.items()})
    yield f"{seconds:.0f} s"
    for variant in ABLATIONS:
        if variant.name in figures:
            loss = figures[PAPER.name]["answer_score"] - figures[variant.name]["answer_score"]
            yield f"{variant.name}: the answer score is {abs(loss):.3f} {'lower' if loss > 0 else 'higher' if loss < 0 else '(equal)'}"
    reached = figures[PAPER.name]["ndcg_at_5"]
    if reached < MIN_NDCG:
        raise RunError(f"the trained model has NDCG@5 {reached:.3f}, and {MIN_NDCG} was expected")


def trained(root: Run, variant: Variant, size: Size, *, seed: int, bf16: bool) -> Iterator[str]:
    """Trains a variant in a folder of its own, and judges its models on the test set of the experiment.

    Args:
        root: The experiment's folder.
        variant: The variant.
        size: The size.
        seed: Seed of data, weights and order.
        bf16: Whether to compute in bfloat16.
    """
    from training.sift.local_model import LocalModel

    direct = bool(variant.changed.get("direct", False))
    warm = Run(root.folder / ("direct" if direct else PAPER.name))
    run = Run(root.folder / variant.name)
    _write_sets(root, run, size, seed=seed)
    given = optimise_arguments(run, warm, variant, size, seed=seed, bf16=bf16)
    options = reward_options(given)
    chosen = judged_examples(root, number=size.queries, seed=seed)
    working = ScriptedLLM()
    if run.folder == warm.folder:
        yield from _warm_up(warm, size, seed=seed, bf16=bf16, reasoning=not direct)
        if not direct:
            yield from judge(root, "untrained", warm.folder / "base", given, chosen, working, LocalModel)
        yield from judge(root, f"warm-up{'-direct' if direct else ''}", warm.folder / MODEL, given, chosen, working, LocalModel)
    if not run.has(f"iteration-1/{REWARDS}"):
        proxy = LocalModel(str(warm.folder / MODEL), batch=32, max_tokens=_MAX_TOKENS, seed=seed)
        candidates = answered_examples(run, number=size.updates * size.batch * 2, seed=seed)
        yield from reward_all(run, "iteration-1/reward", candidates, proxy, working, options=options, rollouts=2)
        proxy.close()
    if not run.has(f"iteration-1/{CURRICULUM}"):
        scores = scores_of(run.read(f"iteration-1/{REWARDS}", Reward))
        run.write(f"iteration-1/{CURRICULUM}", choose(scores, keep=size.updates * size.batch, anchor=0.2, seed=seed))
    yield from train_and_judge(root, run, variant.name, given, chosen, working, best=_BEST)


def _write_sets(root: Run, run: Run, size: Size, *, seed: int) -> None:
    """Writes the sets of the experiment to its folder and to that of a variant."""
    for name, number in ((TRAIN, size.users), (TEST, size.queries // _QUERIES)):
        if not root.has(name):
            lengths = LENGTHS if name == TRAIN else (SESSIONS,)
            root.write(name, users_of(number, seed=seed, source=name.partition(".")[0], lengths=lengths))
        if not run.has(name):
            run.write(name, root.read(name, UserExamples))


def _warm_up(run: Run, size: Size, *, seed: int, bf16: bool, reasoning: bool) -> Iterator[str]:
    from training.sift.smoke.model import write_small_model

    base = run.folder / "base"
    if not base.exists():
        parameters = write_small_model(base, seed=seed, width=size.width, layers=size.layers)
        run.record("smoke", parameters=parameters)
        yield f"A model with {parameters:,} parameters and random weights"
    if not run.has(WARM_UP):
        random = Random(seed)
        users = users_of(size.taught, seed=seed, source="taught")
        run.write(WARM_UP, [_taught(user, each, random, reasoning=reasoning) for user in users for each in user.examples])
    config = {
        "batch": size.warm_up_batch,
        "micro_batch": size.warm_up_batch,
        "epochs": 1.0,
        "learning_rate": size.warm_up_rate,
        "save_every": 200,
        "lora": False,
        "bf16": bf16,
        "seed": seed,
    }
    yield from train_on_examples(run, str(base), config)


def _taught(user: UserExamples, example: Example, random: Random, *, reasoning: bool) -> WarmUpExample:
    answer = teacher_answer(user, example, is_right=random.random() < _RIGHT, reasoning=reasoning)
    prompt = user.prompt(example, most=RANKED, reasoning=reasoning)
    return WarmUpExample(
        id=example.id,
        prompt=tuple({"role": each.role, "content": each.content} for each in prompt),
        completion=({"role": "assistant", "content": answer},),
    )


def optimise_arguments(run: Run, warm: Run, variant: Variant, size: Size, *, seed: int, bf16: bool) -> argparse.Namespace:
    """The arguments of the step ``optimise`` for a variant.

    Args:
        run: The variant's run.
        warm: The run with the warm-up model.
        variant: The variant.
        size: The size.
        seed: Seed of the updates.
        bf16: Whether to compute in bfloat16.
    """
    parser = argparse.ArgumentParser()
    optimise.add_arguments(parser)
    given = parser.parse_args([])
    changed = {
        "run": run.folder,
        "model": str(warm.folder / MODEL),
        "batch": size.batch,
        "micro_batch": size.batch * 6,
        "steps": size.updates,
        "learning_rate": size.rate,
        "save_every": max(size.updates // 4, 1),
        "bf16": bf16,
        "seed": seed,
        "sessions": RANKED,
        "scoring": "exact",
        "beta": 0.0,
        "max_tokens": _MAX_TOKENS,
        "overlong_buffer": _MAX_TOKENS // 4,
        "validation": 64,
        **variant.changed,
    }
    return argparse.Namespace(**{**vars(given), **changed})
