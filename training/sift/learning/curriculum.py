"""``python -m training sift curriculum``: chooses an iteration's examples by the proxy's score (MemSifter 3.4); no model is asked.

Reads the step ``reward`` and writes ``iteration-N/curriculum.jsonl``. An example's priority is 1 - abs(score - 0.2): those that the proxy
sometimes solves come first. The score is that of the working LLM with the whole ranking, averaged over the rollouts. It is not R_ans: a
query that the working LLM answers without sessions has R_ans 0, near the anchor, and teaches nothing; its score of 1 puts it last.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from statistics import fmean
from typing import Final

from pydantic import BaseModel, ConfigDict

from training.runs import Run, RunError
from training.sift.rewards.reward import REWARDS
from training.sift.rewards.rewarding import Reward

SUMMARY: Final = "chooses the examples of an iteration by the scores of the step reward"
CURRICULUM: Final = "curriculum.jsonl"
ANCHOR: Final = 0.2
"""The score of the most useful examples, as in the paper."""
_EQUAL: Final = 1e-6


class CurriculumExample(BaseModel):
    """A chosen example."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    score: float
    priority: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    parser.add_argument("--iteration", type=int, default=1, metavar="N", help="the training iteration; default: %(default)s")
    parser.add_argument("--keep", type=int, default=1000, metavar="N", help="most examples; default: %(default)s")
    parser.add_argument("--anchor", type=float, default=ANCHOR, help="score of the most useful examples; default: %(default)s")
    parser.add_argument("--seed", type=int, default=7, help="seed of the order of equal priorities; default: %(default)s")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Chooses the examples. Yields lines for the terminal.

    Raises:
        RunError: If the step ``reward`` is missing, or the arguments differ from those with which this step began.
    """
    if not 0 <= arguments.anchor <= 1:
        raise RunError(f"--anchor must be from 0 to 1, got {arguments.anchor}")
    folder = Run(arguments.run)
    iteration = f"iteration-{arguments.iteration}"
    rewards = f"{iteration}/{REWARDS}"
    config = {"keep": arguments.keep, "anchor": arguments.anchor, "seed": arguments.seed, "rewards": folder.digest(rewards)}
    folder.begin(f"{iteration}/curriculum", config)
    yield "Model calls: 0. Cost: 0."
    chosen = choose(scores_of(folder.read(rewards, Reward)), keep=arguments.keep, anchor=arguments.anchor, seed=arguments.seed)
    name = f"{iteration}/{CURRICULUM}"
    if not folder.has(name):
        folder.write(name, chosen)
        folder.record(f"{iteration}/curriculum", examples=len(chosen), mean_score=round(fmean(each.score for each in chosen), 4))
    yield f"{folder.folder / name}: {len(chosen)} examples, scores from {chosen[0].score:.2f} to {chosen[-1].score:.2f}"


def scores_of(rewards: Iterator[Reward]) -> dict[str, float]:
    """The mean score of each example's rollouts."""
    by_example: dict[str, list[float]] = defaultdict(list)
    for reward in rewards:
        by_example[reward.id].append(reward.score)
    return {example: fmean(scores) for example, scores in by_example.items()}


def priority(score: float, anchor: float = ANCHOR) -> float:
    """1 - abs(score - anchor), the "zone of proximal development" (section 3.4)."""
    return 1 - abs(score - anchor)


def choose(scores: Mapping[str, float], *, keep: int, anchor: float, seed: int, by_priority: bool = True) -> list[CurriculumExample]:
    """The examples with the highest priority, the highest first.

    Args:
        scores: Score by example.
        keep: Most examples.
        anchor: Score of the highest priority.
        seed: Seed of the order of equal priorities.
        by_priority: False: the examples are drawn, an ablation.
    """
    drawn = sorted(scores)
    Random(seed).shuffle(drawn)
    made = [CurriculumExample(id=each, score=scores[each], priority=priority(scores[each], anchor)) for each in drawn]
    return (sorted(made, key=lambda each: -each.priority) if by_priority else made)[:keep]


def is_informative(rewards: Sequence[float]) -> bool:
    """Whether the rollouts of a prompt have different rewards. Equal ones have no advantage in GRPO: DAPO drops the group (equation 11)."""
    return max(rewards) - min(rewards) > _EQUAL
