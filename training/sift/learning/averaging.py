"""The arithmetic mean of checkpoints, in float32. Needs torch."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import torch
from peft import PeftConfig, PeftModel
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

_ADAPTER: Final = "adapter_model.safetensors"


def mean_of(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The mean of parameters by name, computed in float32 and returned in their own type.

    Args:
        states: Parameters of each checkpoint, with equal names and shapes.

    Raises:
        ValueError: If the names differ.
    """
    names = states[0].keys()
    if any(each.keys() != names for each in states):
        raise ValueError("the checkpoints have different parameters")
    return {name: torch.stack([each[name].to(torch.float32) for each in states]).mean(dim=0).to(states[0][name].dtype) for name in names}


def write_mean(checkpoints: Sequence[Path], target: Path) -> None:
    """Writes the mean of checkpoints as a model. The folder appears when it is complete.

    Args:
        checkpoints: Folders, all of whole models or all of LoRA adapters of one model.
        target: The folder.
    """
    part = target.with_name(f"{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    tokenizer = AutoTokenizer.from_pretrained(checkpoints[0])
    if (checkpoints[0] / _ADAPTER).exists():
        shutil.copytree(checkpoints[0], part / "adapter", ignore=shutil.ignore_patterns("optimizer*", "*.pth", "scheduler*"))
        save_file(mean_of([load_file(each / _ADAPTER) for each in checkpoints]), part / "adapter" / _ADAPTER)
        adapted = AutoModelForCausalLM.from_pretrained(_base_of(part / "adapter"), dtype="auto")
        model = PeftModel.from_pretrained(adapted, str(part / "adapter")).merge_and_unload()
        shutil.rmtree(part / "adapter")
    else:
        models = [AutoModelForCausalLM.from_pretrained(each, dtype="auto") for each in checkpoints]
        model = models[0]
        model.load_state_dict(mean_of([each.state_dict() for each in models]))
    model.save_pretrained(part)
    tokenizer.save_pretrained(part)
    part.replace(target)


def _base_of(adapter: Path) -> str:
    return str(PeftConfig.from_pretrained(str(adapter)).base_model_name_or_path)
