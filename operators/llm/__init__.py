"""Operators that ask a model: their interface, the JSON of answers, and LLM_MERGE."""
