"""Extraction by one LLM call a window."""
