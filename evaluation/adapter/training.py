"""Fits the adapter by contrast: a question's vectors come nearer to an answering memory's than to those of the others in its batch.

The loss is the cross entropy of the answering memory among all memories of a batch: those of other questions ("in-batch negatives",
Karpukhin et al. 2020, "Dense Passage Retrieval", section 3.2), and others that the previous model ranked high. It uses the cosine of
dense vectors, late interaction with the question, and, at half the weight, late interaction with the question in the first person, as
recalls do.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from torch.nn import functional

from evaluation.adapter.bert import Embedded, Tensor, embed, new_adapter, published_weights
from evaluation.adapter.examples import Example

_BATCH: Final = 16
"""Questions."""
_OTHERS: Final = 4
"""Memories of a question's conversation that do not answer it, in a batch."""
_LEARNING_RATE: Final = 5e-4
_WARM_UP: Final = 0.1
"""Share of all steps in which the learning rate grows to it. Then it falls linearly to a twentieth."""
_WEIGHT_DECAY: Final = 0.01
_LONGEST_GRADIENT: Final = 1.0
_DENSE_TEMPERATURE: Final = 0.05
_LATE_TEMPERATURE: Final = 0.02
"""Temperature of the mean of the best cosines, which differ less than those of whole texts."""
_FIRST_PERSON_WEIGHT: Final = 0.5

Tokenize = Callable[[str], Sequence[int]]
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some questions, and the memories that they are compared with."""

    questions: Sequence[Example]
    memories: Sequence[str]
    """First one that answers each question, in their order, then others."""


def fitted_adapter(
    examples: Sequence[Example], tokenize: Tokenize, *, projection: Array, present: Mapping[str, Array], epochs: int, seed: int
) -> dict[str, Array]:
    """Fits an adapter.

    Args:
        examples: At least as many as a batch has.
        tokenize: Gives a text's token ids, the special ones included.
        projection: Of token vectors to those that late interaction compares, as :mod:`models.embedding.weights` has it.
        present: The adapter to continue from; empty: one that changes nothing.
        epochs: How often each question is learned from.
        seed: Seed of all random choices: order, other memories, first weights, dropout.

    Returns:
        The arrays of ``models/embedding/minilm_adapter.safetensors`` by their names, in half precision.
    """
    torch.manual_seed(seed)
    chance = random.Random(seed)
    weights = published_weights()
    adapter = {name: torch.tensor(matrix).float().requires_grad_() for name, matrix in present.items()} or new_adapter(weights)
    late = torch.tensor(projection).float()
    optimizer = torch.optim.AdamW(adapter.values(), lr=_LEARNING_RATE, weight_decay=_WEIGHT_DECAY)
    steps = epochs * (len(examples) // _BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps))
    for _ in range(epochs):
        shuffled = chance.sample(examples, len(examples))
        for start in range(0, len(shuffled) - _BATCH + 1, _BATCH):
            batch = drawn(shuffled[start : start + _BATCH], chance)
            loss = loss_of(batch, weights, adapter, tokenize, late)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(adapter.values(), _LONGEST_GRADIENT)
            optimizer.step()
            schedule.step()
    return {name: matrix.detach().half().numpy() for name, matrix in adapter.items()}


def drawn(questions: Sequence[Example], chance: random.Random) -> Batch:
    """A batch of questions.

    Args:
        questions: The questions.
        chance: Source of random numbers.
    """
    answering = [chance.choice(each.answering) for each in questions]
    others = [other for each in questions for other in each.drawn_others(_OTHERS, chance)]
    return Batch(questions, [*answering, *others])


def loss_of(batch: Batch, weights: Mapping[str, Tensor], adapter: Mapping[str, Tensor], tokenize: Tokenize, projection: Tensor) -> Tensor:
    """The mean loss of a batch's questions.

    Args:
        batch: The batch.
        weights: The model's.
        adapter: The adapter.
        tokenize: As in :func:`fitted_adapter`.
        projection: As there.
    """
    memories = _embed_by_length([tokenize(each) for each in batch.memories], weights, adapter)
    asked = embed(weights, adapter, [tokenize(each.question) for each in batch.questions], fits=True)
    first = embed(weights, adapter, [tokenize(each.first_person) for each in batch.questions], fits=True)
    also_right = also_answering(batch)
    scores = (
        (1.0, asked.dense @ memories.dense.T / _DENSE_TEMPERATURE),
        (1.0, late_interaction(asked, memories, projection) / _LATE_TEMPERATURE),
        (_FIRST_PERSON_WEIGHT, late_interaction(first, memories, projection) / _LATE_TEMPERATURE),
    )
    target = torch.arange(len(batch.questions))
    return sum(weight * functional.cross_entropy(score.masked_fill(also_right, -torch.inf), target) for weight, score in scores)


def also_answering(batch: Batch) -> Tensor:
    """``(questions, memories)``: True where a memory answers a question in addition to the one that was drawn for it."""
    return torch.tensor(
        [
            [
                column != row and (memory in question.answering or memory == batch.memories[row])
                for column, memory in enumerate(batch.memories)
            ]
            for row, question in enumerate(batch.questions)
        ]
    )


def late_interaction(queries: Embedded, memories: Embedded, projection: Tensor) -> Tensor:
    """``(queries, memories)``: over a query's tokens the mean of the best cosine to a memory's (Khattab and Zaharia 2020, "ColBERT").

    Args:
        queries: The queries.
        memories: The memories.
        projection: Of their token vectors.
    """
    asked, kept = (functional.normalize(each.late @ projection, dim=-1) for each in (queries, memories))
    cosines = torch.einsum("qid,mjd->qmij", asked, kept)
    best = cosines.masked_fill(~memories.is_token[None, :, None, :], -1.0).amax(-1)
    counted = queries.is_token[:, None, :]
    return (best * counted).sum(-1) / counted.sum(-1)


def _embed_by_length(token_ids: Sequence[Sequence[int]], weights: Mapping[str, Tensor], adapter: Mapping[str, Tensor]) -> Embedded:
    """Embeds the shorter half and the longer half apart: half of the padding of all in one is saved."""
    order = sorted(range(len(token_ids)), key=lambda index: len(token_ids[index]))
    halves = [order[: len(order) // 2], order[len(order) // 2 :]]
    passes = [embed(weights, adapter, [token_ids[index] for index in half], fits=True) for half in halves if half]
    width = max(each.late.shape[1] for each in passes)
    back = torch.argsort(torch.tensor([index for half in halves for index in half]))
    return Embedded(
        torch.cat([each.dense for each in passes])[back],
        torch.cat([functional.pad(each.late, (0, 0, 0, width - each.late.shape[1])) for each in passes])[back],
        torch.cat([functional.pad(each.is_token, (0, width - each.is_token.shape[1])) for each in passes])[back],
    )


def _rate(step: int, steps: int) -> float:
    return min(1.0, (step + 1) / (_WARM_UP * steps)) * max(0.05, 1 - step / steps)
