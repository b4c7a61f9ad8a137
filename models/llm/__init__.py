"""LLM endpoints: the port, its implementations, and their limits, budgets and breakers."""
