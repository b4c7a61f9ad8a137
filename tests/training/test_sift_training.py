"""The steps that need torch: groups with equal rewards are refilled, checkpoints are averaged, and a small model learns.

Without torch (the extra ``training``) these tests are skipped.
"""

import argparse
import asyncio
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from loadtest.llm_simulator import LLMSimulator
from training.runs import Run, RunError

torch = pytest.importorskip("torch", reason="torch is missing: install the extra `training` to test training")
pytest.importorskip("trl", reason="trl is missing: install the extra `training` to test training")


def test_the_mean_is_computed_in_float32() -> None:
    from training.sift.learning.averaging import mean_of

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
    from training.sift.learning.grpo import replaced

    given = batch([0.0, 0.0, 1.0, -1.0], prompt=2, completion=3, token=1)
    other = batch([0.0, 0.0, 2.0, -2.0], prompt=4, completion=5, token=2)
    made = replaced(given, other, {0: 1}, size=2)
    assert made["advantages"].tolist() == [2.0, -2.0, 1.0, -1.0]
    assert made["prompt_ids"].tolist() == [[2] * 4, [2] * 4, [0, 0, 1, 1], [0, 0, 1, 1]]
    assert made["prompt_mask"][2].tolist() == [0, 0, 1, 1]
    assert made["completion_mask"][2].tolist() == [1, 1, 1, 0, 0]
    assert made["num_items_in_batch"].item() == 2 * 5 + 2 * 3


def test_prompts_are_drawn_without_end() -> None:
    from training.sift.learning.grpo import PromptCycle

    rows = [{"example_id": str(place)} for place in range(3)]
    drawn = PromptCycle(rows, seed=1)(7)
    assert sorted(each["example_id"] for each in drawn[:3]) == ["0", "1", "2"]
    assert drawn == PromptCycle(rows, seed=1)(7)


def test_prompts_are_not_projected_to_the_vocabulary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL alone projects each position on a processor."""
    from trl.trainer import utils as trl_utils

    from training.sift.data.examples import WarmUpExample
    from training.sift.learning.supervised import fit
    from training.sift.smoke.model import write_small_model

    rows: list[int] = []

    chunked = trl_utils._ChunkedLogProbFunction

    def forward(ctx: Any, hidden: Any, *rest: Any) -> Any:
        rows.append(hidden.shape[0])
        return chunked.forward(ctx, hidden, *rest)

    monkeypatch.setattr(trl_utils, "_ChunkedLogProbFunction", type("Counting", (chunked,), {"forward": staticmethod(forward)}))
    write_small_model(tmp_path / "base", seed=7, width=32, layers=2)
    example = WarmUpExample(
        id="e",
        prompt=({"role": "user", "content": "<session0>\nkite rex\n</session0>\n<query>rex</query>"},),
        completion=({"role": "assistant", "content": "<ranking>0</ranking>"},),
    )
    config = {"batch": 1, "micro_batch": 1, "epochs": 1.0, "learning_rate": 1e-3, "save_every": 9, "lora": False, "bf16": False, "seed": 7}
    fit(str(tmp_path / "base"), [example], tmp_path / "trained", config=config, record=lambda **_: None)
    assert len(rows) == 1
    assert 3 <= rows[0] <= 5, "the answer's tokens and the end"


@pytest.mark.timeout(1800)
def test_a_small_model_learns_to_rank(tmp_path: Path) -> None:
    """The short form of ``make train-sift-smoke``: about 140 seconds of processor time."""
    from training.sift.smoke import command

    list(command.run(argparse.Namespace(run=tmp_path, size="small", no_ablations=True, bf16=False, seed=7, base=None)))
    ndcg = {name: figures["ndcg_at_5"] for name, figures in orjson.loads((tmp_path / "smoke.json").read_bytes()).items()}
    assert ndcg["untrained"] < command.CHANCE
    assert ndcg["bm25"] < ndcg["memsifter"]
    assert ndcg["warm-up"] + 0.1 < ndcg["memsifter"]
    assert ndcg["memsifter"] >= command.MIN_NDCG


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the experiment with two updates of a model that is too small to learn."""
    from training.sift.smoke import command

    folder = tmp_path_factory.mktemp("tiny")
    with pytest.raises(RunError, match=r"NDCG@5 .*0.8 was expected"):
        list(command.run(argparse.Namespace(run=folder, size="tiny", no_ablations=True, bf16=False, seed=7, base=None)))
    return folder


def test_a_base_needs_the_pretrained_size(tmp_path: Path) -> None:
    from training.sift.smoke import command

    for size, base in (("pretrained", None), ("small", "model")):
        with pytest.raises(RunError, match="need each other"):
            list(command.run(argparse.Namespace(run=tmp_path, size=size, no_ablations=True, bf16=False, seed=7, base=base)))


