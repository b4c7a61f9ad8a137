"""Adapters of LLM frameworks for the Varve memory service, one module per framework. Each needs the extra of the same name."""
