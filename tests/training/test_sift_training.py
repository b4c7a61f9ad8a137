"""The steps that need torch: groups with equal rewards are refilled, checkpoints are averaged, and a small model learns.

Without torch (the extra ``training``) these tests are skipped.
"""

import argparse
from pathlib import Path
from typing import Any

import pytest

from training.runs import Run

torch = pytest.importorskip("torch", reason="torch is missing: install the extra `training` to test training")
pytest.importorskip("trl", reason="trl is missing: install the extra `training` to test training")


def test_the_mean_is_computed_in_float32() -> None:
    from training.sift.averaging import mean_of

    states = [{"w": torch.tensor([each], dtype=torch.bfloat16)} for each in (256.0, 257.0, 3.0)]
    mean = mean_of(states)["w"]
    assert mean.dtype == torch.bfloat16
    exact = sum(each["w"].item() for each in states) / 3
    assert mean.item() == torch.tensor([exact]).to(torch.bfloat16).item()
    with pytest.raises(ValueError, match="different parameters"):
        mean_of([{"w": torch.zeros(1)}, {"v": torch.zeros(1)}])


def batch(advantages: list[float], *, prompt: int, completion: int, token: int) -> dict[str, Any]:
    """A batch as TRL makes it, with rows of these lengths."""
    rows = len(advantages)
    return {
        "prompt_ids": torch.full((rows, prompt), token),
        "prompt_mask": torch.ones(rows, prompt, dtype=torch.long),
        "completion_ids": torch.full((rows, completion), token),
        "completion_mask": torch.ones(rows, completion, dtype=torch.long),
        "advantages": torch.tensor(advantages),
        "num_items_in_batch": torch.tensor(rows * completion),
    }


def test_a_group_is_replaced_with_its_padding() -> None:
    from training.sift.grpo import replaced

    given = batch([0.0, 0.0, 1.0, -1.0], prompt=2, completion=3, token=1)
    other = batch([0.0, 0.0, 2.0, -2.0], prompt=4, completion=5, token=2)
    made = replaced(given, other, {0: 1}, size=2)
    assert made["advantages"].tolist() == [2.0, -2.0, 1.0, -1.0]
    assert made["prompt_ids"].tolist() == [[2] * 4, [2] * 4, [0, 0, 1, 1], [0, 0, 1, 1]]
    assert made["prompt_mask"][2].tolist() == [0, 0, 1, 1]
    assert made["completion_mask"][2].tolist() == [1, 1, 1, 0, 0]
    assert made["num_items_in_batch"].item() == 2 * 5 + 2 * 3


def test_prompts_are_drawn_without_end() -> None:
    from training.sift.grpo import PromptCycle

    rows = [{"example_id": str(place)} for place in range(3)]
    drawn = PromptCycle(rows, seed=1)(7)
    assert sorted(each["example_id"] for each in drawn[:3]) == ["0", "1", "2"]
    assert drawn == PromptCycle(rows, seed=1)(7)


@pytest.mark.timeout(900)
def test_training_raises_the_quality(tmp_path: Path) -> None:
    from training.sift.smoke import command

    given = argparse.Namespace(run=tmp_path, size="small", no_ablations=True, bf16=False, seed=7)
    lines = list(command.run(given))
    scores = {each["method"]: each for each in Run(tmp_path).metrics("evaluate")}
    assert scores["untrained"]["ndcg_at_5"] < 0.1
    assert scores["warm-up"]["ndcg_at_5"] > 0.3
    assert scores["memsifter"]["ndcg_at_5"] >= 0.8, lines
    assert list(command.run(given))[-1].endswith(" s"), "a finished run trains nothing"
