"""Extraction without an LLM: by rule and embedding."""
