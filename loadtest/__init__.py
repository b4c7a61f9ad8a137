"""A simulated LLM endpoint for chaos tests and benchmarks."""
