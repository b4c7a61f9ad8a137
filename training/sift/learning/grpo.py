"""GRPO by TRL with the reward of MemSifter, asymmetric clipping without KL, and the dynamic sampling of DAPO. Needs torch."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final

import torch
from datasets import Dataset
from peft import LoraConfig
from torch.nn import functional
from transformers import AutoModelForCausalLM
from transformers.trainer_utils import get_last_checkpoint
from trl import GRPOConfig, GRPOTrainer
from trl.trainer import utils as trl_utils

from training.sift.data.examples import Chosen
from training.sift.learning.curriculum import is_informative
from training.sift.models.local_model import tokenizer_of
from training.sift.rewards.rewarding import Rewarder, RewardOptions, Rollout

_LORA_RANK: Final = 16
_LEFT_PADDED: Final = ("prompt_ids", "prompt_mask")


class DynamicTrainer(GRPOTrainer):  # type: ignore[misc, unused-ignore]
    """Replaces groups whose rollouts have equal rewards by groups of other prompts (DAPO, section 3.2, equation 11).

    Args:
        most_refills: Most generations for one batch, after the first. Groups that remain have no advantage, so they teach nothing.
        next_prompts: Returns rows of the data set for so many other prompts.
    """

    def __init__(self, *, most_refills: int, next_prompts: Callable[[int], list[dict[str, Any]]], **given: Any) -> None:
        super().__init__(**given)
        self._most_refills = most_refills
        self._next_prompts = next_prompts
        self.refilled = 0
        """Groups that were replaced so far."""

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        if not self.model.training:
            return output
        size = self.num_generations
        for _ in range(self._most_refills):
            dull = [place for place, group in enumerate(output["advantages"].view(-1, size).tolist()) if not is_informative(group)]
            if not dull:
                break
            rows = [row for row in self._next_prompts(len(dull)) for _ in range(size)]
            other: dict[str, Any] = super()._generate_and_score_completions(rows)
            fresh = [place for place, group in enumerate(other["advantages"].view(-1, size).tolist()) if is_informative(group)]
            output = replaced(output, other, dict(zip(dull, fresh, strict=False)), size=size)
            self.refilled += min(len(dull), len(fresh))
        return output


def score_answers_only() -> None:
    """Makes TRL compute the probabilities of answers only, on all devices.

    TRL 1.16 does so on GPUs. On processors it also projects each position of the prompt to the vocabulary: with Gemma's 262,144 words,
    most of the time of an update. The function that decides this is private: in a version of TRL without it, this has no effect.
    """
    trl_utils._use_triton = _scores_labels_only  # noqa: SLF001


def _scores_labels_only(_: torch.device) -> bool:
    return True


def replaced(batch: Mapping[str, Any], other: Mapping[str, Any], groups: Mapping[int, int], *, size: int) -> dict[str, Any]:
    """A batch in which some groups come from another one.

    Args:
        batch: Tensors with one row per rollout, and ``num_items_in_batch``.
        other: Another one.
        groups: Number of a group in the batch, and of the group in the other one that replaces it.
        size: Rollouts in a group.
    """
    rows = [target * size + place for target in groups for place in range(size)]
    sources = [source * size + place for source in groups.values() for place in range(size)]
    made: dict[str, Any] = {}
    for name, tensor in batch.items():
        if not isinstance(tensor, torch.Tensor) or tensor.dim() == 0:
            made[name] = tensor
            continue
        given = other[name]
        if tensor.dim() > 1:
            width = max(tensor.shape[1], given.shape[1])
            tensor, given = (_padded(each, width, left=name in _LEFT_PADDED) for each in (tensor, given))
        tensor = tensor.clone()
        tensor[rows] = given[sources]
        made[name] = tensor
    made["num_items_in_batch"] = made["completion_mask"].sum()
    return made


def _padded(tensor: Any, width: int, *, left: bool) -> Any:
    """Padding has mask 0, so its token does not matter."""
    missing = width - tensor.shape[1]
    return functional.pad(tensor, (missing, 0) if left else (0, missing))


class PromptCycle:
    """Rows of a data set in a drawn order, without end.

    Args:
        rows: The rows.
        seed: Seed of the order.
    """

    def __init__(self, rows: Sequence[dict[str, Any]], *, seed: int) -> None:
        self._rows = _endless(rows, seed)

    def __call__(self, number: int) -> list[dict[str, Any]]:
        """The next rows."""
        return [next(self._rows) for _ in range(number)]


def _endless(rows: Sequence[dict[str, Any]], seed: int) -> Iterator[dict[str, Any]]:
    random = Random(seed)
    while True:
        order = list(rows)
        random.shuffle(order)
        yield from order


def optimise(
    model: str,
    chosen: Chosen,
    rewarder: Rewarder,
    *,
    options: RewardOptions,
    folder: Path,
    config: Mapping[str, Any],
    record: Callable[..., None],
) -> None:
    """Trains a model. Continues from the last checkpoint of the folder.

    Args:
        model: A folder or name that transformers loads.
        chosen: The examples.
        rewarder: Rewards rollouts.
        options: The form of prompts and answers.
        folder: The folder of the checkpoints.
        config: ``batch``, ``rollouts``, ``micro_batch``, ``steps``, ``epochs``, ``learning_rate``, ``epsilon``, ``epsilon_high``,
            ``refills``, ``save_every``, ``lora``, ``bf16`` and ``seed``.
        record: Stores metrics.
    """
    rows = [
        {
            "prompt": [{"role": each.role, "content": each.content} for each in options.prompt(user, example)],
            "example_id": example.id,
        }
        for user, example in chosen
    ]
    reward_function = _reward_function(chosen, rewarder, record)
    score_answers_only()
    trainer = DynamicTrainer(
        most_refills=config["refills"],
        next_prompts=PromptCycle(rows, seed=config["seed"]),
        model=AutoModelForCausalLM.from_pretrained(model, dtype="auto"),
        processing_class=tokenizer_of(model),
        reward_funcs=[reward_function],
        train_dataset=Dataset.from_list(rows),
        args=grpo_config(folder, options=options, config=config),
        peft_config=lora_config() if config["lora"] else None,
    )
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(folder)) if folder.is_dir() else None)
    record(refilled_groups=trainer.refilled)


def _reward_function(chosen: Chosen, rewarder: Rewarder, record: Callable[..., None]) -> Callable[..., list[float]]:
    """The function that TRL calls for the rewards of rollouts. It also stores their means."""
    by_id = {example.id: (user, example) for user, example in chosen}
    started = time.monotonic()
    updates: set[int] = set()

    def sift_reward(completions: Any, completion_ids: Any, example_id: Any, trainer_state: Any, **_: Any) -> list[float]:
        """The rewards of rollouts, in the form that TRL calls."""
        rollouts = [
            Rollout(
                user=by_id[name][0],
                example=by_id[name][1],
                text=completion[0]["content"],
                thoughts=completion[0].get("reasoning_content") or "",
                tokens=len(ids),
            )
            for completion, ids, name in zip(completions, completion_ids, example_id, strict=True)
        ]
        epoch = trainer_state.epoch or 0.0
        rewards = rewarder.rewards(rollouts, epoch=epoch)
        # The first batch of an update is drawn from the curriculum; refills replace what taught nothing, so their means are others.
        name = "refill_" if trainer_state.global_step in updates else ""
        updates.add(trainer_state.global_step)
        means = {
            "reward": fmean(each.reward for each in rewards),
            "answer_reward": fmean(each.answer for each in rewards),
            "score": fmean(each.score for each in rewards),
            "valid": fmean(bool(each.places) for each in rewards),
            "tokens": fmean(each.tokens for each in rollouts),
        }
        record(
            update=trainer_state.global_step,
            epoch=round(epoch, 4),
            seconds=round(time.monotonic() - started, 3),
            processor_seconds=round(time.process_time(), 1),
            **{f"{name}{measure}": round(mean, 4) for measure, mean in means.items()},
        )
        return [each.reward for each in rewards]

    return sift_reward


def grpo_config(folder: Path, *, options: RewardOptions, config: Mapping[str, Any]) -> Any:
    """The configuration of TRL. The loss is the mean over tokens of the batch, as in DAPO and in the public release.

    Args:
        folder: The folder of the checkpoints.
        options: The form of answers.
        config: See :func:`optimise`.
    """
    return GRPOConfig(
        output_dir=str(folder),
        seed=config["seed"],
        learning_rate=config["learning_rate"],
        lr_scheduler_type="constant",
        num_generations=config["rollouts"],
        per_device_train_batch_size=config["micro_batch"],
        gradient_accumulation_steps=config["batch"] * config["rollouts"] // config["micro_batch"],
        max_completion_length=options.max_tokens,
        temperature=1.0,
        epsilon=config["epsilon"],
        epsilon_high=config["epsilon_high"],
        beta=0.0,
        loss_type="dapo",
        scale_rewards="group",
        num_train_epochs=config["epochs"],
        max_steps=-1 if config["steps"] is None else config["steps"],
        save_steps=config["save_every"],
        logging_steps=1,
        report_to="none",
        bf16=config["bf16"],
        use_cpu=not torch.cuda.is_available(),
        dataloader_pin_memory=torch.cuda.is_available(),
        gradient_checkpointing=torch.cuda.is_available(),
    )


def lora_config() -> Any:
    """LoRA of all linear layers."""
    return LoraConfig(r=_LORA_RANK, lora_alpha=2 * _LORA_RANK, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM")
