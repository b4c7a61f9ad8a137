"""A local causal language model that ranks sessions; any that transformers loads and that has a chat template. Needs torch."""

import time
from collections.abc import Sequence
from typing import Any, Final

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

from models.llm.port import LLMAnswer, LLMUsage
from training.progress import track
from training.runs import RunError
from training.sift.models.endpoints import Prompt

_TEMPERATURE: Final = 1.0


class LocalModel:
    """A model in memory.

    Args:
        model: A folder, or a name that transformers knows.
        batch: Prompts at once.
        max_tokens: Longest answer.
        seed: Seed of drawn answers.

    Raises:
        RunError: If its tokenizer has no chat template.
    """

    def __init__(self, model: str, *, batch: int, max_tokens: int, seed: int) -> None:
        self.name = model
        self._model: Any = AutoModelForCausalLM.from_pretrained(model, dtype="auto")
        self._model.to("cuda" if torch.cuda.is_available() else "cpu")
        self._tokenizer = tokenizer_of(model)
        self._batch = batch
        self._max_tokens = max_tokens
        self._seed = seed

    def answer_all(self, prompts: Sequence[Prompt], *, samples: int = 1) -> list[list[LLMAnswer]]:
        """See :meth:`training.sift.models.endpoints.RankingModel.answer_all`."""
        set_seed(self._seed)
        was_training = self._model.training
        self._model.eval()
        answers: list[list[LLMAnswer]] = []
        starts = range(0, len(prompts), self._batch)
        for start in track(starts, "Answers"):
            answers += self._answers(prompts[start : start + self._batch], samples)
        self._model.train(was_training)
        return answers

    def close(self) -> None:
        """Frees the model."""
        self._model = None

    def _answers(self, prompts: Sequence[Prompt], samples: int) -> list[list[LLMAnswer]]:
        tokenizer = self._tokenizer
        texts = [
            tokenizer.apply_chat_template(
                [{"role": each.role, "content": each.content} for each in prompt], tokenize=False, add_generation_prompt=True
            )
            for prompt in prompts
        ]
        inputs = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False).to(self._model.device)
        drawn: dict[str, Any] = {"do_sample": True, "temperature": _TEMPERATURE, "top_k": 0, "top_p": 1.0} if samples > 1 else {}
        started = time.perf_counter()
        with torch.no_grad():
            output = self._model.generate(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                max_new_tokens=self._max_tokens,
                num_return_sequences=samples,
                pad_token_id=tokenizer.pad_token_id,
                **({"do_sample": False} | drawn),
            )
        seconds = (time.perf_counter() - started) / len(prompts)
        width = inputs["input_ids"].shape[1]
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        found = [
            self._answer(output[place * samples + sample, width:], lengths[place], seconds)
            for place in range(len(prompts))
            for sample in range(samples)
        ]
        return [found[place * samples : (place + 1) * samples] for place in range(len(prompts))]

    def _answer(self, tokens: Any, prompt_tokens: int, seconds: float) -> LLMAnswer:
        length = int((tokens != self._tokenizer.pad_token_id).sum())
        text = self._tokenizer.decode(tokens, skip_special_tokens=True)
        usage = LLMUsage(prompt_tokens=prompt_tokens, completion_tokens=length)
        return LLMAnswer(text=text, model=self.name, usage=usage, latency_ms=1000 * seconds)


def tokenizer_of(model: str) -> Any:
    """The tokenizer of a model, which pads on the left, for generation.

    Args:
        model: A folder, or a name that transformers knows.

    Raises:
        RunError: If it has no chat template.
    """
    tokenizer = AutoTokenizer.from_pretrained(model)
    if tokenizer.chat_template is None:
        raise RunError(f"the tokenizer of {model} has no chat template: use an instruction-tuned model, or add a template")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
    return tokenizer
