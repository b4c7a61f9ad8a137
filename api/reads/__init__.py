"""Reads: recalls and contexts, memories, history, and the records of what was read."""
