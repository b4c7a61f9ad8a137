"""The reward of a ranking: answers of the working LLM, their scores, and the formulas of MemSifter 3.3."""