@pytest.mark.timeout(600)
def test_every_step_of_a_training_runs(tiny: Path) -> None:
    run = Run(tiny / "memsifter")
    updates = [each for each in run.metrics("iteration-1/optimise") if "reward" in each]
    assert {each["update"] for each in updates} == {0, 1}
    assert all(0 <= each["valid"] <= 1 for each in updates)
    checkpoints = [each["checkpoint"] for each in run.metrics("iteration-1/optimise") if "checkpoint" in each]
    assert checkpoints == ["checkpoint-1", "checkpoint-2"]
    assert any("loss" in each for each in run.metrics("warm-up-model"))
    for name in ("warm-up.svg", "iteration-1/optimise.svg", "iteration-1/validation.svg"):
        assert "<svg" in (run.folder / name).read_text()
    methods = orjson.loads((tiny / "smoke.json").read_bytes())
    assert list(methods) == ["untrained", "reading", "warm-up", "memsifter", "no-averaging", "bm25"]
    assert methods["memsifter"]["prompt_tokens"] > 0


@pytest.mark.timeout(600)
def test_an_interrupted_training_continues(tiny: Path) -> None:
    """The last checkpoint is lost: the step trains one more update, and validates that checkpoint alone."""
    from training.sift.evaluation.ablate import PAPER
    from training.sift.learning.optimise import optimise_model
    from training.sift.smoke import command
    from training.sift.smoke.sizes import SIZES
    from training.sift.smoke.task import ScriptedLLM

    run = Run(tiny / "memsifter")
    lines = [each for each in run.metrics() if "refilled_groups" not in each and each.get("checkpoint") != "checkpoint-2"]
    (run.folder / "metrics.jsonl").write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in lines))
    shutil.rmtree(run.folder / "iteration-1" / "checkpoints" / "checkpoint-2")
    size = SIZES["tiny"]
    given = command.optimise_arguments(run, run, PAPER, size, seed=7, bf16=False)
    said = list(optimise_model(run, given, ScriptedLLM()))
    assert len(said) == 1
    assert said[0].startswith("checkpoint-2")
    added = run.metrics("iteration-1/optimise")[len([each for each in lines if each["step"] == "iteration-1/optimise"]) :]
    assert [each["update"] for each in added if "reward" in each] == [1]
    assert list(optimise_model(run, given, ScriptedLLM())) == []


@pytest.mark.timeout(600)
def test_merged_weights_are_the_mean(tiny: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    from training.sift.learning.averaging import write_mean

    checkpoints = [tiny / "memsifter" / "iteration-1" / "checkpoints" / f"checkpoint-{number}" for number in (1, 2)]
    write_mean(checkpoints, tmp_path / "merged")
    states = [load_file(each / "model.safetensors") for each in checkpoints]
    merged = load_file(tmp_path / "merged" / "model.safetensors")
    assert merged.keys() == states[0].keys()
    for name, tensor in merged.items():
        assert torch.allclose(tensor, (states[0][name] + states[1][name]) / 2)


@pytest.mark.timeout(600)
def test_one_command_trains_all_ablations(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from training.sift.evaluation import ablate

    parser = argparse.ArgumentParser()
    ablate.add_arguments(parser)
    model = str(tiny / "memsifter" / "warm-up")
    given = ["--model", model, "--steps", "1", "--batch", "2", "--rollouts", "2", "--micro-batch", "4", "--save-every", "1"]
    given += ["--refills", "0", "--max-tokens", "24", "--overlong-buffer", "4", "--sessions", "2", "--validation", "2", "--examples", "3"]

    async def train() -> list[str]:
        async with LLMSimulator(answer=lambda _: "unknown") as simulator:
            monkeypatch.setenv("VARVE_LLM__BASE_URL", simulator.base_url)
            monkeypatch.setenv("VARVE_LLM__MODEL", "working")
            arguments = argparse.Namespace(run=tiny / "memsifter", **vars(parser.parse_args(given)))
            return await asyncio.to_thread(lambda: list(ablate.run(arguments)))

    lines = asyncio.run(train())
    assert lines[0].startswith("Calls of working")
    figures = orjson.loads((tiny / "memsifter" / "ablations.json").read_bytes())
    trained = ["memsifter", "no-outcome", "no-marginal-utility", "no-rank-weights", "no-curriculum"]
    assert set(figures) == {*trained, "no-averaging"}
    assert [line.partition(":")[0] for line in lines[-5:]] == [*trained[1:], "no-averaging"]
    forms = {
        name: orjson.loads((tiny / "memsifter" / "ablations" / name / "iteration-1" / "optimise.config.json").read_bytes())
        for name in trained
    }
    assert (forms["no-outcome"]["alpha"], forms["memsifter"]["alpha"]) == (0.0, 1.0)
    assert [each["shaping"] for each in forms.values()] == ["paper", "paper", "absolute", "uniform", "paper"]
    assert [each["refills"] for each in forms.values()] == [0, 0, 0, 0, 0]
