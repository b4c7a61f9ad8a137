"""``python -m training sift smoke``: trains a small model from random weights on the generated task, with each ablation, and reports.

Every part is the kit's own: the files, the prompt, the parser, warm-up, reward, curriculum, GRPO, merging and evaluation. Only the
teacher and the working LLM are scripts. A proxy is normally a pretrained model, so the small model first learns to look words up in
histories, without queries or rankings. Then the teacher of the warm-up is right in two of five answers; in the others it looks up only
the words of the query. The reinforcement learning has to find out from the working LLM's answers which look-ups help. The relevant
sessions of the train set are annotated as badly as the teacher ranks; only the ablation without outcome reward reads them.
Each set has other histories, drawn from the same few words: a model can only rank by reading them.
"""

import argparse
import resource
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any, Final

import orjson

from training.runs import Run, RunError
from training.sift.data.examples import TEST, TRAIN, WARM_UP, Example, UserExamples, WarmUpExample
from training.sift.evaluation.ablate import ABLATIONS, NO_AVERAGING, PAPER, Variant, compared, judge, train_and_judge
from training.sift.evaluation.evaluate import evaluate_baselines, judged_examples
from training.sift.evaluation.report import write_report
from training.sift.learning import optimise
from training.sift.learning.curriculum import ANCHOR, CURRICULUM, choose, scores_of
from training.sift.learning.optimise import reward_options
from training.sift.learning.warm_up import MODEL, train_on_examples
from training.sift.models.proxies import require_torch
from training.sift.rewards.reward import REWARDS, answered_examples, reward_all
from training.sift.rewards.rewarding import Reward
from training.sift.smoke.sizes import PRETRAINED, SIZES, Size
from training.sift.smoke.task import RANKED, SESSIONS, ScriptedLLM, look_ups, teacher_answer, users_of

SUMMARY: Final = "tests whether training works: a small model, trained from random weights on a generated task"
MIN_NDCG: Final = 0.8
_ANNOTATED: Final = Variant("right-annotations", ABLATIONS[0].changed)
"""Like the variant without outcome reward, but with correct annotations only."""
_VARIANTS: Final = (*ABLATIONS, _ANNOTATED)
CHANCE: Final = RANKED / SESSIONS
"""NDCG at any cut of 2 or more, of a ranking by chance in the test set: each place has a relevant session with this probability."""
_RIGHT: Final = 0.4
"""Share of the teacher's answers, and of the annotations of the train set, that are right."""
_LOOKED_UP: Final = 48
"""Words and numbers of the look-ups in a history. Many of them in each example are what makes looking up emerge soon."""
_MAX_TOKENS: Final = 40
_ROLLOUTS: Final = 6
_BEST: Final = 2
"""Checkpoints that are averaged."""
_READING: Final = "reading"
_QUERIES: Final = 3
"""Queries of a test user."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    parser.add_argument("--size", choices=sorted(SIZES), default="full", help="size of the experiment; default: %(default)s")
    parser.add_argument("--base", metavar="FOLDER", help=f"the model to begin with, for --size {PRETRAINED}")
    parser.add_argument("--no-ablations", action="store_true", help="only the paper's training")
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16; faster on processors with AVX512_BF16")
    parser.add_argument("--seed", type=int, default=7, help="default: %(default)s")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Runs the experiment; an interrupted one continues. Yields lines for the terminal.

    Raises:
        RunError: If torch is missing, the arguments differ from those with which it began, or the trained model ranks too badly.
    """
    require_torch()
    yield f"Model calls: 0. Cost: 0. NDCG@5 by chance: {CHANCE:.2f}"
    size, started = SIZES[arguments.size], time.monotonic()
    if (arguments.base is not None) != (arguments.size == PRETRAINED):
        raise RunError(f"--base FOLDER and --size {PRETRAINED} need each other")
    folder = Run(arguments.run)
    folder.begin("smoke", {**asdict(size), "seed": arguments.seed, "bf16": arguments.bf16, "base": arguments.base})
    for variant in (PAPER, *(() if arguments.no_ablations else _VARIANTS)):
        yield from _timed(
            folder, variant.name, trained(folder, variant, size, seed=arguments.seed, bf16=arguments.bf16, base=arguments.base)
        )
    chosen = judged_examples(folder, number=size.queries, seed=arguments.seed)
    yield from evaluate_baselines(folder, ["bm25"], chosen, sessions=RANKED, working=ScriptedLLM())
    yield from write_report(folder, "smoke")
    figures = orjson.loads((folder.folder / "smoke.json").read_bytes())
    seconds = round(time.monotonic() - started, 1)
    folder.record("smoke", seconds=seconds, **{name: each["ndcg_at_5"] for name, each in figures.items()})
    yield f"{seconds:.0f} s"
    yield from compared(folder, [each for each in (*(variant.name for variant in _VARIANTS), NO_AVERAGING) if each in figures])
    reached = figures[PAPER.name]["ndcg_at_5"]
    if reached < MIN_NDCG and arguments.base is None:
        raise RunError(f"the trained model has NDCG@5 {reached:.3f}, and {MIN_NDCG} was expected")
    yield f"passed: the trained model has NDCG@5 {reached:.3f} (by chance {CHANCE:.2f}); the report is {folder.folder / 'smoke.md'}"


