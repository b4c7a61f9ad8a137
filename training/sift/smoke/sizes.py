"""Sizes of the experiment. ``small`` is a test, ``tiny`` only shows that every step runs."""

from dataclasses import dataclass
from typing import Final

PRETRAINED: Final = "pretrained"
"""Begins with a given model instead of random weights: about 300 queries of the warm-up, and a few updates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of the experiment."""

    width: int
    layers: int
    read: int
    """Histories with look-ups, before the warm-up. Each occurs once, as each query of the warm-up, so that nothing is learned by heart."""
    taught: int
    """Users of the warm-up. With too few, its loss still falls at its end, and reinforcement learning finds nothing to reinforce."""
    supervised_batch: int
    """Examples per update, of the look-ups and of the warm-up."""
    supervised_rate: float
    users: int
    """Users of the reinforcement learning."""
    updates: int
    """Updates of the reinforcement learning."""
    batch: int
    """Prompts per update."""
    rate: float
    """Learning rate of the reinforcement learning. The paper's 1e-6 is for a model with a thousand times as many parameters."""
    queries: int
    """Test queries."""
    at_once: int = 64
    """Most examples at once in an update; more take more memory."""
    lora: bool = False
    """Whether to train LoRA adapters."""
    supervised_save_every: int = 200
    """Updates between checkpoints of the look-ups and of the warm-up."""


SIZES: Final = {
    "full": Size(
        width=256,
        layers=2,
        read=6400,
        taught=2400,
        supervised_batch=64,
        supervised_rate=2e-3,
        users=400,
        updates=24,
        batch=8,
        rate=5e-4,
        queries=150,
    ),
    "small": Size(
        width=128,
        layers=2,
        read=12800,
        taught=4800,
        supervised_batch=64,
        supervised_rate=3e-3,
        users=400,
        updates=24,
        batch=8,
        rate=5e-4,
        queries=90,
    ),
    PRETRAINED: Size(
        width=0,
        layers=0,
        read=0,
        taught=193,
        supervised_batch=8,
        supervised_rate=2e-4,
        users=60,
        updates=3,
        batch=2,
        rate=1e-4,
        queries=30,
        at_once=2,
        lora=True,
        supervised_save_every=4,
    ),
    "tiny": Size(
        width=32,
        layers=2,
        read=32,
        taught=48,
        supervised_batch=16,
        supervised_rate=1e-3,
        users=24,
        updates=2,
        batch=2,
        rate=1e-4,
        queries=9,
    ),
}
