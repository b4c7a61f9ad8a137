"""Supervised training on the warm-up examples by TRL. The loss is that of the answers only. Needs torch."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, TrainerCallback
from transformers.trainer_utils import get_last_checkpoint
from trl import SFTConfig, SFTTrainer

from training.sift.data.examples import WarmUpExample
from training.sift.learning.grpo import lora_config, score_answers_only
from training.sift.models.local_model import tokenizer_of


class RecordLosses(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Stores each logged loss.

    Args:
        record: Stores metrics.
    """

    def __init__(self, record: Callable[..., None]) -> None:
        self._record = record

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        """Stores the loss of a log line that has one."""
        if logs and "loss" in logs:
            self._record(update=state.global_step, loss=float(logs["loss"]), processor_seconds=round(time.process_time(), 1))


def fit(model: str, examples: Sequence[WarmUpExample], target: Path, *, config: Mapping[str, Any], record: Callable[..., None]) -> None:
    """Trains a model, and writes it. Continues from the last checkpoint.

    Args:
        model: A folder or name that transformers loads.
        examples: The examples.
        target: The folder of the trained model; its checkpoints are next to it.
        config: ``batch``, ``micro_batch``, ``epochs``, ``learning_rate``, ``save_every``, ``lora``, ``bf16`` and ``seed``.
        record: Stores metrics.
    """
    rows = [{"prompt": list(each.prompt), "completion": list(each.completion)} for each in examples]
    checkpoints = target.with_name(f"{target.name}-checkpoints")
    has_gpu = torch.cuda.is_available()
    score_answers_only()
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(model, dtype="auto"),
        processing_class=tokenizer_of(model),
        train_dataset=Dataset.from_list(rows),
        args=SFTConfig(
            output_dir=str(checkpoints),
            seed=config["seed"],
            learning_rate=config["learning_rate"],
            lr_scheduler_type="constant_with_warmup",
            warmup_steps=20,
            num_train_epochs=config["epochs"],
            per_device_train_batch_size=config["micro_batch"],
            gradient_accumulation_steps=config["batch"] // config["micro_batch"],
            max_length=None,
            completion_only_loss=True,
            save_steps=config["save_every"],
            save_total_limit=1,
            logging_steps=5,
            report_to="none",
            bf16=config["bf16"],
            use_cpu=not has_gpu,
            dataloader_pin_memory=has_gpu,
            gradient_checkpointing=has_gpu,
        ),
        peft_config=lora_config() if config["lora"] else None,
        callbacks=[RecordLosses(record)],
    )
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(checkpoints)) if checkpoints.is_dir() else None)
    trained = trainer.model.merge_and_unload() if config["lora"] else trainer.model
    part = target.with_name(f"{target.name}.part")
    trained.save_pretrained(part)
    trainer.processing_class.save_pretrained(part)
    part.replace(target)
