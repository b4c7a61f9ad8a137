"""Training of the proxy model: the supervised warm-up, the curriculum, GRPO, and the mean of checkpoints (MemSifter 3.4)."""