def trained(root: Run, variant: Variant, size: Size, *, seed: int, bf16: bool, base: str | None) -> Iterator[str]:
    """Trains a variant in its own folder, and judges its models on the test set of the experiment.

    Args:
        root: The experiment's folder.
        variant: The variant.
        size: The size.
        seed: Seed of data, weights and order.
        bf16: Whether to compute in bfloat16.
        base: A pretrained model to begin with. None: random weights.
    """
    from training.sift.models.local_model import LocalModel

    direct = bool(variant.changed.get("direct", False))
    warm = Run(root.folder / ("direct" if direct else PAPER.name))
    run = Run(root.folder / variant.name)
    _write_sets(root, run, size, seed=seed, right=1.0 if variant is _ANNOTATED else _RIGHT)
    given = optimise_arguments(run, warm, variant, size, seed=seed, bf16=bf16)
    options = reward_options(given)
    chosen = judged_examples(root, number=size.queries, seed=seed)
    working = ScriptedLLM()
    if run.folder == warm.folder:
        untrained = Path(base) if base else root.folder / _READING / "base"
        reading = Path(base) if base else root.folder / _READING / MODEL
        if base is None:
            yield from _timed(root, _READING, _learned_to_read(root, size, seed=seed, bf16=bf16))
        if not direct:
            yield from judge(root, "untrained", untrained, given, chosen, working, LocalModel)
            if reading != untrained:
                yield from judge(root, _READING, reading, given, chosen, working, LocalModel)
        name = f"warm-up{'-direct' if direct else ''}"
        yield from _timed(root, name, _warm_up(str(reading), warm, size, seed=seed, bf16=bf16, reasoning=not direct))
        yield from judge(root, name, warm.folder / MODEL, given, chosen, working, LocalModel)
    if not run.has(f"iteration-1/{REWARDS}"):
        proxy = LocalModel(str(warm.folder / MODEL), batch=32, max_tokens=_MAX_TOKENS, seed=seed)
        candidates = answered_examples(run, number=size.updates * size.batch * 2, seed=seed)
        yield from reward_all(run, "iteration-1/reward", candidates, proxy, working, options=options, rollouts=2)
        proxy.close()
    if not run.has(f"iteration-1/{CURRICULUM}"):
        scores = scores_of(run.read(f"iteration-1/{REWARDS}", Reward))
        keep = size.updates * size.batch
        run.write(f"iteration-1/{CURRICULUM}", choose(scores, keep=keep, anchor=ANCHOR, seed=seed, by_priority=variant.has_curriculum))
    yield from train_and_judge(root, run, variant.name, given, chosen, working, best=_BEST)


def _timed(root: Run, part: str, lines: Iterator[str]) -> Iterator[str]:
    """Records how long a part takes, with the parts in it, and the most memory that the process has had so far."""
    passed, computed = time.monotonic(), time.process_time()
    yield from lines
    root.record(
        "smoke",
        part=part,
        seconds=round(time.monotonic() - passed, 1),
        processor_seconds=round(time.process_time() - computed, 1),
        peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    )


def _write_sets(root: Run, run: Run, size: Size, *, seed: int, right: float) -> None:
    """Writes the sets of the experiment to its folder and to that of a variant, which has its own annotations of the train set."""
    if not root.has(TEST):
        root.write(TEST, users_of(size.queries // _QUERIES, seed=seed, source="test", lengths=(SESSIONS,)))
    if not run.has(TRAIN):
        run.write(TRAIN, users_of(size.users, seed=seed, source="train", right=right))
        run.write(TEST, root.read(TEST, UserExamples))


def _learned_to_read(root: Run, size: Size, *, seed: int, bf16: bool) -> Iterator[str]:
    """Writes a model with random weights, and teaches it to look words up in histories."""
    from training.sift.smoke.model import write_small_model

    run = Run(root.folder / _READING)
    base = run.folder / "base"
    if not base.exists():
        parameters = write_small_model(base, seed=seed, width=size.width, layers=size.layers)
        run.record("smoke", parameters=parameters)
        yield f"A model with {parameters:,} parameters and random weights"
    if not run.has(WARM_UP):
        random = Random(seed)
        run.write(WARM_UP, [_read(user, random) for user in users_of(size.read, seed=seed, source="read")])
    yield from train_on_examples(run, str(base), _supervised(size, seed=seed, bf16=bf16))


def _warm_up(model: str, run: Run, size: Size, *, seed: int, bf16: bool, reasoning: bool) -> Iterator[str]:
    if not run.has(WARM_UP):
        random = Random(seed)
        users = users_of(size.taught, seed=seed, source="taught")
        run.write(WARM_UP, [_taught(user, each, random, reasoning=reasoning) for user in users for each in user.examples])
    yield from train_on_examples(run, model, _supervised(size, seed=seed, bf16=bf16))


def _supervised(size: Size, *, seed: int, bf16: bool) -> dict[str, Any]:
    return {
        "batch": size.supervised_batch,
        "micro_batch": min(size.supervised_batch, size.at_once),
        "epochs": 1.0,
        "learning_rate": size.supervised_rate,
        "save_every": size.supervised_save_every,
        "lora": size.lora,
        "bf16": bf16,
        "seed": seed,
    }


def _read(user: UserExamples, random: Random) -> WarmUpExample:
    """A history, and look-ups in it."""
    history = user.prompt(user.examples[0], most=RANKED, reasoning=True)[-1].content.partition("<query>")[0]
    return WarmUpExample(
        id=user.user,
        prompt=({"role": "user", "content": history},),
        completion=({"role": "assistant", "content": look_ups(user, random, words=_LOOKED_UP)},),
    )


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
        "micro_batch": min(size.batch * _ROLLOUTS, size.at_once),
        "rollouts": _ROLLOUTS,
        "lora": size.lora,
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
