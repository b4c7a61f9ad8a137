"""Ablations are compared with the paper's training query by query. No torch is needed."""

from pathlib import Path

import pytest

from training.runs import Run
from training.sift.data.examples import TEST, TRAIN
from training.sift.evaluation.ablate import ABLATIONS as VARIANTS
from training.sift.evaluation.ablate import PAPER, compared, prepared_folder
from training.sift.evaluation.report import Judged
from training.sift.learning.curriculum import CURRICULUM, CurriculumExample
from training.sift.rewards.reward import REWARDS
from training.sift.rewards.rewarding import Reward


def judged(run: Run, method: str, scores: list[float]) -> None:
    """Writes what a method's answers scored."""
    lines = [
        Judged(
            id=str(place),
            method=method,
            ranking=(0,),
            measures={},
            prompt_tokens=0,
            completion_tokens=0,
            seconds=0.0,
            answer_score=score,
        )
        for place, score in enumerate(scores)
    ]
    run.write(f"evaluation/{method}.jsonl", lines)


@pytest.mark.parametrize(
    ("scores", "meaning"),
    [
        ([0.0] * 50 + [1.0] * 50, "as in the paper"),
        ([1.0] * 100, "no clear difference"),
        ([1.0] * 90 + [2.0] * 10, "unlike the paper"),
    ],
)
def test_a_loss_needs_a_clear_interval(tmp_path: Path, scores: list[float], meaning: str) -> None:
    run = Run(tmp_path)
    judged(run, PAPER.name, [1.0] * 100)
    judged(run, "other", scores)
    (line,) = compared(run, ["other"])
    assert line.startswith(f"other: the answer score is {1 - sum(scores) / 100:.3f} lower [")
    assert line.endswith(meaning)


def test_examples_without_curriculum_are_drawn(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write(TRAIN, [])
    run.write(TEST, [])
    scores = {str(place): float(place >= 40) for place in range(80)}
    rewards = [
        Reward(id=name, places=(0,), scores=(0.0, score), answer=score, retrieval=0.0, penalty=0.0, reward=score)
        for name, score in scores.items()
    ]
    run.write(f"iteration-1/{REWARDS}", rewards)
    chosen = [CurriculumExample(id=str(place), score=0.0, priority=0.8) for place in range(40)]
    run.write(f"iteration-1/{CURRICULUM}", chosen)
    for variant in VARIANTS:
        folder = prepared_folder(run, variant, 1, seed=7)
        found = list(folder.read(f"iteration-1/{CURRICULUM}", CurriculumExample))
        assert len(found) == 40
        assert (found == chosen) == (variant.name != "no-curriculum")
        assert {each.score for each in found} == ({0.0} if variant.has_curriculum else {0.0, 1.0})
